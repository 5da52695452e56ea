import Foundation
public import HearthDatabase
import Records

/// Likes of posts, counted exactly.
///
/// A like is one update of the edge `postLikes/{post}/{uid}` and a step of `like_count`. The server adds the step to
/// whatever the count is then, so of many at once each one counts; the rules refuse a step without its edge, and an
/// edge that is there already.
public struct LikeService: Sendable {
    private let places: SocialPlaces
    private let settling: Settling

    /// The likes of the signed-in user `uid`.
    public init(database: Database, uid: String) {
        self.init(database: database, uid: uid, settling: .standard)
    }

    package init(database: Database, uid: String, settling: Settling) {
        places = SocialPlaces(database: database, uid: uid)
        self.settling = settling
    }

    /// Likes a post; harmless when it is liked already.
    ///
    /// - Throws: `ServiceError`: `notFound` when the post is gone.
    public func create(for post: Post) async throws { try await set(true, post) }

    /// Ends the like of a post; harmless when there is none.
    ///
    /// - Throws: `ServiceError`: `notFound` when the post is gone.
    public func delete(for post: Post) async throws { try await set(false, post) }

    /// Whether the user likes a post.
    ///
    /// - Throws: `ServiceError`.
    public func isPostLiked(_ post: Post) async throws -> Bool {
        let key = try post.key.key("post")
        return try await ServiceError.naming("see the likes of post \(key)") {
            try await places.isLiked(key)
        }
    }

    /// What a like depends on.
    private struct State: Equatable {
        let isLiked: Bool
        let isThere: Bool
    }

    private func set(_ wanted: Bool, _ post: Post) async throws {
        let key = try post.key.key("post")
        let poster = try post.poster.uid.key("poster")
        let purpose = wanted ? "like post \(key)" : "end the like of post \(key)"
        // Only a race refuses a like of who may read it, and another device may undo what it does at once.
        _ = try await settling.settle(purpose, unchangedLimit: settling.tries) {
            async let count = places.read("posts/\(poster)/\(key)/like_count")
            let isLiked = try await places.isLiked(key)
            return State(isLiked: isLiked, isThere: try await count.exists())
        } write: { state in
            guard state.isThere else { throw ServiceError.notFound("post \(key)") }
            if state.isLiked == wanted { return }
            do {
                try await step(wanted, key, poster)
            } catch DatabaseError.permissionDenied(let path) {
                // Another device was first, or the update was sent again after a cut that lost its answer.
                try await places.checkRefusal(path) { try await places.isLiked(key) == wanted }
            }
        }
    }

    /// Writes the edge and the step of the count.
    package func step(_ isLiked: Bool, _ key: String, _ poster: String) async throws {
        try await places.update([
            "postLikes/\(key)/\(places.uid)": isLiked ? true : NSNull(),
            "posts/\(poster)/\(key)/like_count": ServerValue.increment(isLiked ? 1 : -1),
        ])
    }
}
