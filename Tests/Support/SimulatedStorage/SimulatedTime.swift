/// A clock that stands until the next thing happens, and what is to happen.
///
/// What happens at one moment happens in the order in which it was planned.
package final class SimulatedTime {
    private struct Event {
        let time: Int
        let number: Int
        let work: () throws -> Void

        func precedes(_ other: Event) -> Bool {
            (time, number) < (other.time, other.number)
        }
    }

    /// Microseconds since the beginning.
    package private(set) var now = 0
    private var planned = 0
    /// A heap: the next event first.
    private var events: [Event] = []

    /// Begins at 0, with nothing planned.
    package init() {}

    /// Plans something for that many microseconds from now.
    package func after(_ delay: Int, _ work: @escaping () throws -> Void) {
        at(now + delay, work)
    }

    /// Plans something for a moment that has not passed.
    package func at(_ time: Int, _ work: @escaping () throws -> Void) {
        precondition(time >= now, "nothing is planned for the past")
        planned += 1
        events.append(Event(time: time, number: planned, work: work))
        var index = events.count - 1
        while index > 0, events[index].precedes(events[(index - 1) / 2]) {
            events.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Lets everything happen up to a moment, and what that leads to until then.
    package func run(until end: Int) throws {
        while let event = events.first, event.time <= end {
            removeFirst()
            now = event.time
            try event.work()
        }
        now = end
    }

    private func removeFirst() {
        events.swapAt(0, events.count - 1)
        events.removeLast()
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < events.count && events[child].precedes(events[least]) {
                least = child
            }
            if least == index { return }
            events.swapAt(index, least)
            index = least
        }
    }
}
