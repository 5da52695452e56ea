/// The order of shown posts.
public enum TimelineOrder {
    /// These posts, newest first: by the server's time, of one millisecond by key.
    public static func sorted(_ posts: [ShownPost]) -> [ShownPost] {
        posts.sorted { $0.post.isNewer(than: $1.post) }
    }

    /// Joins shown posts with a page or a report of an observer: each post once, in its newer state, newest first.
    public static func merged(_ shown: [ShownPost], with more: [ShownPost]) -> [ShownPost] {
        let keys = Set(more.map(\.post.key))
        return sorted(more + shown.filter { !keys.contains($0.post.key) })
    }

    /// The changes between two lists of an observer of `window` posts, oldest first.
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

/// A change of one post of a live timeline.
public enum TimelineChange: Equatable, Sendable {
    /// It is new.
    case came(ShownPost)
    /// Its likes are others.
    case changed(ShownPost)
    /// It was deleted, or the user has unfollowed its poster.
    case went(ShownPost)
}
