import Social

/// A direct chat as `chats/{uid}/{chat}` has it.
struct DirectEntry: Record {
    let news: ThreadNews

    init(key _: String, stored: Fields) throws {
        let message: String = try stored.value("lastMessage")
        // A username has no colon: it is the text before the first one.
        let end = message.firstRange(of: ": ")
        news = ThreadNews(
            kind: .direct,
            title: try stored.value("title"),
            text: end.map { String(message[$0.upperBound...]) } ?? message,
            sender: end.map { String(message[..<$0.lowerBound]) } ?? "",
            at: try stored.milliseconds("lastMessageAt"),
            messageKey: try stored.value("lastMessageKey"),
            unread: try stored.unread()
        )
    }
}

/// A room as `userRooms/{uid}/{room}` has it.
struct RoomEntry: Record {
    let news: ThreadNews

    init(key _: String, stored: Fields) throws {
        let at = try stored.milliseconds("lastEventAt")
        news = ThreadNews(
            kind: .room,
            title: try stored.value("name"),
            text: try stored.value("lastEventText"),
            sender: nil,
            at: at,
            messageKey: "\(at)",
            unread: try stored.unread(isRequired: true)
        )
    }
}

/// The value at `pushed/{recipient}/{thread}`.
struct PushedEntry: Record {
    let record: PushRecord

    init(key _: String, stored: Fields) throws {
        guard let state = PushRecord.State(rawValue: try stored.value("state")) else {
            throw Nonsense("a push has a state and times")
        }
        record = PushRecord(
            id: try stored.value("id"),
            at: try stored.milliseconds("at"),
            claimedAt: try stored.milliseconds("claimedAt"),
            state: state,
            unread: try stored.unread(),
            body: try stored.optional("body")
        )
    }
}

extension Fields {
    fileprivate func milliseconds(_ name: String) throws -> Int64 {
        guard let milliseconds = Int64(exactly: try time(name).rounded()) else {
            throw Nonsense("\(name): it is no time")
        }
        return milliseconds
    }

    /// The unread count, 0 to a million; nil where none is kept.
    fileprivate func unread(isRequired: Bool = false) throws -> Int? {
        let count: Double? = try isRequired ? value("unread") : optional("unread")
        return count.map { Int(min(max($0, 0), 1_000_000).rounded(.up)) }
    }
}
