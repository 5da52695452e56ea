public import Foundation
import Records

/// What somebody said in a direct chat: `messages/{chatKey}/{key}`.
///
/// It never goes. Whoever said it may change its words, and may delete it, which leaves who and when. One that this
/// client has just written bears an estimate of the server's time until the server has it.
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
    /// 1 to 4,000 UTF-16 units; empty of one that is deleted.
    public let content: String
    /// When the sender's device thinks that it was sent; to be shown, and to decide nothing.
    public let timestamp: Date
    /// When the server had it, to the millisecond; it decides the order, and of equal ones the key does.
    public let sentAt: Date
    /// Who said it.
    public let sender: Sender
    /// The key of the message of this chat that it answers.
    public let replyTo: String?
    /// When its words were changed last, by the server's clock.
    public let editedAt: Date?
    /// When it was deleted, by the server's clock.
    public let deletedAt: Date?

    /// Whether it was deleted.
    public var isDeleted: Bool { deletedAt != nil }

    /// The key.
    public var id: String { key }

    /// A message; only `ChatService` writes one.
    public init(
        key: String,
        content: String,
        timestamp: Date,
        sentAt: Date,
        sender: Sender,
        replyTo: String? = nil,
        editedAt: Date? = nil,
        deletedAt: Date? = nil,
    ) {
        self.key = key
        self.content = content
        self.timestamp = timestamp
        self.sentAt = sentAt
        self.sender = sender
        self.replyTo = replyTo
        self.editedAt = editedAt
        self.deletedAt = deletedAt
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

        let content: String?
        let timestamp: Double
        let sentAt: Double
        let sender: Sender
        let replyTo: String?
        let editedAt: Double?
        let deletedAt: Double?
    }

    package init(key: String, stored: Stored) throws {
        let content = stored.content ?? ""
        guard content.isEmpty == (stored.deletedAt != nil) else {
            throw Nonsense(
                content.isEmpty ? "content: it is empty" : "content: it is deleted and there"
            )
        }
        guard !stored.sender.uid.isEmpty else { throw Nonsense("sender.uid: it is empty") }
        guard stored.timestamp.isFinite else { throw Nonsense("timestamp: it is no time") }
        self.init(
            key: key,
            content: content,
            timestamp: Date(timeIntervalSince1970: stored.timestamp),
            sentAt: try ServerTime.date(stored.sentAt, field: "sentAt"),
            sender: Sender(uid: stored.sender.uid, username: stored.sender.username),
            replyTo: stored.replyTo,
            editedAt: try stored.editedAt.map { try ServerTime.date($0, field: "editedAt") },
            deletedAt: try stored.deletedAt.map { try ServerTime.date($0, field: "deletedAt") },
        )
    }
}
