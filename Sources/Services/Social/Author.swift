/// Who has written a message or a post, as stored in it.
public struct Author: Hashable, Decodable, Sendable {
    /// The account.
    public let uid: String
    /// The username at that time.
    public let username: String

    /// Creates an author.
    public init(uid: String, username: String) {
        self.uid = uid
        self.username = username
    }
}
