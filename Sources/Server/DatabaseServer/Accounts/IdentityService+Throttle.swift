import Accounts
import IdentityToolkit
import JSONTree
import Transport

/// The attempts of clients, and the requests that wait for a password to be hashed.
@LoopActor
final class AttemptService {
    private var limiter = AttemptLimiter()
    /// Of networks that ask for access tokens with bad assertions.
    private var assertions = AttemptLimiter()
    /// Of requests that wait for a password.
    private var passwords = PasswordQueue()
    /// Identity requests that are not answered yet, those of interest here.
    private var entries: [ObjectIdentifier: Entry] = [:]

    private struct Entry {
        /// Keeps the exchange, and with it the meaning of its identifier.
        let exchange: HTTPExchange
        /// The request, when it is an administrator's.
        let administrators: IdentityRequest?
        let trial: Trial?
    }

    /// What a request tries.
    enum Trial {
        /// The limiter is notified of its end.
        case begun(AttemptLimiter.Begun)
        /// It begins for the limiter when it has failed: what is good never waits.
        case decidedFirst(Attempt)
    }

    nonisolated init() {}

    func add(_ exchange: HTTPExchange, administrators request: IdentityRequest?, _ trial: Trial?) {
        guard request != nil || trial != nil else { return }
        entries[ObjectIdentifier(exchange)] = Entry(
            exchange: exchange,
            administrators: request,
            trial: trial
        )
    }

    /// Forgets a request that is answered. Returns what it tried.
    func take(_ exchange: HTTPExchange) -> Trial? {
        entries.removeValue(forKey: ObjectIdentifier(exchange))?.trial
    }

    /// The request of an exchange, when it is an administrator's.
    func administratorsRequest(_ exchange: HTTPExchange) -> IdentityRequest? {
        entries[ObjectIdentifier(exchange)]?.administrators
    }

    // MARK: - Limits

    /// Milliseconds of a clock that never goes back.
    private var now: Int64 { Int64(Clock.monotonicNanoseconds() / 1_000_000) }

    /// Begins an attempt, unless it has to wait.
    func begin(_ attempt: Attempt) -> AttemptLimiter.Start { limiter.begin(attempt, now: now) }

    func end(_ begun: AttemptLimiter.Begun, _ outcome: AttemptLimiter.Outcome) {
        limiter.end(begun, outcome, now: now)
    }

    /// Notes that a client on this network has proved to own an account.
    func welcome(_ subject: String, from network: ClientNetwork) {
        limiter.welcome(subject, from: network)
    }

    /// Counts the failure of an attempt that is decided first. Returns the milliseconds to wait when it came too early.
    func countFailure(of attempt: Attempt) -> Int64? {
        Self.countFailure(of: attempt, &limiter, now)
    }

    /// The same for a bad assertion.
    func countBadAssertion(from network: ClientNetwork) -> Int64? {
        Self.countFailure(of: Attempt(.token, from: network), &assertions, now)
    }

    private static func countFailure(
        of attempt: Attempt,
        _ limiter: inout AttemptLimiter,
        _ now: Int64
    ) -> Int64? {
        switch limiter.begin(attempt, now: now) {
        case .wait(let milliseconds): return milliseconds
        case .begun(let begun):
            limiter.end(begun, .failed, now: now)
            return nil
        }
    }

    /// Whether one more password of this network may wait.
    func enterQueue(_ network: ClientNetwork, isTrusted: Bool, limit: Int) -> Bool {
        passwords.enter(network, isTrusted: isTrusted, limit: limit)
    }

    func leaveQueue(_ network: ClientNetwork) { passwords.leave(network) }
}

/// Limits on how often things may be tried (`AttemptLimiter`). In development there are none: tests try a lot.
extension IdentityService {
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
            attempts.add(exchange, administrators: nil, .decidedFirst(attempt))
            return
        }
        switch attempts.begin(attempt) {
        case .begun(let begun): attempts.add(exchange, administrators: nil, .begun(begun))
        case .wait(let milliseconds): throw .tooManyAttempts(milliseconds: milliseconds)
        }
    }

    /// Notes how an identity request that is refused has ended. Returns the error to answer with.
    func settleRefused(_ exchange: HTTPExchange, _ error: IdentityError) -> IdentityError {
        switch accounts.attempts.take(exchange) {
        case nil: return error
        case .begun(let begun):
            let outcome: AttemptLimiter.Outcome = error.disproves ? .failed : .undecided
            accounts.attempts.end(begun, outcome)
            return error
        case .decidedFirst(let attempt):
            guard error.disproves else { return error }
            return accounts.attempts.countFailure(of: attempt).map {
                .tooManyAttempts(milliseconds: $0)
            } ?? error
        }
    }

    /// Notes how an identity request that is answered has ended.
    func settleAnswered(_ exchange: HTTPExchange, _ answer: IdentityAnswer) {
        let attempts = accounts.attempts
        // Pages say with their status that a code was none.
        let hasSucceeded = answer.status < 400
        let network: ClientNetwork
        switch attempts.take(exchange) {
        case nil: return
        case .decidedFirst(let attempt): network = attempt.network
        case .begun(let begun):
            attempts.end(begun, hasSucceeded ? .succeeded : .failed)
            network = begun.attempt.network
        }
        guard hasSucceeded else { return }
        // Who has signed in or set a password by a code is no stranger on this network from now on.
        for event in answer.events {
            guard let uid = event.proven, let email = accountDirectory.account(uid)?.email,
                let subject = Attempt.subject(email: email)
            else { continue }
            attempts.welcome(subject, from: network)
        }
    }

    /// Notes that the client of an identity request has left before it was known how that ends.
    ///
    /// It counts as a failure, else guesses without a reader would be free.
    func settleUnheard(_ exchange: HTTPExchange) {
        // An attempt that is decided first has had no answer.
        guard case .begun(let begun) = accounts.attempts.take(exchange) else { return }
        accounts.attempts.end(begun, .failed)
    }

    /// What a client's address counts as.
    func clientNetwork(of head: RequestHead) -> ClientNetwork {
        let text = clientAddress(of: head)
        return ClientNetwork(AddressRange(text)?.bytes, text: text)
    }
}

extension AccountEvent {
    /// The uid of the account that the attempt has proved; nil for none.
    ///
    /// What a code does to an account revokes its tokens, without a sign-in.
    fileprivate var proven: String? {
        switch self {
        case .signedIn(let uid), .revoked(let uid, _): uid
        default: nil
        }
    }
}
