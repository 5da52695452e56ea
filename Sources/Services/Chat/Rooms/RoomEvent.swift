public import Attachments
public import Foundation
import HearthDatabase
import Social

/// Something that happened in a room: `roomEvents/{r}/{key}`.
public struct RoomEvent: Hashable, Sendable {
    /// The kinds of events.
    public enum Content: Hashable, Sendable {
        /// A message.
        case message(Message)
        /// A deleted message, and the account that deleted it.
        case deletedMessage(by: String)
        /// The room was made.
        case createdChat
        /// An account came in: by itself if it is that of `by`, else it was brought in.
        case addedUser(String)
        /// An account left: by itself if it is that of `by`, else it was removed.
        case userLeft(String)
        /// The room is called so from here on.
        case renamedChat(String)
    }

    /// The content of a message: a text, a picture, a location, or several of them.
    public struct Message: Hashable, Sendable {
        /// 1 to 4,000 characters.
        public let text: String?
        /// The address of a picture, 1 to 2,000 characters.
        public let picture: String?
        /// A location on Earth.
        public let location: Location?
        /// How it looks.
        public let style: Style?
        /// The key of the event of this room that it answers.
        public let replyTo: String?
        /// When its text was changed last, by the server's clock.
        public let editedAt: Date?
        /// Its files. A message with files and no other text has their titles as its text.
        public let attachments: [Attachment]

        /// A message.
        ///
        /// - Throws: `ServiceError.invalid` if it says nothing, or something in it is too long or nowhere.
        public init(
            text: String? = nil,
            picture: String? = nil,
            location: Location? = nil,
            style: Style? = nil,
            replyTo: String? = nil,
            editedAt: Date? = nil,
            attachments: [Attachment] = [],
        ) throws {
            if text == nil, picture == nil, location == nil {
                let why = "a message has a text, a picture or a location"
                throw ServiceError.invalid(field: "text", why: why)
            }
            if let text {
                try ServiceError.checkLength(of: text, "text", ChatLimits.messageLength)
            }
            if let picture {
                try ServiceError.checkLength(of: picture, "picture", ChatLimits.pictureLength)
            }
            try location?.check()
            try style?.check()
            self.text = text
            self.picture = picture
            self.location = location
            self.style = style
            self.replyTo = replyTo
            self.editedAt = editedAt
            self.attachments = attachments
        }
    }

    /// The key; the room's own order of events is that of their positions.
    public let key: String
    /// The account that did it.
    public let by: String
    /// What happened.
    public let content: Content
    /// Where it is among the events of its room, which its time decides.
    public let position: EventPosition

    /// The server's time; of an event that is on its way a guess.
    public var at: Date { position.date }

    /// An event as a test or a preview needs it; those of a room come from `RoomService`.
    public init(position: EventPosition, by: String, content: Content) {
        key = position.key
        self.by = by
        self.content = content
        self.position = position
    }
}

/// Where an event is among those of its room: by the server's time, of one moment by key.
public struct EventPosition: Hashable, Sendable {
    /// Milliseconds since 1970, of the server's clock.
    public let milliseconds: Double
    /// The key of the event.
    public let key: String

    /// A position.
    public init(milliseconds: Double, key: String) {
        self.milliseconds = milliseconds
        self.key = key
    }

    /// The moment.
    public var date: Date { Date(timeIntervalSince1970: milliseconds / 1000) }
}

extension EventPosition: Comparable {
    /// Whether the left one is before the right one.
    public static func < (left: EventPosition, right: EventPosition) -> Bool {
        if left.milliseconds != right.milliseconds { return left.milliseconds < right.milliseconds }
        return left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
    }
}

extension RoomEvent.Message {
    /// The stored form of a new event, without the fields that every event has.
    var stored: [String: Any] {
        var stored: [String: Any] = [:]
        stored["text"] = text
        stored["picture"] = picture
        stored["location"] = location?.stored
        stored["style"] = style?.stored
        stored["replyTo"] = replyTo
        stored["attachments"] = Attachment.stored(attachments)
        return stored
    }
}

extension RoomEvent.Content {
    var kind: String {
        switch self {
        case .message, .deletedMessage: "message"
        case .createdChat: "createdChat"
        case .addedUser: "addedUser"
        case .userLeft: "userLeft"
        case .renamedChat: "renamedChat"
        }
    }

    /// As it is in the tree, flat, without who and when.
    var stored: [String: Any] {
        var stored: [String: Any] =
            switch self {
            case .message(let message): message.stored
            case .deletedMessage(let uid): ["deletedBy": uid, "deletedAt": ServerValue.timestamp()]
            case .createdChat: [:]
            case .addedUser(let uid), .userLeft(let uid): ["target": uid]
            case .renamedChat(let name): ["name": name]
            }
        stored["kind"] = kind
        return stored
    }
}
