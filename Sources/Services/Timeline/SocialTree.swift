import Foundation
import HearthDatabase
import Social

/// The parts of the tree that posts and timelines are in, as one signed-in user reads and writes them.
struct SocialTree: Sendable {
    let database: Database
    /// The signed-in user.
    let uid: String

    func read(_ path: String) async throws -> DataSnapshot {
        try await database.reference(withPath: path).getData()
    }

    func keys(_ path: String) async throws -> [String] { try await read(path).keys }

    /// Writes all of it or nothing; an empty update is none.
    func update(_ values: [String: Any]) async throws {
        guard !values.isEmpty else { return }
        try await database.reference().updateChildValues(values)
    }

    /// Throws the refusal of an update unless its purpose is fulfilled.
    ///
    /// After a cut the SDK sends an unanswered update again, and the rules refuse it if it was done. `path` is that of
    /// the refusal. Throws `permissionDenied`, and `ServiceError.database` when the check failed.
    func checkRefusal(_ path: String, unless isDone: () async throws -> Bool) async throws {
        let isKnownDone: Bool
        do {
            isKnownDone = try await isDone()
        } catch let error as DatabaseError {
            throw ServiceError.database(error)
        }
        guard isKnownDone else { throw DatabaseError.permissionDenied(path: path) }
    }

    /// Whom the user's posts are shown to beside themselves, sorted.
    func followers() async throws -> [String] { try await keys("followers/\(uid)") }

    func postKeys(of poster: String) async throws -> Set<String> {
        Set(try await keys("posts/\(poster)"))
    }

    /// The user's own timeline, and its faults.
    func entries() async throws -> Listing<TimelineEntry> {
        try await read("timeline/\(uid)").records(as: TimelineEntry.self)
    }

    /// A person's post; nil when there is none.
    ///
    /// - Throws: `RecordFault` for one that makes no sense, or that names another poster.
    func post(_ key: String, of poster: String) async throws -> Post? {
        try Self.post(try await read("posts/\(poster)/\(key)"), of: poster)
    }

    /// The post that a snapshot is of; nil when there is none.
    static func post(_ snapshot: DataSnapshot, of poster: String) throws(RecordFault) -> Post? {
        guard snapshot.exists() else { return nil }
        let post = try snapshot.record(as: Post.self)
        guard post.poster.uid == poster else {
            throw RecordFault(
                path: snapshot.ref.pathText,
                reason: "poster.uid: it is not the one whose posts these are"
            )
        }
        return post
    }

    /// Whose post it is; nil for none.
    func owner(_ key: String) async throws -> String? {
        try await read("postOwners/\(key)").value as? String
    }

    /// Whether it is a post of the user.
    func isOwn(_ key: String) async throws -> Bool { try await owner(key) == uid }

    func isLiked(_ key: String) async throws -> Bool {
        try await read("postLikes/\(key)/\(uid)").exists()
    }

    /// Makes the user's entries of a person's posts match the posts, of which the user has `entered`.
    func correct(_ poster: String, from entered: Set<String>, to keys: Set<String>) async throws {
        var changes = entryChanges(keys.subtracting(entered), of: poster)
        changes.merge(entryChanges(entered.subtracting(keys), of: nil)) { $1 }
        try await update(changes)
    }

    /// The changes that add entries of a person's posts to the user's timeline, or remove them.
    func entryChanges(_ keys: some Sequence<String>, of poster: String?) -> [String: Any] {
        var changes: [String: Any] = [:]
        for key in keys {
            changes["timeline/\(uid)/\(key)"] =
                poster.map { TimelineEntry.node(posterUID: $0) } ?? NSNull()
        }
        return changes
    }
}
