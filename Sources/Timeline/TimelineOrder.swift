/// The order in which posts are shown.
public enum TimelineOrder {
    /// These posts, newest first: by the server's time, of one millisecond by key.
    public static func sorted(_ posts: [ShownPost]) -> [ShownPost] {
        posts.sorted { $0.post.isNewer(than: $1.post) }
    }

    /// What was shown together with a page or what an observer tells: each post once, the newer state of it, newest
    /// first whatever comes first.
    public static func merged(_ shown: [ShownPost], with more: [ShownPost]) -> [ShownPost] {
        let keys = Set(more.map(\.post.key))
        return sorted(more + shown.filter { !keys.contains($0.post.key) })
    }

    /// What happened between two lists that an observer of `window` posts was told, oldest first.
    ///
    /// A post that left because a newer one came has not gone, and one that came because another left is not new.
    public static func changes(
        from old: [ShownPost],
        to new: [ShownPost],
        window: Int,
    ) -> [TimelineChange] {
        let oldByKey = Dictionary(old.map { ($0.post.key, $0) }) { first, _ in first }
        let newKeys = Set(new.map(\.post.key))
        var changes: [(post: Post, change: TimelineChange)] = []
        for shown in new {
            if let before = oldByKey[shown.post.key] {
                if before != shown { changes.append((shown.post, .changed(shown))) }
            } else if old.count < window || isNewer(shown, than: old.last) {
                changes.append((shown.post, .came(shown)))
            }
        }
        for shown in old where !newKeys.contains(shown.post.key) {
            if new.count < window || isNewer(shown, than: new.last) {
                changes.append((shown.post, .went(shown)))
            }
        }
        return changes.sorted { $1.post.isNewer(than: $0.post) }.map(\.change)
    }

    private static func isNewer(_ shown: ShownPost, than last: ShownPost?) -> Bool {
        last.map { shown.post.isNewer(than: $0.post) } ?? true
    }
}

/// What happened to one post of a live timeline.
public enum TimelineChange: Equatable, Sendable {
    /// It is new.
    case came(ShownPost)
    /// Its likes are others.
    case changed(ShownPost)
    /// It was deleted, or its poster is no longer followed.
    case went(ShownPost)
}
