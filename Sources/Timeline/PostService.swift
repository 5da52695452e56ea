public import HearthDatabase
import Records
public import SocialGraph

/// Posts: made, shown and deleted, each together with its place in every timeline.
///
/// A post is one update: the post, whose it is, and an entry in the timelines of its poster and of each follower. Who
/// follows while it is on its way is reached by a second one, and finds it themselves: both sides write first and look
/// afterwards, so one of them sees the other.
///
/// Timelines follow the keys of posts. A key is made by the server's clock, once that is known; one that turns out to be
/// a minute off when the post has its server time (the clock was set, or the connection was lost) is exchanged for one
/// of that time. So a clock that is wrong by a day puts no post in a wrong place.
public struct PostService: Sendable {
    let places: SocialPlaces
    let settling: Settling
    /// A new key, in tests one of a wrong clock.
    let makeKey: @Sendable () -> String?

    /// The posts of the signed-in user `me`, and those that they look at.
    public init(database: Database, me: UserProfile) {
        self.init(database: database, uid: me.uid)
    }

    package init(
        database: Database,
        uid: String,
        settling: Settling = .standard,
        makeKey: (@Sendable () -> String?)? = nil,
    ) {
        places = SocialPlaces(database: database, uid: uid)
        self.settling = settling
        self.makeKey = makeKey ?? { database.reference().childByAutoId().key }
    }

    /// Posts a picture to oneself and all followers.
    ///
    /// Waits for a connection. An update whose answer a cut has lost is sent again and counts once.
    /// - Parameters:
    ///   - imageURL: Where the picture is, 1 to 2,000 characters; its bytes are there already.
    ///   - imageHeight: Points, above 0 and at most 100,000.
    ///   - key: A `newKey()`, by which `owner(ofKey:)` finds the post after an error; with the same key nothing is posted
    ///     twice. Nil for one of its own.
    /// - Returns: The post, with its server time, and with another key if that of the call tells a wrong one.
    /// - Throws: `ServiceError`; then nothing was posted, but after `database` that is not known: the server could not be asked.
    public func create(
        imageURL: String,
        imageHeight: Double,
        key: String? = nil,
    ) async throws -> Post {
        let draft = try Draft(imageURL: imageURL, imageHeight: imageHeight)
        let key = if let key { try key.key("post") } else { try await newKey() }
        var written = try await write(draft, key)
        if PostKey.isMisplaced(written.post) { written = await moved(written, draft) }
        await reachLatecomers(written.post.key, besides: written.readers)
        return written.post
    }

    /// The key of a post that is to be made.
    ///
    /// Waits for a connection, since keys tell the server's time.
    /// - Throws: `ServiceError`.
    public func newKey() async throws(ServiceError) -> String {
        try await serverClock()
        guard let key = makeKey() else { throw .database(.offline) }
        return key
    }

    /// A post and whether the user likes it.
    ///
    /// - Parameters:
    ///   - key: The post's.
    ///   - posterUID: Whose it is; looked up if it is not given.
    /// - Returns: The post as the user is shown it.
    /// - Throws: `ServiceError`: `notFound`, or `faulty` for one that makes no sense.
    public func show(forKey key: String, posterUID: String? = nil) async throws -> ShownPost {
        let key = try key.key("post")
        return try await ServiceError.naming("see post \(key)") {
            guard let poster = try await ownerUID(key, posterUID),
                let post = try await places.post(key, of: poster)
            else { throw ServiceError.notFound("post \(key)") }
            return ShownPost(post: post, isLiked: try await places.isLiked(key))
        }
    }

    /// Deletes a post of one's own from every timeline, with its likes.
    ///
    /// - Throws: `ServiceError`: `notFound`, or `refused` for one of somebody else; then it is as it was.
    public func delete(forKey key: String) async throws {
        let key = try key.key("post")
        guard let owner = try await owner(ofKey: key) else {
            throw ServiceError.notFound("post \(key)")
        }
        guard owner == places.uid else { throw ServiceError.refused("delete a post of another") }
        let readers = try await settling.settle(
            "delete post \(key)",
            read: { try await self.readers() },
            write: { try await withdraw(key, $0) },
        )
        await clearLatecomers(key, besides: readers)
    }

    /// Whose post it is; nil for none.
    ///
    /// - Throws: `ServiceError`.
    public func owner(ofKey key: String) async throws -> String? {
        let key = try key.key("post")
        return try await ServiceError.naming("see post \(key)") {
            try await ownerUID(key, nil)
        }
    }

    private func ownerUID(_ key: String, _ posterUID: String?) async throws -> String? {
        if let posterUID { return try posterUID.key("poster") }
        return try await places.owner(key)
    }
}
