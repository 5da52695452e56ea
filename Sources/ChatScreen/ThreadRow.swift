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

    package init(key: String, at: Date, by: String, body: Body) {
        self.key = key
        self.at = at
        self.by = by
        self.body = body
    }

    /// Whether it stands above another one: by time, and of one moment by key.
    package func precedes(_ other: Entry) -> Bool {
        at == other.at ? key.utf8.lexicographicallyPrecedes(other.key.utf8) : at < other.at
    }

    /// What was said; nil for what happened.
    var text: String? {
        guard case .said(let text) = body else { return nil }
        return text
    }
}

extension Entry: ThreadEntry {
    package var serverTime: Date? { at }
    package var speaker: String? { text == nil ? nil : by }
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
    package var state: State
    /// The entry that observers see of it while it is on its way.
    package var key: String?
}

/// Whether the other one of a direct chat is there.
package enum Attendance: Equatable, Sendable {
    case online
    /// Since when not, by the server's clock.
    case away(Date)
    case unknown
}
