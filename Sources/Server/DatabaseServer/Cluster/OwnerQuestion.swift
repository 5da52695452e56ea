import Transport

/// Asks the owner how many commits the group has, and waits until this node has as many: what is answered then is no older
/// than anything that any node has answered before.
///
///     requests ──► wait ──► one question for all ──► owner: 4711 ──► this node has 4711 ──► each is answered here
///                   ▲                                  │
///                   └── those that come meanwhile ─────┘ need a question of their own
@LoopActor
final class OwnerQuestion {
    /// The address of the question, below that of the owner.
    nonisolated static let path = "/.health/commits"
    /// Between two tries while no owner answers.
    private static let pause = Duration.milliseconds(50)

    @LoopActor
    private final class Waiter {
        let then: @LoopActor (_ isCurrent: Bool) -> Void
        var timer: LoopTimer?
        private(set) var isOver = false

        init(_ then: @escaping @LoopActor (_ isCurrent: Bool) -> Void) { self.then = then }

        func end(_ isCurrent: Bool) {
            if isOver { return }
            isOver = true
            timer?.cancel()
            then(isCurrent)
        }
    }

    private let position: GroupPosition
    private let limit: Duration
    private let ask: @LoopActor (_ report: @escaping @Sendable (UInt64?) -> Void) -> Bool
    /// Those for whom the question under way is.
    private var asking: [Waiter] = []
    private var waiting: [Waiter] = []
    private var isAsking = false

    /// `ask` sends the question to the owner, if there is one; its report may come on any thread. A request waits up to
    /// `limit` for an owner, and for this node to have its commits.
    init(
        _ position: GroupPosition,
        limit: Duration = .seconds(2),
        ask: @escaping @LoopActor (_ report: @escaping @Sendable (UInt64?) -> Void) -> Bool
    ) {
        self.position = position
        self.limit = limit
        self.ask = ask
    }

    /// Calls `then` once this node has every commit that was durable before now; with false when that took too long.
    func whenCurrent(then: @escaping @LoopActor (_ isCurrent: Bool) -> Void) {
        let waiter = Waiter(then)
        waiter.timer = EventLoop.shared.after(limit) { waiter.end(false) }
        waiting.append(waiter)
        if !isAsking { askNow() }
    }

    /// This node owns the group: it has everything.
    func owned() {
        let waiters = asking + waiting
        (asking, waiting) = ([], [])
        for waiter in waiters { waiter.end(true) }
    }

    private func askNow() {
        if waiting.isEmpty { return }
        isAsking = true
        (asking, waiting) = (waiting, [])
        let isSent = ask { count in
            EventLoop.shared.enqueue { [self] in answered(count) }
        }
        if !isSent { answered(nil) }
    }

    private func answered(_ count: UInt64?) {
        let waiters = asking
        asking = []
        if let count {
            isAsking = false
            position.wait(for: count) { for waiter in waiters { waiter.end(true) } }
            askNow()
        } else {
            waiting = waiters.filter { !$0.isOver } + waiting
            EventLoop.shared.after(Self.pause) { [self] in
                isAsking = false
                askNow()
            }
        }
    }
}
