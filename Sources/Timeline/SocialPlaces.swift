import Foundation
import HearthDatabase
import Records

/// The parts of the tree that posts and timelines are in, as one signed-in user reads and writes them.
struct SocialPlaces: Sendable {
    let database: Database
    /// The signed-in user.
    let uid: String

    /// What is at a path now, as the server knows it.
    func read(_ path: String) async throws -> DataSnapshot {
        try await database.reference(withPath: path).getData()
    }

    /// The keys below a path, in their order.
    func keys(_ path: String) async throws -> [String] {
        try await read(path).children.compactMap { ($0 as? DataSnapshot)?.key }
    }

    /// Writes all of it or nothing; an empty update is none.
    func update(_ values: [String: Any]) async throws {
        guard !values.isEmpty else { return }
        try await database.reference().updateChildValues(values)
    }

    /// Throws the refusal of an update unless what it was for is done.
    ///
    /// After a cut the SDK sends an update again that was not answered, and the rules refuse what is there already.
    /// - Parameters:
    ///   - path: Of the refusal.
    ///   - isDone: Looks whether it is done.
    /// - Throws: `permissionDenied`; `ServiceError.database` when that could not be found out.
    func checkRefusal(
        _ path: String,
        unless isDone: () async throws -> Bool,
    ) async throws {
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

    /// The posts of somebody.
    func postKeys(of poster: String) async throws -> Set<String> {
        Set(try await keys("posts/\(poster)"))
    }

    /// The user's own timeline, and what of it is no entry.
    func entries() async throws -> Listing<TimelineEntry> {
        try await read("timeline/\(uid)").records(as: TimelineEntry.self)
    }

    /// A post of somebody; nil when there is none.
    ///
    /// - Throws: `RecordFault` for one that makes no sense, or that names another poster.
    func post(_ key: String, of poster: String) async throws -> Post? {
        try Self.post(try await read("posts/\(poster)/\(key)"), of: poster)
    }

    /// The post that a snapshot is of; nil when there is none.
    static func post(
        _ snapshot: DataSnapshot,
        of poster: String,
    ) throws(RecordFault) -> Post? {
        guard snapshot.exists() else { return nil }
        let post = try snapshot.record(as: Post.self)
        guard post.poster.uid == poster else {
            throw RecordFault(
                path: snapshot.ref.placeName,
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

    /// Whether the user likes a post.
    func isLiked(_ key: String) async throws -> Bool {
        try await read("postLikes/\(key)/\(uid)").exists()
    }

    /// What an update puts into one's own timeline of somebody's posts, or takes out of it.
    func entryChanges(
        _ keys: some Sequence<String>,
        of poster: String?,
    ) -> [String: Any] {
        var changes: [String: Any] = [:]
        for key in keys {
            changes["timeline/\(uid)/\(key)"] =
                poster.map { TimelineEntry.node(posterUID: $0) } ?? NSNull()
        }
        return changes
    }
}
