public import Records
public import SocialGraph

extension UserService {
    private var timelineService: TimelineService { TimelineService(database: database, uid: uid) }

    /// The posts of somebody, newest first.
    ///
    /// - Parameters:
    ///   - other: Whose.
    ///   - last: Only older ones than this; nil for the newest.
    ///   - count: So many; nil for all.
    /// - Returns: The posts, and what makes no sense.
    /// - Throws: `ServiceError`.
    public func posts(
        for other: String,
        before last: Post? = nil,
        count: Int? = nil,
    ) async throws -> Listing<Post> {
        try await timelineService.posts(of: other, before: last, count: count)
    }

    /// A page of the own timeline, newest first: `TimelineService.page(before:count:)`.
    ///
    /// - Parameters:
    ///   - cursor: `next` of the page before; nil for the newest.
    ///   - count: 1 to 1,000.
    /// - Returns: The page.
    /// - Throws: `ServiceError`.
    public func timeline(
        before cursor: String? = nil,
        count: Int = TimelineLimits.pageSize,
    ) async throws -> TimelinePage {
        try await timelineService.page(before: cursor, count: count)
    }

    /// Tells of the newest posts of the own timeline: `TimelineService.observe(newest:with:withCancel:)`.
    ///
    /// - Parameters:
    ///   - count: 1 to 1,000 posts.
    ///   - block: Called on the database's `callbackQueue`.
    ///   - cancelBlock: Called once when the rules do not allow it any more.
    /// - Returns: The observer, to be removed.
    /// - Throws: `ServiceError.invalid` for another count.
    public func observeTimeline(
        newest count: Int = TimelineLimits.pageSize,
        with block: @escaping @Sendable (Listing<ShownPost>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) throws -> TimelineObservation {
        try timelineService.observe(newest: count, with: block, withCancel: cancelBlock)
    }
}
