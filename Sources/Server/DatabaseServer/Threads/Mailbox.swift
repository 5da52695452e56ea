import Dispatch
import Synchronization

/// The one way to reach a thread: a bounded queue that is emptied as a whole.
///
/// Posting never blocks. The thread that owns the other end takes everything that has arrived since
/// it last looked, which is what makes group commit a batch.
final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isClosed = false
        /// Whether an owner that waits has to be woken for messages.
        var isUnannounced = false

        /// Whether the owner has to be woken now; then it is.
        mutating func takeAnnouncement() -> Bool {
            defer { isUnannounced = false }
            return isUnannounced
        }
    }

    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)
    private let limit: Int
    /// Messages for which memory is kept between two looks.
    private let keptCount = 1_024

    /// - Parameter limit: messages that may wait.
    init(limit: Int) {
        self.limit = limit
    }

    /// Whether the message was taken: not when the mailbox is full or closed.
    ///
    /// With `wakes` false an owner who waits sleeps on until the next message that wakes, or
    /// `announce`: several messages then cost one change of thread.
    func post(_ message: Message, wakes: Bool = true) -> Bool {
        let (isTaken, mustSignal) = state.withLock { state in
            if state.isClosed || state.messages.count >= limit { return (false, false) }
            state.messages.append(message)
            if state.messages.count == 1 { state.isUnannounced = true }
            return (true, wakes && state.takeAnnouncement())
        }
        if mustSignal { arrival.signal() }
        return isTaken
    }

    /// Wakes an owner who waits while there are messages.
    func announce() {
        if state.withLock({ $0.takeAnnouncement() }) { arrival.signal() }
    }

    /// Lets the owner finish what has arrived and then end.
    func close() {
        state.withLock { $0.isClosed = true }
        arrival.signal()
    }

    /// Waits for messages and puts them all in place of `messages`; false when closed and empty.
    ///
    /// What `messages` held is let go, and its memory takes the next ones. With `waits` false, one
    /// that is empty is not waited for, and the answer is false too. With a `limit` it is waited for so long at most:
    /// then the answer is true, and there are none.
    func takeAll(
        _ messages: inout [Message],
        waits: Bool = true,
        limit: DispatchTimeInterval = .never
    ) -> Bool {
        messages.removeAll(keepingCapacity: messages.count <= keptCount)
        while true {
            let isClosed = state.withLock { state in
                swap(&state.messages, &messages)
                state.isUnannounced = false
                return state.isClosed
            }
            if !messages.isEmpty { return true }
            if isClosed || !waits { return false }
            if arrival.wait(timeout: .now() + limit) == .timedOut { return true }
        }
    }

    /// Messages that wait now.
    var count: Int { state.withLock { $0.messages.count } }
}
