/// When to look at which thread: the earliest first, each thread at one time only.
struct Agenda {
    private struct Entry: Comparable {
        let time: Int64
        let thread: PushThread

        static func < (left: Entry, right: Entry) -> Bool {
            (left.time, left.thread) < (right.time, right.thread)
        }
    }

    // A binary heap. Entries that `times` does not confirm are out of date, and go when their time comes.
    private var heap: [Entry] = []
    private var times: [PushThread: Int64] = [:]

    /// The earliest time, which may be of an entry that is out of date.
    var next: Int64? { heap.first?.time }

    /// Replaces the time of a thread. O(log n).
    mutating func set(_ thread: PushThread, at time: Int64) {
        guard times[thread] != time else { return }
        times[thread] = time
        heap.append(Entry(time: time, thread: thread))
        var index = heap.count - 1
        while index > 0, heap[index] < heap[(index - 1) / 2] {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func remove(_ thread: PushThread) { times[thread] = nil }

    /// Takes the earliest thread whose time is `now` or before. O(log n).
    mutating func take(until now: Int64) -> PushThread? {
        while let entry = heap.first, entry.time <= now {
            removeFirst()
            guard times[entry.thread] == entry.time else { continue }
            times[entry.thread] = nil
            return entry.thread
        }
        return nil
    }

    private mutating func removeFirst() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var index = 0
        while true {
            let children = (2 * index + 1..<2 * index + 3).filter { $0 < heap.count }
            guard let least = children.min(by: { heap[$0] < heap[$1] }), heap[least] < heap[index]
            else { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
