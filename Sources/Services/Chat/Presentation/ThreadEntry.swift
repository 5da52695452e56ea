public import Foundation

/// An entry of a chat: a message, or a note of an event.
public protocol ThreadEntry: Sendable {
    /// Its key; of two of one moment it decides the order.
    var key: String { get }
    /// When the server had it; nil while it is on its way.
    var serverTime: Date? { get }
    /// The sender's account; nil for a note.
    var speaker: String? { get }
}

extension Message: ThreadEntry {
    /// Always there.
    public var serverTime: Date? { sentAt }
    /// The sender.
    public var speaker: String? { sender.uid }
}

extension OutgoingMessage: ThreadEntry {
    /// Not known before the server has it.
    public var serverTime: Date? { nil }
    /// Who says it.
    public var speaker: String? { sender.uid }
}

extension RoomEvent: ThreadEntry {
    /// Always there.
    public var serverTime: Date? { at }
    /// The sender of a message; nil for other events.
    public var speaker: String? {
        switch content {
        case .message, .deletedMessage: by
        case .createdChat, .addedUser, .userLeft, .renamedChat: nil
        }
    }
}
