import IdentityToolkit
import Passwords
import Synchronization
import Transport

/// Who waits for the password thread: so many in all, so many of one client, and the rest is turned away at once.
///
/// The thread takes them in the order in which they came. One who sends many therefore waits for his own; others
/// wait for eight of his at most.
struct PasswordQueue {
    /// Passwords that may wait, the one under way included: the last one waits some ten seconds.
    static let limit = 64
    /// Those of one client.
    static let clientLimit = 8
    /// In development tests sign up hundreds at once.
    static let developmentLimit = 1_000

    /// Whether an administrator's or a developer's client may fill the queue alone.
    enum Caller { case client, trusted }

    private var counts: [ClientNetwork: Int] = [:]
    private var count = 0

    /// Whether there was room for one more.
    mutating func enter(_ network: ClientNetwork, _ caller: Caller, limit: Int) -> Bool {
        let own = counts[network] ?? 0
        guard count < limit, caller == .trusted || own < Self.clientLimit else { return false }
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

extension Server {
    /// Has a password hashed or checked on its thread, unless too many wait: then the request is refused.
    func perform(
        _ work: PasswordWork,
        for exchange: HTTPExchange,
        then: @escaping @LoopActor (PasswordOutcome) -> Void
    ) {
        let isDevelopment = configuration.mode == .development
        let network = clientNetwork(of: exchange.head)
        let isTrusted = isDevelopment || accounts.attempts.isAdministrator(exchange)
        guard
            accounts.attempts.passwords.enter(
                network,
                isTrusted ? .trusted : .client,
                limit: isDevelopment ? PasswordQueue.developmentLimit : PasswordQueue.limit
            )
        else { return refuse(exchange, .tooManyWaiting) }
        let job = PasswordJob(work, then)
        let isTaken = workers.passwords.post(
            .read {
                let outcome = job.perform()
                EventLoop.shared.enqueue { [self] in
                    accounts.attempts.passwords.leave(network)
                    job.then(outcome)
                }
            }
        )
        if !isTaken {
            accounts.attempts.passwords.leave(network)
            refuse(exchange, .tooManyWaiting)
        }
    }
}

/// Work on its way to the password thread, which takes the password out of it, so that nobody else holds it when it is
/// overwritten.
private final class PasswordJob: Sendable {
    private let work: Mutex<PasswordWork?>
    /// Only called on the loop.
    let then: @LoopActor (PasswordOutcome) -> Void

    init(_ work: PasswordWork, _ then: @escaping @LoopActor (PasswordOutcome) -> Void) {
        self.work = Mutex(work)
        self.then = then
    }

    func perform() -> PasswordOutcome {
        guard let work = work.withLock({ $0.take() }) else { return .busy }
        return PasswordHasher.perform(work)
    }
}
