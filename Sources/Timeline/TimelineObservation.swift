import HearthDatabase
import Records
import Locks

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
    private let places: SocialPlaces
    private let tell: @Sendable (Listing<ShownPost>) -> Void
    private let cancel: (@Sendable (ServiceError) -> Void)?

    init(
        _ places: SocialPlaces,
        _ tell: @escaping @Sendable (Listing<ShownPost>) -> Void,
        _ cancel: (@Sendable (ServiceError) -> Void)?,
    ) {
        self.places = places
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
        let query = places.database.reference(withPath: "timeline/\(places.uid)")
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
        let like = places.database.reference(withPath: "postLikes/\(key)/\(places.uid)")
        let post = places.database.reference(withPath: "posts/\(entry.posterUID)/\(key)")
        let likes = like.observe(.value) { snapshot in
            self.change { $0.setLiked(key, snapshot.exists()) }
        }
        let posts = post.observe(.value) { snapshot in
            let read = Result { () throws(RecordFault) in
                try SocialPlaces.post(snapshot, of: entry.posterUID)
            }
            self.change { $0.setPost(key, read) }
            if case .success(nil) = read { self.clear(key) }
        } withCancel: { error in
            let fault = RecordFault(path: post.placeName, reason: "\(error)")
            self.change { $0.setPost(key, .failure(fault)) }
        }
        let observations = [Observation(like, likes), Observation(post, posts)]
        let isRemoved = state.withLock { state in
            if !state.isRemoved { state.observations[key] = observations }
            return state.isRemoved
        }
        if isRemoved { for observation in observations { observation.remove() } }
    }

    /// An entry whose post is gone would keep its place among the newest.
    private func clear(_ key: String) {
        if state.withLock({ $0.isRemoved }) { return }
        places.database.reference().updateChildValues(places.entryChanges([key], of: nil))
    }

    /// Takes a change, and tells what is shown if that is another.
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
    /// Tells of the newest posts, now and whenever one comes, goes, is liked or no longer is.
    ///
    /// Each time it tells all of them, each once, in the order of the server's times, when the last of them is known.
    /// Posts that are gone are skipped, and what makes no sense is told as a fault.
    ///
    /// - Parameters:
    ///   - count: 1 to 1,000 posts; with a newer one the oldest leaves.
    ///   - block: Called on the database's `callbackQueue`.
    ///   - cancelBlock: Called once when the rules do not allow it any more, and nothing afterwards.
    /// - Returns: The observer, to be removed.
    /// - Throws: `ServiceError.invalid` for another count.
    public func observe(
        newest count: Int = TimelineLimits.pageSize,
        with block: @escaping @Sendable (Listing<ShownPost>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) throws -> TimelineObservation {
        guard TimelineLimits.pageSizes.contains(count) else {
            throw ServiceError.invalid(field: "count", why: "an observer has 1 to 1,000 posts")
        }
        let observation = TimelineObservation(places, block, cancelBlock)
        observation.start(newest: count)
        return observation
    }
}
