public import Foundation
import Records

/// A picture that somebody has posted: `posts/{uid}/{key}`.
public struct Post: Hashable, Sendable {
    /// Who posted it, as the post tells it.
    public struct Poster: Hashable, Sendable {
        /// The account.
        public let uid: String
        /// The name they had at that time.
        public let username: String

        /// Somebody.
        public init(uid: String, username: String) {
            self.uid = uid
            self.username = username
        }
    }

    /// A push id, which no other post of anybody has.
    public let key: String
    /// Address of the picture; at most 2,000 characters.
    public let imageURL: String
    /// Points, above 0.
    public let imageHeight: Double
    /// The server's time, by which posts are ordered; whole milliseconds.
    public let createdAt: Date
    /// How many people like it.
    public let likeCount: Int
    /// Who posted it.
    public let poster: Poster

    /// A post; only `PostService` writes one.
    public init(
        key: String,
        imageURL: String,
        imageHeight: Double,
        createdAt: Date,
        likeCount: Int,
        poster: Poster,
    ) {
        self.key = key
        self.imageURL = imageURL
        self.imageHeight = imageHeight
        self.createdAt = createdAt
        self.likeCount = likeCount
        self.poster = poster
    }

    /// Milliseconds since 1970 of `createdAt`.
    var createdMilliseconds: Int64 { Int64((createdAt.timeIntervalSince1970 * 1000).rounded()) }

    /// Whether it stands before the other: newer ones first, of one millisecond those with greater keys.
    package func isNewer(than other: Post) -> Bool {
        (createdAt, key) > (other.createdAt, other.key)
    }
}

extension Post: Record {
    package struct Stored: Decodable {
        struct Poster: Decodable {
            let uid: String
            let username: String
        }

        let image_url: String
        let image_height: Double
        let created_at: Double
        let like_count: Int
        let poster: Poster
    }

    package init(key: String, stored: Stored) throws {
        guard !stored.image_url.isEmpty else { throw Nonsense("image_url: it is empty") }
        guard stored.image_height > 0, stored.image_height <= TimelineLimits.imageHeight else {
            throw Nonsense("image_height: it is not above 0 and at most 100,000")
        }
        // 100,000 years: any further the milliseconds would not be whole.
        guard (0...3e15).contains(stored.created_at) else {
            throw Nonsense("created_at: it is no time")
        }
        guard stored.like_count >= 0 else { throw Nonsense("like_count: it is below 0") }
        guard !stored.poster.uid.isEmpty else { throw Nonsense("poster.uid: it is empty") }
        self.init(
            key: key,
            imageURL: stored.image_url,
            imageHeight: stored.image_height,
            createdAt: Date(timeIntervalSince1970: stored.created_at / 1000),
            likeCount: stored.like_count,
            poster: Poster(uid: stored.poster.uid, username: stored.poster.username),
        )
    }
}

/// A post as one reader is shown it.
public struct ShownPost: Hashable, Sendable {
    /// The post.
    public let post: Post
    /// Whether the reader likes it.
    public let isLiked: Bool

    /// A post and whether its reader likes it.
    public init(post: Post, isLiked: Bool) {
        self.post = post
        self.isLiked = isLiked
    }
}
