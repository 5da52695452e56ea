public import Foundation
public import Social

/// A posted picture: `posts/{uid}/{key}`.
public struct Post: Hashable, Sendable {
    /// The poster, as stored in the post.
    public typealias Poster = Author

    /// A push id, unique among all posts.
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

    var createdMilliseconds: Int64 { Int64((createdAt.timeIntervalSince1970 * 1000).rounded()) }

    /// Whether it comes before the other: newest first; in the same millisecond, greater keys first.
    package func isNewer(than other: Post) -> Bool {
        (createdAt, key) > (other.createdAt, other.key)
    }
}

extension Post: Record {
    package init(key: String, stored: Fields) throws {
        self.key = key
        imageURL = try stored.text("image_url")
        imageHeight = try stored.value("image_height")
        guard imageHeight > 0, imageHeight <= TimelineLimits.imageHeight else {
            throw Nonsense("image_height: it is not above 0 and at most 100,000")
        }
        // 100,000 years: any further the milliseconds would not be whole.
        let created = try stored.time("created_at", in: 0...3e15)
        createdAt = Date(timeIntervalSince1970: created / 1000)
        likeCount = try stored.count("like_count")
        poster = try stored.value("poster")
        guard !poster.uid.isEmpty else { throw Nonsense("poster.uid: it is empty") }
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
