public import Foundation
import Records

/// A room as the list of one member shows it: `userRooms/{uid}/{r}`.
public struct RoomSummary: Equatable, Sendable {
    /// The key of the room.
    public let key: String
    /// What the room is called.
    public let name: String
    /// The text of the latest event; of one without text a few words about it.
    public let lastEventText: String
    /// When that was, in milliseconds since 1970 of the server's clock.
    public let lastEventMilliseconds: Double
    /// Events by others since the member has read the room last.
    public let unread: Int

    /// When the latest event was, by the server's clock.
    public var lastEventAt: Date { Date(timeIntervalSince1970: lastEventMilliseconds / 1000) }

    /// A room in a list.
    public init(
        key: String,
        name: String,
        lastEventText: String,
        lastEventMilliseconds: Double,
        unread: Int,
    ) {
        self.key = key
        self.name = name
        self.lastEventText = lastEventText
        self.lastEventMilliseconds = lastEventMilliseconds
        self.unread = unread
    }
}

extension RoomSummary: Record {
    package struct Stored: Decodable {
        let name: String
        let lastEventText: String
        let lastEventAt: Double
        let unread: Int
    }

    package init(key: String, stored: Stored) throws {
        guard !stored.name.isEmpty else { throw Nonsense("name: it is empty") }
        guard stored.lastEventAt.isFinite else { throw Nonsense("lastEventAt: it is no time") }
        guard stored.unread >= 0 else { throw Nonsense("unread: it is below 0") }
        self.init(
            key: key,
            name: stored.name,
            lastEventText: stored.lastEventText,
            lastEventMilliseconds: stored.lastEventAt,
            unread: stored.unread,
        )
    }
}
