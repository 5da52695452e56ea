/// A direct chat or a room as one recipient has it: the place `pushed/{recipient}/{key}`.
package struct PushThread: Hashable, Comparable, Sendable {
    package let recipient: String
    package let key: String

    package init(_ recipient: String, _ key: String) {
        self.recipient = recipient
        self.key = key
    }

    package static func < (left: PushThread, right: PushThread) -> Bool {
        (left.recipient, left.key) < (right.recipient, right.key)
    }
}

/// The newest of a thread, from the recipient's own entry of it.
package struct ThreadNews: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case direct
        case room
    }

    package let kind: Kind
    package let title: String
    package let text: String
    /// Username of who says it; nil in a room, whose entry does not tell.
    package let sender: String?
    /// Server time, milliseconds since 1970.
    package let at: Int64
    /// What tells the message from others of its thread: its key; in a room, whose entry has none, its time.
    package let messageKey: String
    /// Of a room: how many the recipient has not read. Nobody counts them in direct chats.
    package let unread: Int?
}

/// What `pushed/{recipient}/{key}` holds: the newest push about a thread.
package struct PushRecord: Equatable, Sendable {
    package enum State: String, Sendable {
        /// Claimed: not posted yet, or posted with an outcome that nobody knows.
        case sending
        /// Accepted by the webhook, or not wanted any more.
        case done
        /// Given up.
        case refused
    }

    /// The `webhook-id`.
    package let id: String
    /// When the message was sent.
    package let at: Int64
    /// When it was claimed, server time; as near as the worker knows until the server has said.
    package var claimedAt: Int64
    package var state: State
    /// What was unread then, in a room.
    package let unread: Int?
    /// What is posted; there while `sending`.
    package var body: String?
}
