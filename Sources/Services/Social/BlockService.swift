import Foundation
public import HearthDatabase

/// The people whom the signed-in user `uid` has blocked: no following, no direct messages, no invitations.
///
/// Only the user can see whom they have blocked. Operations throw `ServiceError`.
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

    /// Blocks a person; the same update ends following between the two.
    ///
    /// - Throws: `ServiceError.invalid` when that would be the user.
    public func block(_ other: String) async throws {
        let location = try location(other)
        guard other != uid else {
            throw ServiceError.invalid(field: "uid", why: "you cannot block yourself")
        }
        var update: [String: Any] = [location: true]
        update.merge(PersonTree.edge(from: uid, to: other, exists: false)) { $1 }
        update.merge(PersonTree.edge(from: other, to: uid, exists: false)) { $1 }
        try await database.update(update, to: "block \(other)")
    }

    /// Unblocks a person. Ended following is not restored.
    public func unblock(_ other: String) async throws {
        try await database.update([try location(other): NSNull()], to: "unblock \(other)")
    }

    /// Whether the user has blocked a person.
    public func isBlocked(_ other: String) async throws -> Bool {
        try await database.read(location(other), to: "see whether you block \(other)").exists()
    }

    /// The accounts that the user has blocked, in order.
    public func blocked() async throws -> [String] {
        try await database.read("blocks/\(uid)", to: "see whom you block").keys
    }

    /// Reports whom the user has blocked, now and after each change.
    ///
    /// `cancel` is called once when the rules deny access, now or later.
    public func observeBlocked(
        with block: @escaping @Sendable ([String]) -> Void,
        withCancel cancel: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        database.reference(withPath: "blocks/\(uid)")
            .observe(to: "see whom you block", with: { block($0.keys) }, withCancel: cancel)
    }

    private func location(_ other: String) throws(ServiceError) -> String {
        "blocks/\(uid)/\(try other.key("uid"))"
    }
}
