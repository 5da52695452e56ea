/// Keeps effects that depend on commits that are not durable yet, in order.
///
/// Invariant: the waiting effects are in the order in which they were made, and their commit numbers
/// never fall. While anything waits, everything later waits too, so nothing overtakes.
struct Outbox {
    private(set) var flushedThrough: CommitNumber
    private var waiting: [(after: CommitNumber, effect: Effect)] = []
    private var firstWaiting = 0

    init(flushedThrough: CommitNumber) {
        self.flushedThrough = flushedThrough
    }

    /// Lets `effect` out now if `commit`, the newest one it can depend on, is durable; else keeps it.
    mutating func emit(_ effect: Effect, after commit: CommitNumber, into effects: inout [Effect]) {
        if commit <= flushedThrough {
            effects.append(effect)
        } else {
            waiting.append((commit, effect))
        }
    }

    /// Lets out what waited for commits up to `number`.
    mutating func flushed(through number: CommitNumber, into effects: inout [Effect]) {
        precondition(flushedThrough <= number, "the log never un-flushes")
        flushedThrough = number
        while firstWaiting < waiting.count, waiting[firstWaiting].after <= number {
            effects.append(waiting[firstWaiting].effect)
            firstWaiting += 1
        }
        if firstWaiting == waiting.count {
            waiting.removeAll(keepingCapacity: waiting.capacity <= 4_096)
            firstWaiting = 0
        } else if firstWaiting > 4_096 {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
    }
}
