/// Something the loop calls back at a moment. Base of timers and connections, so that a
/// connection's deadline costs no object of its own.
@LoopActor
class Timed {
    /// Loop time in nanoseconds at which `fire` is due; `.max` when not queued.
    fileprivate(set) var dueTime: UInt64 = .max
    /// Index in the heap; -1 if not queued.
    fileprivate var heapIndex = -1

    /// Called once, off the queue, when the time has come.
    func fire(now: UInt64) {}
}

/// A binary heap of timers, earliest first. O(log n) to insert and remove.
@LoopActor
struct TimerQueue {
    /// Invariant: `heap[i].heapIndex == i`, and no parent is due after its child.
    private var heap: [Timed] = []

    var earliestDueTime: UInt64? { heap.first?.dueTime }

    /// Queues `item`, or moves it when it is queued already.
    mutating func schedule(_ item: Timed, at time: UInt64) {
        if item.heapIndex >= 0 { remove(item) }
        item.dueTime = time
        item.heapIndex = heap.count
        heap.append(item)
        siftUp(item.heapIndex)
    }

    /// Takes `item` off the queue; harmless when it is not on it.
    mutating func remove(_ item: Timed) {
        let index = item.heapIndex
        guard index >= 0 else { return }
        precondition(heap[index] === item, "a queued item knows its index")
        item.heapIndex = -1
        item.dueTime = .max
        let last = heap.removeLast()
        guard last !== item else { return }
        put(last, at: index)
        siftUp(index)
        siftDown(last.heapIndex)
    }

    /// Takes the earliest item off the queue when it is due.
    mutating func popDue(now: UInt64) -> Timed? {
        guard let first = heap.first, first.dueTime <= now else { return nil }
        remove(first)
        return first
    }

    mutating func removeAll() {
        for item in heap {
            item.heapIndex = -1
            item.dueTime = .max
        }
        heap = []
    }

    private mutating func put(_ item: Timed, at index: Int) {
        heap[index] = item
        item.heapIndex = index
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        let item = heap[index]
        while index > 0 {
            let parent = (index - 1) / 2
            guard item.dueTime < heap[parent].dueTime else { break }
            put(heap[parent], at: index)
            index = parent
        }
        put(item, at: index)
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        let item = heap[index]
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].dueTime < heap[child].dueTime { child += 1 }
            guard heap[child].dueTime < item.dueTime else { break }
            put(heap[child], at: index)
            index = child
        }
        put(item, at: index)
    }
}

/// A call the loop makes later, once or again and again.
@LoopActor
package final class LoopTimer {
    private let call: TimedCall

    init(_ call: TimedCall) {
        self.call = call
    }

    /// Makes sure that the call is not made, or not again.
    package func cancel() {
        call.body = nil
        EventLoop.shared.unschedule(call)
    }
}

/// The queued half of a timer.
@LoopActor
final class TimedCall: Timed {
    /// Nanoseconds between two calls; nil for one call only.
    private let period: UInt64?
    var body: (@LoopActor () -> Void)?

    init(period: UInt64?, body: @escaping @LoopActor () -> Void) {
        self.period = period
        self.body = body
    }

    override func fire(now: UInt64) {
        guard let body else { return }
        // Late periods are skipped, not made up for.
        if let period { EventLoop.shared.schedule(self, at: now + period) } else { self.body = nil }
        body()
    }
}

extension Duration {
    /// Whole nanoseconds; negative durations count as zero.
    nonisolated var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0 && attoseconds >= 0 else { return 0 }
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
