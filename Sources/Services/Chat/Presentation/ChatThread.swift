public import Foundation

/// A direct chat or a room as a list shows it.
public struct ChatThread: Equatable, Identifiable, Sendable {
    /// The chat or room.
    public enum Source: Equatable, Sendable {
        /// A chat of two.
        case direct(DirectChat)
        /// A room.
        case room(RoomSummary)
    }

    /// The chat or room.
    public let source: Source
    /// The other's name, or the name of the room.
    public let title: String
    /// The address of the other's picture.
    public let picture: String?
    /// The latest message, on one line; one's own behind `You: `.
    public let lastText: String
    /// When that was, by the server's clock.
    public let time: Date
    /// Messages that were not read.
    public let unread: Int
    /// Whether the user has muted it.
    public let isMuted: Bool

    /// The key of the chat or of the room.
    public var key: String {
        switch source {
        case .direct(let chat): chat.key
        case .room(let room): room.key
        }
    }

    /// `direct/{key}` or `room/{key}`.
    public var id: String {
        switch source {
        case .direct: "direct/\(key)"
        case .room: "room/\(key)"
        }
    }

    /// Whether it comes before the other one in a list: newest first; at the same time, the greater `id` first.
    public func isNewer(than other: ChatThread) -> Bool {
        time == other.time ? other.id.utf8.lexicographicallyPrecedes(id.utf8) : time > other.time
    }
}
