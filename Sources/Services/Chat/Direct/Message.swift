public import Attachments
public import Foundation
public import Social

/// A message in a direct chat: `messages/{chatKey}/{key}`.
///
/// It is never removed. Its sender may edit its text, and may delete it, which keeps sender and time. A message that
/// this client has just written has an estimate of the server's time until the server has it.
public struct Message: Hashable, Identifiable, Sendable {
    /// The sender, with the username at the time of sending.
    public typealias Sender = Author

    /// Its key; later keys sort after it, by the clock of their sender.
    public let key: String
    /// 1 to 4,000 UTF-16 units; empty of one that is deleted.
    public let content: String
    /// When the sender's device thinks that it was sent; to be shown, and to decide nothing.
    public let timestamp: Date
    /// When the server had it, to the millisecond; it decides the order, and of equal ones the key does.
    public let sentAt: Date
    /// The sender.
    public let sender: Sender
    /// The key of the message of this chat that it answers.
    public let replyTo: String?
    /// When its words were changed last, by the server's clock.
    public let editedAt: Date?
    /// When it was deleted, by the server's clock.
    public let deletedAt: Date?
    /// Its files. A message with files and no other text has their titles as its content.
    public let attachments: [Attachment]

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
        attachments: [Attachment] = [],
    ) {
        self.key = key
        self.content = content
        self.timestamp = timestamp
        self.sentAt = sentAt
        self.sender = sender
        self.replyTo = replyTo
        self.editedAt = editedAt
        self.deletedAt = deletedAt
        self.attachments = attachments
    }

    /// Whether it comes before the other one.
    public func precedes(_ other: Message) -> Bool {
        sentAt == other.sentAt
            ? key.utf8.lexicographicallyPrecedes(other.key.utf8) : sentAt < other.sentAt
    }
}

extension Message: Record {
    package init(key: String, stored: Fields) throws {
        self.key = key
        content = try stored.optional("content") ?? ""
        timestamp = Date(timeIntervalSince1970: try stored.time("timestamp"))
        sentAt = try stored.serverTime("sentAt")
        sender = try stored.value("sender")
        replyTo = try stored.optional("replyTo")
        editedAt = try stored.serverTimeIfPresent("editedAt")
        deletedAt = try stored.serverTimeIfPresent("deletedAt")
        attachments = try Attachment.all(in: stored.optional("attachments"))
        guard content.isEmpty == isDeleted else {
            throw Nonsense(
                content.isEmpty ? "content: it is empty" : "content: it is deleted and there"
            )
        }
        guard !sender.uid.isEmpty else { throw Nonsense("sender.uid: it is empty") }
    }
}
