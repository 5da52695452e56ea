import Accounts
import IdentityToolkit
import JSONTree
import Transport

/// Who tries what, and who waits for a password to be hashed.
@LoopActor
final class AttemptDesk {
    var limiter = AttemptLimiter()
    var passwords = PasswordQueue()
    /// Identity requests that are not answered yet, those of interest here.
    private var standings: [ObjectIdentifier: Standing] = [:]

    private struct Standing {
        /// Keeps the exchange, and with it the meaning of its identifier.
        let exchange: HTTPExchange
        /// The request, when it is an administrator's.
        let administrators: IdentityRequest?
        let trial: Trial?
    }

    /// What a request tries.
    enum Trial {
        /// Its end is told to the limiter.
        case begun(AttemptLimiter.Begun)
        /// It begins for the limiter when it has failed: what is good never waits.
        case judgedFirst(Attempt)
    }

    nonisolated init() {}

    func add(_ exchange: HTTPExchange, administrators request: IdentityRequest?, _ trial: Trial?) {
        guard request != nil || trial != nil else { return }
        standings[ObjectIdentifier(exchange)] = Standing(
            exchange: exchange,
            administrators: request,
            trial: trial
        )
    }

    /// Takes a request off the list when it is answered; tells what it tried.
    func take(_ exchange: HTTPExchange) -> Trial? {
        standings.removeValue(forKey: ObjectIdentifier(exchange))?.trial
    }

    func isAdministrator(_ exchange: HTTPExchange) -> Bool {
        administratorsRequest(exchange) != nil
    }

    /// The request of an exchange, when it is an administrator's.
    func administratorsRequest(_ exchange: HTTPExchange) -> IdentityRequest? {
        standings[ObjectIdentifier(exchange)]?.administrators
    }
}

/// Limits on how often things may be tried (`AttemptLimiter`). In development there are none: tests try a lot.
extension Server {
    /// Lets an identity request begin, or refuses it because its client has tried too often.
    ///
    /// - Throws: `TOO_MANY_ATTEMPTS_TRY_LATER`, with the seconds until it may be tried again.
    func throttle(_ request: IdentityRequest, _ exchange: HTTPExchange) throws(IdentityError) {
        let attempts = accounts.attempts
        guard configuration.mode == .production, !request.isAdmin,
            let attempt = Attempt(request, from: clientNetwork(of: exchange.head))
        else {
            attempts.add(exchange, administrators: request.isAdmin ? request : nil, nil)
            return
        }
        if attempt.kind == .token {
            attempts.add(exchange, administrators: nil, .judgedFirst(attempt))
            return
        }
        switch attempts.limiter.begin(attempt, now: attemptTime) {
        case .begun(let begun): attempts.add(exchange, administrators: nil, .begun(begun))
        case .wait(let milliseconds): throw .tooManyAttempts(milliseconds: milliseconds)
        }
    }

    /// Notes how an identity request that is refused has ended; what its client is told of it.
    func settle(_ exchange: HTTPExchange, _ error: IdentityError) -> IdentityError {
        switch accounts.attempts.take(exchange) {
        case nil: return error
        case .begun(let begun):
            let outcome: AttemptLimiter.Outcome = error.disproves ? .failed : .undecided
            accounts.attempts.limiter.end(begun, outcome, now: attemptTime)
            return error
        case .judgedFirst(let attempt):
            guard error.disproves else { return error }
            return settle(failed: attempt).map { .tooManyAttempts(milliseconds: $0) } ?? error
        }
    }

    /// Counts a failure of what is judged first, unless it came too early: then it gives the milliseconds to wait.
    private func settle(failed attempt: Attempt) -> Int64? {
        switch accounts.attempts.limiter.begin(attempt, now: attemptTime) {
        case .wait(let milliseconds): return milliseconds
        case .begun(let begun):
            accounts.attempts.limiter.end(begun, .failed, now: attemptTime)
            return nil
        }
    }

    /// Notes how an identity request that is answered has ended.
    func settle(_ exchange: HTTPExchange, _ answer: IdentityAnswer) {
        let attempts = accounts.attempts
        // Pages say with their status that a code was none.
        let hasSucceeded = answer.status < 400
        let network: ClientNetwork
        switch attempts.take(exchange) {
        case nil: return
        case .judgedFirst(let attempt): network = attempt.network
        case .begun(let begun):
            attempts.limiter.end(begun, hasSucceeded ? .succeeded : .failed, now: attemptTime)
            network = begun.attempt.network
        }
        guard hasSucceeded else { return }
        // Who has signed in or set a password by a code is no stranger on this network from now on.
        for event in answer.events {
            guard let uid = event.proven, let email = accountDirectory.account(uid)?.email,
                let subject = Attempt.subject(email: email)
            else { continue }
            attempts.limiter.welcome(subject, from: network)
        }
    }

    /// Notes that the client of an identity request has left before it was known how that ends.
    ///
    /// It counts as a failure, else guesses that nobody waits for would be free.
    func settleUnheard(_ exchange: HTTPExchange) {
        // Of what is judged first nobody has been told anything.
        guard case .begun(let begun) = accounts.attempts.take(exchange) else { return }
        accounts.attempts.limiter.end(begun, .failed, now: attemptTime)
    }

    /// What a client's address counts as.
    func clientNetwork(of head: RequestHead) -> ClientNetwork {
        let text = clientAddress(of: head)
        return ClientNetwork(AddressRange(text)?.bytes, text: text)
    }

    var attemptTime: Int64 { Int64(Clock.monotonicNanoseconds() / 1_000_000) }
}

extension AccountEvent {
    /// The uid of who has proved to be somebody by the attempt that led to this; nil for none.
    ///
    /// What a code does to an account revokes its tokens, without a sign-in.
    fileprivate var proven: String? {
        switch self {
        case .signedIn(let uid), .revoked(let uid, _): uid
        default: nil
        }
    }
}
