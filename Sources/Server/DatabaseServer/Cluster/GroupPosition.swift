import Transport

/// How many commits of its group this node has, and what waits for more of them.
///
/// On the owner the number covers every commit that is durable, before anything about it leaves. On a follower it covers
/// what was applied, after its listens were notified.
@LoopActor
final class GroupPosition {
    private(set) var commitCount: UInt64 = 0
    /// By the commits that they wait for; those that wait for equally many in the order in which they came.
    private var waiting: [(commitCount: UInt64, then: @LoopActor () -> Void)] = []

    func reached(_ count: UInt64) {
        commitCount = max(commitCount, count)
        let end = waiting.firstIndex { $0.commitCount > commitCount } ?? waiting.endIndex
        let ready = waiting[..<end]
        waiting.removeSubrange(..<end)
        for waiter in ready { waiter.then() }
    }

    /// Calls `then` once this node has so many commits, at once if it has them.
    func wait(for count: UInt64, then: @escaping @LoopActor () -> Void) {
        if count <= commitCount { return then() }
        let index = waiting.lastIndex { $0.commitCount <= count }.map { $0 + 1 } ?? 0
        waiting.insert((count, then), at: index)
    }
}
