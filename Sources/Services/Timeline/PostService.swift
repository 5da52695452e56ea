internal import Attachments
public import HearthDatabase
public import Social

/// Creates, shows and deletes posts, together with their entries in all timelines.
///
/// A post is one update: the post, whose it is, and an entry in the timelines of its poster and of each follower. Who
/// follows while it is on its way is reached by a second one, and finds it themselves: both sides write first and look
/// afterwards, so one of them sees the other.
///
/// Timelines are sorted by the keys of posts. A key is made with the server's clock, once that is known. If it is a
/// minute off the post's server time (the clock was set, or the connection was lost), the post gets a new key of that
/// time. So a clock that is wrong by a day puts no post in a wrong position. Operations throw `ServiceError`.
public struct PostService: Sendable {
    let tree: SocialTree
    /// How it meets changes of others; in tests without waits.
    package var settling = Settling.standard
    /// A new key, in tests one of a wrong clock.
    package var makeKey: @Sendable () -> String?

    /// The posts of the signed-in user `me`, and those that they look at.
    public init(database: Database, me: UserProfile) {
        tree = SocialTree(database: database, uid: me.uid)
        makeKey = { database.reference().childByAutoId().key }
    }

    /// Posts a picture to oneself and all followers.
    ///
    /// Waits for a connection. An update whose answer was lost is sent again and counts once.
    /// - Parameters:
    ///   - imageURL: The address of the picture, 1 to 2,000 characters; its bytes are stored already.
    ///   - imageHeight: Points, above 0 and at most 100,000.
    ///   - key: A `newKey()`, by which `owner(ofKey:)` finds the post after an error; the same key never posts twice.
    ///     A new one by default.
    /// - Returns: The post, with its server time, and with another key if the given one has a wrong time.
    /// - Throws: `ServiceError`; then nothing was posted. After `database` that is unknown: the server could not be
    ///   asked.
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
    /// Waits for a connection, since keys contain the server's time.
    public func newKey() async throws(ServiceError) -> String {
        try await serverClock()
        guard let key = makeKey() else { throw .database(.offline) }
        return key
    }

    /// A post and whether the user likes it.
    ///
    /// Without `posterUID`, the poster is looked up.
    /// - Throws: `ServiceError`: `notFound`, or `faulty` for one that makes no sense.
    public func show(forKey key: String, posterUID: String? = nil) async throws -> ShownPost {
        let key = try key.key("post")
        return try await ServiceError.naming("see post \(key)") {
            guard let poster = try await ownerUID(key, posterUID),
                let post = try await tree.post(key, of: poster)
            else { throw ServiceError.notFound("post \(key)") }
            return ShownPost(post: post, isLiked: try await tree.isLiked(key))
        }
    }

    /// Deletes a post of one's own from every timeline, with its likes and its own picture.
    ///
    /// - Throws: `ServiceError`: `notFound`, or `refused` for another user's post; nothing is changed then.
    public func delete(forKey key: String) async throws {
        let key = try key.key("post")
        guard let owner = try await owner(ofKey: key) else {
            throw ServiceError.notFound("post \(key)")
        }
        guard owner == tree.uid else { throw ServiceError.refused("delete a post of another") }
        let folder = try await pictureFolder(key)
        let readers = try await settling.settle(
            "delete post \(key)",
            read: { try await self.readers() },
            write: { try await withdraw(key, $0, leaving: folder) },
        )
        await clearLatecomers(key, besides: readers)
        if let folder { await attachments.removeDeleted(folder) }
    }

    /// Whose post it is; nil for none.
    public func owner(ofKey key: String) async throws -> String? {
        let key = try key.key("post")
        return try await ServiceError.naming("see post \(key)") { try await ownerUID(key, nil) }
    }

    private func ownerUID(_ key: String, _ posterUID: String?) async throws -> String? {
        if let posterUID { return try posterUID.key("poster") }
        return try await tree.owner(key)
    }
}
