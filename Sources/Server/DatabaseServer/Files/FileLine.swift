import Transport

/// Requests for files that wait for their turn: a few are begun in a tick, so that a thousand that come at once hold the
/// database for no longer than one.
///
///     request ─► begun at once while a tick has begun fewer than `limit` ─┬─► decided, planned, sent
///                else waits ─► the next tick, in the order of coming ─────┘
@LoopActor
final class FileLine {
    /// Requests that are begun in one tick: some 30 µs each.
    nonisolated static let limit = 2

    private var waiting = WaitingLine<@LoopActor () -> Void>()
    private var begun = (tick: -1, count: 0)
    private var isScheduled = false

    nonisolated init() {}

    /// Requests that wait now.
    var count: Int { waiting.count }

    /// Calls `begin`, in this tick or in a later one.
    func append(_ begin: @escaping @LoopActor () -> Void) {
        guard waiting.isEmpty, isTurn else {
            waiting.append(begin)
            return schedule()
        }
        begun.count += 1
        begin()
    }

    /// Whether one more may be begun in this tick.
    private var isTurn: Bool {
        let tick = EventLoop.shared.counters.tickCount
        if begun.tick != tick { begun = (tick, 0) }
        return begun.count < Self.limit
    }

    private func schedule() {
        if isScheduled { return }
        isScheduled = true
        EventLoop.shared.enqueue { [self] in
            isScheduled = false
            while isTurn, let begin = waiting.popFirst() {
                begun.count += 1
                begin()
            }
            if !waiting.isEmpty { schedule() }
        }
    }
}
