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
