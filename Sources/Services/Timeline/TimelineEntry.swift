import Social

/// That a person is shown a post: `timeline/{uid}/{key}`, under the key of the post.
public struct TimelineEntry: Hashable, Sendable {
    /// The post's key.
    public let key: String
    /// Who posted it.
    public let posterUID: String

    /// An entry; `PostService` and `FollowService` write them.
    public init(key: String, posterUID: String) {
        self.key = key
        self.posterUID = posterUID
    }

    static func node(posterUID: String) -> [String: Any] { ["poster_uid": posterUID] }
}

extension TimelineEntry: Record {
    package init(key: String, stored: Fields) throws {
        let poster: String = try stored.value("poster_uid")
        do throws(ServiceError) {
            // It becomes part of a path.
            self.init(key: key, posterUID: try poster.key("poster_uid"))
        } catch {
            throw Nonsense("\(error)")
        }
    }
}
