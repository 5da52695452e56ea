import Records

/// A direct chat as `chats/{uid}/{chat}` has it.
struct DirectEntry: Record {
    struct Stored: Decodable {
        let title: String
        let lastMessage: String
        let lastMessageAt: Double
        let lastMessageKey: String
    }

    let key: String
    let news: ThreadNews

    init(key: String, stored: Stored) throws {
        guard let at = Int64(exactly: stored.lastMessageAt.rounded()) else {
            throw Nonsense("lastMessageAt: it is no time")
        }
        // A username has no colon: what comes before the first one is all of it.
        let end = stored.lastMessage.firstRange(of: ": ")
        self.key = key
        news = ThreadNews(
            kind: .direct,
            title: stored.title,
            text: end.map { String(stored.lastMessage[$0.upperBound...]) } ?? stored.lastMessage,
            sender: end.map { String(stored.lastMessage[..<$0.lowerBound]) } ?? "",
            at: at,
            messageKey: stored.lastMessageKey,
            unread: nil
        )
    }
}

/// A room as `userRooms/{uid}/{room}` has it.
struct RoomEntry: Record {
    struct Stored: Decodable {
        let name: String
        let lastEventText: String
        let lastEventAt: Double
        let unread: Double
    }

    let key: String
    let news: ThreadNews

    init(key: String, stored: Stored) throws {
        guard let at = Int64(exactly: stored.lastEventAt.rounded()) else {
            throw Nonsense("lastEventAt: it is no time")
        }
        self.key = key
        news = ThreadNews(
            kind: .room,
            title: stored.name,
            text: stored.lastEventText,
            sender: nil,
            at: at,
            messageKey: "\(at)",
            unread: Int(min(max(stored.unread, 0), 1_000_000).rounded(.up))
        )
    }
}

/// What `pushed/{recipient}/{thread}` holds.
struct PushedEntry: Record {
    struct Stored: Decodable {
        let id: String
        let at: Double
        let claimedAt: Double
        let state: String
        let unread: Double?
        let body: String?
    }

    let key: String
    let record: PushRecord

    init(key: String, stored: Stored) throws {
        guard let state = PushRecord.State(rawValue: stored.state),
            let at = Int64(exactly: stored.at.rounded()),
            let claimedAt = Int64(exactly: stored.claimedAt.rounded())
        else { throw Nonsense("a push has a state and times") }
        self.key = key
        record = PushRecord(
            id: stored.id,
            at: at,
            claimedAt: claimedAt,
            state: state,
            unread: stored.unread.map { Int(min(max($0, 0), 1_000_000).rounded(.up)) },
            body: stored.body
        )
    }
}
