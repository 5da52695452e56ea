public import Foundation
import Records

/// What somebody said in a direct chat: `messages/{chatKey}/{key}`.
///
/// It never changes and never goes. One that this client has just written bears an estimate of the server's
/// time until the server has it.
public struct Message: Hashable, Identifiable, Sendable {
    /// Who said it, under the name that they had then.
    public struct Sender: Hashable, Sendable {
        /// The account.
        public let uid: String
        /// The username.
        public let username: String

        /// Somebody who says something.
        public init(uid: String, username: String) {
            self.uid = uid
            self.username = username
        }
    }

    /// Its key; those made later sort behind it, by the clock of whoever made it.
    public let key: String
    /// 1 to 4,000 UTF-16 units.
    public let content: String
    /// When the sender's device thinks that it was sent; to be shown, and to decide nothing.
    public let timestamp: Date
    /// When the server had it, to the millisecond; it decides the order, and of equal ones the key does.
    public let sentAt: Date
    /// Who said it.
    public let sender: Sender

    /// The key.
    public var id: String { key }

    /// A message; only `ChatService` writes one.
    public init(key: String, content: String, timestamp: Date, sentAt: Date, sender: Sender) {
        self.key = key
        self.content = content
        self.timestamp = timestamp
        self.sentAt = sentAt
        self.sender = sender
    }

    /// Whether it comes before the other one.
    public func precedes(_ other: Message) -> Bool {
        sentAt == other.sentAt
            ? key.utf8.lexicographicallyPrecedes(other.key.utf8) : sentAt < other.sentAt
    }
}

extension Message: Record {
    package struct Stored: Decodable {
        struct Sender: Decodable {
            let uid: String
            let username: String
        }

        let content: String
        let timestamp: Double
        let sentAt: Double
        let sender: Sender
    }

    package init(key: String, stored: Stored) throws {
        guard !stored.content.isEmpty else { throw Nonsense("content: it is empty") }
        guard !stored.sender.uid.isEmpty else { throw Nonsense("sender.uid: it is empty") }
        guard stored.timestamp.isFinite else { throw Nonsense("timestamp: it is no time") }
        self.init(
            key: key,
            content: stored.content,
            timestamp: Date(timeIntervalSince1970: stored.timestamp),
            sentAt: try ServerTime.date(stored.sentAt, field: "sentAt"),
            sender: Sender(uid: stored.sender.uid, username: stored.sender.username),
        )
    }
}
