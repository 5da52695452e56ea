import IdentityToolkit
import Passwords
import Synchronization
import Transport

/// Counts the requests that wait for the password thread. It limits them in all and for each client; further ones are
/// refused at once.
///
/// The thread takes them in the order in which they came, so a client waits for eight of another one at most.
struct PasswordQueue {
    /// Passwords that may wait, the one under way included: the last one waits some ten seconds.
    static let limit = 64
    /// Those of one client.
    static let clientLimit = 8
    /// In development tests sign up hundreds at once.
    static let developmentLimit = 1_000

    private var counts: [ClientNetwork: Int] = [:]
    private var count = 0

    /// Whether there was room for one more. An administrator's or a developer's client may fill the queue alone.
    mutating func enter(_ network: ClientNetwork, isTrusted: Bool, limit: Int) -> Bool {
        let own = counts[network] ?? 0
        guard count < limit, isTrusted || own < Self.clientLimit else { return false }
        counts[network] = own + 1
        count += 1
        return true
    }

    mutating func leave(_ network: ClientNetwork) {
        guard let own = counts[network] else { return }
        counts[network] = own > 1 ? own - 1 : nil
        count -= 1
    }
}

extension IdentityService {
    /// Has a password hashed or checked on its thread, unless too many wait: then the request is refused.
    func performPasswordWork(
        _ work: PasswordWork,
        for exchange: HTTPExchange,
        then: @escaping @LoopActor (PasswordOutcome) -> Void
    ) {
        let isDevelopment = configuration.mode == .development
        let network = clientNetwork(of: exchange.head)
        let isTrusted = isDevelopment || accounts.attempts.administratorsRequest(exchange) != nil
        let limit = isDevelopment ? PasswordQueue.developmentLimit : PasswordQueue.limit
        let attempts = accounts.attempts
        guard attempts.enterQueue(network, isTrusted: isTrusted, limit: limit) else {
            return refuse(exchange, .tooManyWaiting)
        }
        let job = PasswordJob(work)
        let isTaken = workers.passwords.perform {
            job.perform()
        } then: { outcome in
            attempts.leaveQueue(network)
            then(outcome)
        }
        if !isTaken {
            attempts.leaveQueue(network)
            refuse(exchange, .tooManyWaiting)
        }
    }
}

/// Work on its way to the password thread, which takes the password out of it and so holds the only copy when it
/// overwrites it.
private final class PasswordJob: Sendable {
    private let work: Mutex<PasswordWork?>

    init(_ work: PasswordWork) { self.work = Mutex(work) }

    func perform() -> PasswordOutcome {
        guard let work = work.withLock({ $0.take() }) else { return .busy }
        return PasswordHasher.perform(work)
    }
}
