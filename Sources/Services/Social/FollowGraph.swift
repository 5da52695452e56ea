public import HearthDatabase

/// Who follows whom, as the signed-in user `uid`.
///
/// An edge is two entries, `following/{uid}/{other}` and `followers/{other}/{uid}`, that come and go in one update.
/// The timeline of an app is not touched here: see `FollowService` of `Timeline`. Operations throw `ServiceError`.
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

    /// The update that adds or removes the edge to a person, for a service that adds to it; `exists` is whether the
    /// user follows them afterwards. A user cannot follow themselves.
    public func edge(to other: String, exists: Bool) throws -> [String: Any] {
        let other = try other.key("uid")
        guard !exists || other != uid else {
            throw ServiceError.invalid(field: "uid", why: "you cannot follow yourself")
        }
        return PersonTree.edge(from: uid, to: other, exists: exists)
    }

    /// Follows a person. Repeating it changes nothing.
    ///
    /// - Throws: `ServiceError`: `notFound` when the person does not exist, `refused` when they have blocked the
    ///   user.
    public func follow(_ other: String) async throws {
        let edge = try edge(to: other, exists: true)
        do throws(ServiceError) {
            try await database.update(edge, to: "follow \(other)")
        } catch {
            try await explain(error, following: other)
        }
    }

    /// Finds why an edge was refused: throws `notFound` if the person does not exist, and otherwise the error itself.
    public func explain(_ error: ServiceError, following other: String) async throws {
        guard case .refused = error else { throw error }
        let username = "users/\(try other.key("uid"))/username"
        let purpose = "look at the profile of \(other)"
        let exists = try await database.read(username, to: purpose).exists()
        throw exists ? error : ServiceError.notFound("person \(other)")
    }

    /// Stops following a person; changes nothing if the user does not.
    public func unfollow(_ other: String) async throws {
        let edge = try edge(to: other, exists: false)
        try await database.update(edge, to: "unfollow \(other)")
    }

    /// Removes a person from the user's followers, without blocking them.
    public func removeFollower(_ follower: String) async throws {
        let edge = PersonTree.edge(from: try follower.key("uid"), to: uid, exists: false)
        try await database.update(edge, to: "take away the follower \(follower)")
    }

    /// Whether the user follows a person.
    public func isFollowed(_ other: String) async throws -> Bool {
        let edge = "following/\(uid)/\(try other.key("uid"))"
        return try await database.read(edge, to: "see whether you follow \(other)").exists()
    }

    /// Reports whom a person, by default the acting user, follows: now and after each change, as sorted accounts.
    ///
    /// `cancel` is called once when the rules deny access, now or later.
    public func observeFollowing(
        of other: String? = nil,
        with block: @escaping @Sendable ([String]) -> Void,
        withCancel cancel: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        database.reference(withPath: "following/\(other ?? uid)")
            .observe(to: "see whom they follow", with: { block($0.keys) }, withCancel: cancel)
    }

    /// Reports who follows a person, by default the acting user: now and after each change, as sorted accounts.
    ///
    /// `cancel` is called once when the rules deny access, now or later.
    public func observeFollowers(
        of other: String? = nil,
        with block: @escaping @Sendable ([String]) -> Void,
        withCancel cancel: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        database.reference(withPath: "followers/\(other ?? uid)")
            .observe(to: "see who follows them", with: { block($0.keys) }, withCancel: cancel)
    }
}
