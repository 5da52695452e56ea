/// A direct chat or a room of one recipient: the location `pushed/{recipient}/{key}`.
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
    /// Username of the sender; nil in a room, whose entry has none.
    package let sender: String?
    /// Server time, milliseconds since 1970.
    package let at: Int64
    /// Identifies the message in its thread: its key; in a room, whose entry has none, its time.
    package let messageKey: String
    /// How many the recipient has not read; nil of a direct chat whose clients keep no count.
    package var unread: Int?
}

/// The value at `pushed/{recipient}/{key}`: the newest push about a thread.
package struct PushRecord: Equatable, Sendable {
    package enum State: String, Sendable {
        /// Claimed: not posted yet, or posted with an unknown outcome.
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
    /// When it was claimed, in server time; estimated until the server confirms it.
    package var claimedAt: Int64
    package var state: State
    /// The unread count at that time, if there is one.
    package let unread: Int?
    /// The posted body; present while `sending`.
    package var body: String?
}
