public import Foundation

/// What a chat shows below one another: a message, or a note of what happened.
public protocol ThreadEntry: Sendable {
    /// Its key; of two of one moment it decides the order.
    var key: String { get }
    /// When the server had it; nil while it is on its way.
    var serverTime: Date? { get }
    /// The account that says it; nil of a note, which nobody says.
    var speaker: String? { get }
}

extension Message: ThreadEntry {
    /// Always there.
    public var serverTime: Date? { sentAt }
    /// Who said it.
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
    /// Who said a message; nobody says what else happens.
    public var speaker: String? {
        switch content {
        case .message, .deletedMessage: by
        case .createdChat, .addedUser, .userLeft, .renamedChat: nil
        }
    }
}
