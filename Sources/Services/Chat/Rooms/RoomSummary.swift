public import Foundation
import Social

/// A room as the list of one member shows it: `userRooms/{uid}/{r}`.
public struct RoomSummary: Equatable, Sendable {
    /// The key of the room.
    public let key: String
    /// The name of the room.
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
    package init(key: String, stored: Fields) throws {
        self.key = key
        name = try stored.text("name")
        lastEventText = try stored.value("lastEventText")
        lastEventMilliseconds = try stored.time("lastEventAt")
        unread = try stored.count("unread")
    }
}
