package import Chat
import Foundation

/// A direct chat or a room, by its key.
package enum ThreadID: Hashable, Sendable {
    case direct(String)
    case room(String)
    /// A person, by account, before the first message of a chat.
    case person(String)
}

/// A thread as the list shows it.
package struct ThreadRow: Equatable, Sendable {
    package let id: ThreadID
    package let title: String
    /// The text of the last message or event; empty for none.
    package let lastText: String
    /// When that was, by the server's clock.
    package let lastAt: Date
    package let unread: Int

    package init(id: ThreadID, title: String, lastText: String, lastAt: Date, unread: Int) {
        self.id = id
        self.title = title
        self.lastText = lastText
        self.lastAt = lastAt
        self.unread = unread
    }
}

/// A message, or an event, in a thread.
package struct Entry: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        case said(String)
        /// A deleted message.
        case deleted
        case created
        /// An account came in, or was brought in.
        case came(String)
        /// An account left, or was removed.
        case went(String)
        case renamed(String)
    }

    package let key: String
    /// By the server's clock.
    package let at: Date
    /// The account that did it.
    package let by: String
    package let body: Body
    /// The key of the entry that it answers.
    package let replyTo: String?
    /// Whether its words were changed.
    package let isEdited: Bool
    package let attachments: [Attachment]

    package init(
        key: String,
        at: Date,
        by: String,
        body: Body,
        replyTo: String? = nil,
        isEdited: Bool = false,
        attachments: [Attachment] = [],
    ) {
        self.attachments = attachments
        self.replyTo = replyTo
        self.isEdited = isEdited
        self.key = key
        self.at = at
        self.by = by
        self.body = body
    }

    /// Whether it comes before another one: by time, then by key.
    package func precedes(_ other: Entry) -> Bool {
        at == other.at ? key.utf8.lexicographicallyPrecedes(other.key.utf8) : at < other.at
    }

    /// The text; nil for an event or a deleted message.
    var text: String? {
        guard case .said(let text) = body else { return nil }
        return text
    }

    /// Whether it is a message, deleted or not.
    var isSaid: Bool { text != nil || body == .deleted }
}

extension Entry: ThreadEntry {
    package var serverTime: Date? { at }
    package var speaker: String? { isSaid ? by : nil }
}

/// A message of this user that the server has not accepted yet.
package struct Outgoing: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        case pending
        /// Why it was not sent.
        case refused(String)
    }

    /// Identifies it in this run of the program.
    package let number: Int
    package let text: String
    /// The key of the entry that it answers.
    package var replyTo: String?
    package var state: State
    /// The entry that observers see of it while it is on its way.
    package var key: String?
}

/// A person whom the user follows.
package struct Acquaintance: Equatable, Sendable {
    package let username: String
    package let name: String

    package init(username: String, name: String) {
        self.username = username
        self.name = name
    }

    /// Whether username or name, or a word of it, begins with a text.
    func begins(with text: String) -> Bool {
        let text = text.lowercased()
        let words = [username, name] + name.split(separator: " ").map { String($0) }
        return words.contains { $0.lowercased().hasPrefix(text) }
    }
}

/// Whether the other one of a direct chat is there.
package enum Attendance: Equatable, Sendable {
    case online
    /// Since when not, by the server's clock.
    case away(Date)
    case unknown
}
