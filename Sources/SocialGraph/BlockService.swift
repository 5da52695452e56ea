import Foundation
public import HearthDatabase
public import Records

/// From whom the signed-in user `uid` wants nothing: no following, no direct messages, no invitations.
///
/// Nobody else sees whom a person has blocked.
public struct BlockService: Sendable {
    /// Where the people are.
    public let database: Database
    /// Who acts.
    public let uid: String

    /// The blocks of a database; `uid` is the account that its app is signed in with.
    public init(database: Database, uid: String) {
        self.database = database
        self.uid = uid
    }

    /// Blocks somebody; in the same update neither of the two follows the other any longer.
    ///
    /// - Throws: `ServiceError.invalid` when that would be the user.
    public func block(_ other: String) async throws {
        let place = try place(other)
        guard other != uid else {
            throw ServiceError.invalid(field: "uid", why: "nobody blocks themselves")
        }
        var update: [String: Any] = [place: true]
        update.merge(PersonTree.edge(from: uid, to: other, exists: false)) { $1 }
        update.merge(PersonTree.edge(from: other, to: uid, exists: false)) { $1 }
        try await database.update(update, to: "block \(other)")
    }

    /// Blocks somebody no longer. Who followed whom before does not come back.
    ///
    /// - Throws: `ServiceError`.
    public func unblock(_ other: String) async throws {
        try await database.update([try place(other): NSNull()], to: "unblock \(other)")
    }

    /// Whether the user has blocked somebody.
    ///
    /// - Throws: `ServiceError`.
    public func isBlocked(_ other: String) async throws -> Bool {
        let place = database.reference(withPath: try place(other))
        return try await ServiceError.naming("see whether you block \(other)") {
            try await place.getData().exists()
        }
    }

    /// The accounts that the user has blocked, in order.
    ///
    /// - Throws: `ServiceError`.
    public func blocked() async throws -> [String] {
        try await ServiceError.naming("see whom you block") {
            try await database.reference(withPath: "blocks/\(uid)").getData().keys
        }
    }

    /// Tells whom the user has blocked, now and after each change.
    ///
    /// `cancel` is told once if the rules do not allow it, or no longer.
    public func observeBlocked(
        with block: @escaping @Sendable ([String]) -> Void,
        withCancel cancel: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        let place = database.reference(withPath: "blocks/\(uid)")
        let handle = place.observe(.value) { snapshot in
            block(snapshot.keys)
        } withCancel: { error in
            cancel?(ServiceError(error, purpose: "see whom you block"))
        }
        return Observation(place, handle)
    }

    private func place(_ other: String) throws(ServiceError) -> String {
        "blocks/\(uid)/\(try other.key("uid"))"
    }
}
