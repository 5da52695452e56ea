import ClusterLog
import Glibc
import JetStream
import Synchronization

/// A shared log whose brokers need not answer when the server starts: it connects when they do.
final class BrokerLog: ReplicatedLog, Sendable {
    private struct State {
        var log: (any ReplicatedLog & Sendable)?
        /// The tail that was asked for last: the link may be up before this knows its log.
        var tail: UInt64?
    }

    private let state = Mutex(State())

    /// Between two tries to reach the brokers.
    private static let retrySeconds: UInt32 = 1

    /// Tries `open` on a thread of its own until it succeeds; what it delivers begins with a link that is up. `failed`
    /// receives why it does not, once until the reason changes.
    init(
        failed: @escaping @Sendable (BrokerFault) -> Void,
        open: @escaping @Sendable () throws(BrokerFault) -> any ReplicatedLog & Sendable
    ) {
        _ = WorkThread { [weak self] in
            var reported: BrokerFault?
            while let self {
                do throws(BrokerFault) {
                    let log = try open()
                    let tail = self.state.withLock { state in
                        state.log = log
                        return state.tail
                    }
                    if let tail { log.tail(from: tail) }
                    return
                } catch {
                    if error != reported { failed(error) }
                    reported = error
                }
                sleep(Self.retrySeconds)
            }
        }
    }

    private var log: (any ReplicatedLog & Sendable)? { state.withLock { $0.log } }

    func append(_ entry: [UInt8], number: UInt64, expecting last: UInt64) {
        log?.append(entry, number: number, expecting: last)
    }

    func tail(from sequence: UInt64) {
        let log = state.withLock { state in
            state.tail = sequence
            return state.log
        }
        log?.tail(from: sequence)
    }

    func purge(through sequence: UInt64) { log?.purge(through: sequence) }

    func beat(_ bytes: [UInt8]) { log?.beat(bytes) }
}
