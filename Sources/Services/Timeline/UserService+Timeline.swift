public import Social

extension UserService {
    private var timelineService: TimelineService { TimelineService(database: database, uid: uid) }

    /// A person's posts, newest first: `TimelineService.posts(of:before:count:)`.
    public func posts(
        for other: String,
        before last: Post? = nil,
        count: Int? = nil,
    ) async throws -> Listing<Post> {
        try await timelineService.posts(of: other, before: last, count: count)
    }

    /// A page of the own timeline, newest first: `TimelineService.page(before:count:)`.
    public func timeline(
        before cursor: String? = nil,
        count: Int = TimelineLimits.pageSize,
    ) async throws -> TimelinePage {
        try await timelineService.page(before: cursor, count: count)
    }

    /// Reports the newest posts of the user's timeline: `TimelineService.observe(newest:with:withCancel:)`.
    public func observeTimeline(
        newest count: Int = TimelineLimits.pageSize,
        with block: @escaping @Sendable (Listing<ShownPost>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) throws -> TimelineObservation {
        try timelineService.observe(newest: count, with: block, withCancel: cancelBlock)
    }
}
