import ClusterLog
import Synchronization

/// One consumer's entries on their way to the receiver: in order, each once, and none after its end.
///
/// A consumer numbers what it delivers from 1 without holes, so a lost delivery shows at the next one. The stream's own
/// numbers may have holes, where entries were purged.
final class Tail: Sendable {
    private struct State {
        /// The sequence number from which on entries are wanted.
        var next: UInt64
        var deliveredCount: UInt64 = 0
        var isEnded = false
    }

    private let state: Mutex<State>
    private let deliver: @Sendable (LogNews) -> Void

    init(from next: UInt64, _ deliver: @escaping @Sendable (LogNews) -> Void) {
        state = Mutex(State(next: max(1, next)))
        self.deliver = deliver
    }

    /// Hands an entry on; false when a delivery before it was lost, which ends the tail.
    ///
    /// The lock is held while the receiver takes the entry, so that nothing comes after `end`.
    func receive(_ bytes: [UInt8], sequence: UInt64, delivery: UInt64) -> Bool {
        state.withLock { state in
            if state.isEnded { return true }
            guard delivery == state.deliveredCount + 1 else {
                state.isEnded = true
                return false
            }
            state.deliveredCount = delivery
            guard sequence >= state.next else { return true }
            deliver(.entry(sequence: sequence, bytes: bytes))
            state.next = sequence + 1
            return true
        }
    }

    /// Ends the tail, and returns where another one goes on. Waits for an entry that is being handed on.
    func end() -> UInt64 {
        state.withLock { state in
            state.isEnded = true
            return state.next
        }
    }
}
