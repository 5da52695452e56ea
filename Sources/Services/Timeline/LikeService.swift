import Foundation
public import HearthDatabase
import Social

/// Likes of posts, counted exactly. Operations throw `ServiceError`.
///
/// A like is one update of the edge `postLikes/{post}/{uid}` and an increment of `like_count`. The server adds the
/// increment to the present count, so concurrent likes all count. The rules refuse an increment without its edge, and
/// an edge that exists.
public struct LikeService: Sendable {
    private let tree: SocialTree
    /// How it meets changes of others; in tests without waits.
    package var settling = Settling.standard

    /// The likes of the signed-in user `uid`.
    public init(database: Database, uid: String) { tree = SocialTree(database: database, uid: uid) }

    /// Likes a post; harmless when it is liked already.
    ///
    /// - Throws: `ServiceError`: `notFound` when the post is gone.
    public func create(for post: Post) async throws { try await set(true, post) }

    /// Ends the like of a post; harmless when there is none.
    ///
    /// - Throws: `ServiceError`: `notFound` when the post is gone.
    public func delete(for post: Post) async throws { try await set(false, post) }

    /// Whether the user likes a post.
    public func isPostLiked(_ post: Post) async throws -> Bool {
        let key = try post.key.key("post")
        return try await ServiceError.naming("see the likes of post \(key)") {
            try await tree.isLiked(key)
        }
    }

    private struct State: Equatable {
        let isLiked: Bool
        let isThere: Bool
    }

    private func set(_ wanted: Bool, _ post: Post) async throws {
        let key = try post.key.key("post")
        let poster = try post.poster.uid.key("poster")
        let purpose = wanted ? "like post \(key)" : "end the like of post \(key)"
        // Only a race refuses a like of a reader, and another device may undo it at once.
        _ = try await settling.settle(purpose, unchangedLimit: settling.tries) {
            async let count = tree.read("posts/\(poster)/\(key)/like_count")
            let isLiked = try await tree.isLiked(key)
            return State(isLiked: isLiked, isThere: try await count.exists())
        } write: { state in
            guard state.isThere else { throw ServiceError.notFound("post \(key)") }
            if state.isLiked == wanted { return }
            do {
                try await step(wanted, key, poster)
            } catch DatabaseError.permissionDenied(let path) {
                // Another device was first, or the update was sent again after a cut that lost its answer.
                try await tree.checkRefusal(path) { try await tree.isLiked(key) == wanted }
            }
        }
    }

    /// Writes the edge and the step of the count.
    package func step(_ isLiked: Bool, _ key: String, _ poster: String) async throws {
        try await tree.update([
            "postLikes/\(key)/\(tree.uid)": isLiked ? true : NSNull(),
            "posts/\(poster)/\(key)/like_count": ServerValue.increment(isLiked ? 1 : -1),
        ])
    }
}
