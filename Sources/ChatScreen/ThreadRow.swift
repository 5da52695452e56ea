import Chat
package import Foundation

/// A direct chat or a room, by its key.
package enum ThreadID: Hashable, Sendable {
    case direct(String)
    case room(String)
    /// Somebody, by account, with whom there is no chat before something is said.
    case person(String)
}

/// A thread as the list shows it.
package struct ThreadRow: Equatable, Sendable {
    package let id: ThreadID
    package let title: String
    /// What was said or happened last; empty when nothing was.
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

/// Something that was said, or happened, in a thread.
package struct Entry: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        case said(String)
        /// It was said, and deleted.
        case deleted
        case created
        /// An account came in, or was brought in.
        case came(String)
        /// An account went, or was put out.
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

    package init(
        key: String,
        at: Date,
        by: String,
        body: Body,
        replyTo: String? = nil,
        isEdited: Bool = false,
    ) {
        self.replyTo = replyTo
        self.isEdited = isEdited
        self.key = key
        self.at = at
        self.by = by
        self.body = body
    }

    /// Whether it stands above another one: by time, and of one moment by key.
    package func precedes(_ other: Entry) -> Bool {
        at == other.at ? key.utf8.lexicographicallyPrecedes(other.key.utf8) : at < other.at
    }

    /// What was said; nil for what happened, and for what is deleted.
    var text: String? {
        guard case .said(let text) = body else { return nil }
        return text
    }

    /// Whether somebody says it, or did.
    var isSaid: Bool { text != nil || body == .deleted }
}

extension Entry: ThreadEntry {
    package var serverTime: Date? { at }
    package var speaker: String? { isSaid ? by : nil }
}

/// Something that this user has said and the server has not taken yet.
package struct Outgoing: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        case pending
        /// Why it was not sent.
        case refused(String)
    }

    /// Tells it from others of this run of the program.
    package let number: Int
    package let text: String
    /// The key of the entry that it answers.
    package var replyTo: String?
    package var state: State
    /// The entry that observers see of it while it is on its way.
    package var key: String?
}

/// Somebody whom the user follows.
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
