public import HearthDatabase
public import Records

/// Who follows whom, as the signed-in user `uid`.
///
/// An edge is two entries, `following/{uid}/{other}` and `followers/{other}/{uid}`, that come and go in one update.
/// The timeline of an app is not touched here: see `FollowService` of `Timeline`.
public struct FollowGraph: Sendable {
    /// Where the people are.
    public let database: Database
    /// Who acts.
    public let uid: String

    /// The edges of a database; `uid` is the account that its app is signed in with.
    public init(database: Database, uid: String) {
        self.database = database
        self.uid = uid
    }

    /// The update that makes the edge to somebody or takes it away, for a service that adds to it; `exists` is whether
    /// the user follows them afterwards. Nobody follows themselves.
    public func edge(to other: String, exists: Bool) throws -> [String: Any] {
        let other = try other.key("uid")
        guard !exists || other != uid else {
            throw ServiceError.invalid(field: "uid", why: "nobody follows themselves")
        }
        return PersonTree.edge(from: uid, to: other, exists: exists)
    }

    /// Follows somebody. Once more changes nothing.
    ///
    /// - Throws: `ServiceError`: `notFound` when there is no such person, `refused` when they have blocked the user.
    public func follow(_ other: String) async throws {
        let edge = try edge(to: other, exists: true)
        do throws(ServiceError) {
            try await database.update(edge, to: "follow \(other)")
        } catch {
            try await explain(error, following: other)
        }
    }

    /// Why an edge was refused: throws `notFound` if there is nobody to follow, and otherwise the error itself.
    ///
    /// - Throws: `ServiceError`.
    public func explain(_ error: ServiceError, following other: String) async throws {
        guard case .refused = error else { throw error }
        let user = database.reference(withPath: PersonTree.user(try other.key("uid")))
        let exists = try await ServiceError.naming("look at the profile of \(other)") {
            try await user.child("username").getData().exists()
        }
        throw exists ? error : ServiceError.notFound("person \(other)")
    }

    /// Follows somebody no longer; changes nothing if the user does not.
    ///
    /// - Throws: `ServiceError`.
    public func unfollow(_ other: String) async throws {
        let edge = try edge(to: other, exists: false)
        try await database.update(edge, to: "unfollow \(other)")
    }

    /// Ends that somebody follows the user, without blocking them.
    ///
    /// - Throws: `ServiceError`.
    public func removeFollower(_ follower: String) async throws {
        let edge = PersonTree.edge(from: try follower.key("uid"), to: uid, exists: false)
        try await database.update(edge, to: "take away the follower \(follower)")
    }

    /// Whether the user follows somebody.
    ///
    /// - Throws: `ServiceError`.
    public func isFollowed(_ other: String) async throws -> Bool {
        let place = database.reference(withPath: "following/\(uid)/\(try other.key("uid"))")
        return try await ServiceError.naming("see whether you follow \(other)") {
            try await place.getData().exists()
        }
    }

    /// Tells whom somebody follows, or the user who acts, now and after each change, as accounts in order.
    ///
    /// `cancel` is told once if the rules do not allow it, or no longer.
    public func observeFollowing(
        of other: String? = nil,
        with block: @escaping @Sendable ([String]) -> Void,
        withCancel cancel: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        observe("following/\(other ?? uid)", "see whom they follow", block, cancel)
    }

    /// Tells who follows somebody, or the user who acts, now and after each change, as accounts in order.
    ///
    /// `cancel` is told once if the rules do not allow it, or no longer.
    public func observeFollowers(
        of other: String? = nil,
        with block: @escaping @Sendable ([String]) -> Void,
        withCancel cancel: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        observe("followers/\(other ?? uid)", "see who follows them", block, cancel)
    }

    private func observe(
        _ path: String,
        _ purpose: String,
        _ block: @escaping @Sendable ([String]) -> Void,
        _ cancel: (@Sendable (ServiceError) -> Void)?,
    ) -> Observation {
        let place = database.reference(withPath: path)
        let handle = place.observe(.value) { snapshot in
            block(snapshot.keys)
        } withCancel: { error in
            cancel?(ServiceError(error, purpose: purpose))
        }
        return Observation(place, handle)
    }
}
