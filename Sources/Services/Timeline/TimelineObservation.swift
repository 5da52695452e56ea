import HearthDatabase
import Social
import HearthCore

/// An observer of a timeline that is at work.
public final class TimelineObservation: Sendable {
    private struct State {
        var live = LiveTimeline()
        var last: Listing<ShownPost>?
        /// By the key of a post.
        var observations: [String: [Observation]] = [:]
        var entries: Observation?
        var isRemoved = false
    }

    private let state = Mutex(State())
    private let tree: SocialTree
    private let tell: @Sendable (Listing<ShownPost>) -> Void
    private let cancel: (@Sendable (ServiceError) -> Void)?

    init(
        _ tree: SocialTree,
        _ tell: @escaping @Sendable (Listing<ShownPost>) -> Void,
        _ cancel: (@Sendable (ServiceError) -> Void)?,
    ) {
        self.tree = tree
        self.tell = tell
        self.cancel = cancel
    }

    /// Ends it: nothing arrives afterwards.
    public func remove() { _ = end() }

    /// Whether this ended it, and not an earlier call.
    private func end() -> Bool {
        let (observations, isFirst) = state.withLock { state in
            defer {
                state.isRemoved = true
                state.observations = [:]
                state.entries = nil
            }
            let all = state.observations.values.flatMap { $0 } + (state.entries.map { [$0] } ?? [])
            return (all, !state.isRemoved)
        }
        for observation in observations { observation.remove() }
        return isFirst
    }

    /// Observes the newest entries, and the post and the own like of each.
    func start(newest count: Int) {
        let query = tree.database.reference(withPath: "timeline/\(tree.uid)")
            .queryOrderedByKey().queryLimited(toLast: UInt(count))
        let handle = query.observe(.value) { snapshot in
            self.take(snapshot.records(as: TimelineEntry.self))
        } withCancel: { error in
            guard self.end() else { return }
            self.cancel?(ServiceError(error, purpose: "see the timeline"))
        }
        let entries = Observation(query, handle)
        let isRemoved = state.withLock { state in
            if !state.isRemoved { state.entries = entries }
            return state.isRemoved
        }
        if isRemoved { entries.remove() }
    }

    private func take(_ listing: Listing<TimelineEntry>) {
        let (added, stale) = state.withLock { state -> ([TimelineEntry], [Observation]) in
            guard !state.isRemoved else { return ([], []) }
            let (added, removed) = state.live.setEntries(listing)
            let stale = removed.flatMap { state.observations.removeValue(forKey: $0) ?? [] }
            return (added, stale)
        }
        for observation in stale { observation.remove() }
        for entry in added { observe(entry) }
        change { _ in }
    }

    /// The like first: it is known when the post is, and the post is not shown without it first.
    private func observe(_ entry: TimelineEntry) {
        let key = entry.key
        let like = tree.database.reference(withPath: "postLikes/\(key)/\(tree.uid)")
        let post = tree.database.reference(withPath: "posts/\(entry.posterUID)/\(key)")
        let likes = like.observe(.value) { snapshot in
            self.change { $0.setLiked(key, snapshot.exists()) }
        }
        let posts = post.observe(.value) { snapshot in
            let read = Result { () throws(RecordFault) in
                try SocialTree.post(snapshot, of: entry.posterUID)
            }
            self.change { $0.setPost(key, read) }
            if case .success(nil) = read { self.clear(key) }
        } withCancel: { error in
            let fault = RecordFault(path: post.pathText, reason: "\(error)")
            self.change { $0.setPost(key, .failure(fault)) }
        }
        let observations = [Observation(like, likes), Observation(post, posts)]
        let isRemoved = state.withLock { state in
            if !state.isRemoved { state.observations[key] = observations }
            return state.isRemoved
        }
        if isRemoved { for observation in observations { observation.remove() } }
    }

    /// An entry of a deleted post would still count among the newest.
    private func clear(_ key: String) {
        if state.withLock({ $0.isRemoved }) { return }
        tree.database.reference().updateChildValues(tree.entryChanges([key], of: nil))
    }

    /// Applies a change, and reports the shown posts if they differ.
    private func change(_ take: (inout LiveTimeline) -> Void) {
        let news = state.withLock { state -> Listing<ShownPost>? in
            guard !state.isRemoved else { return nil }
            take(&state.live)
            guard let listing = state.live.listing, listing != state.last else { return nil }
            state.last = listing
            return listing
        }
        if let news { tell(news) }
    }
}

extension TimelineService {
    /// Reports the newest posts, now and whenever one is added, removed, liked or unliked.
    ///
    /// Each time it reports all of them, each once, sorted by the server's times, when the last of them is known.
    /// Deleted posts are skipped, and invalid ones are reported as faults. `count` is 1 to 1,000 posts; with a newer
    /// one the oldest leaves. Calls come on the database's `callbackQueue`; `cancelBlock` is called once, last, when
    /// the rules do not allow it any more.
    ///
    /// - Throws: `ServiceError.invalid` for another count.
    public func observe(
        newest count: Int = TimelineLimits.pageSize,
        with block: @escaping @Sendable (Listing<ShownPost>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) throws -> TimelineObservation {
        guard TimelineLimits.pageSizes.contains(count) else {
            throw ServiceError.invalid(field: "count", why: "an observer has 1 to 1,000 posts")
        }
        let observation = TimelineObservation(tree, block, cancelBlock)
        observation.start(newest: count)
        return observation
    }
}
