import Attachments
import Foundation
import Social

extension RoomEvent: Record {
    /// The flat form, in which any fields can occur together.
    package struct Stored: Decodable {
        /// In a room's copy of its latest event alone.
        let key: String?
        let kind: String
        let at: Double
        let by: String
        let text: String?
        let picture: String?
        let location: Location?
        let style: Style?
        let target: String?
        let name: String?
        let replyTo: String?
        let editedAt: Double?
        let deletedBy: String?
        /// In the event alone, not in a room's copy of it.
        let attachments: [String: Fields]?
    }

    package init(key: String, stored: Stored) throws {
        guard !stored.by.isEmpty else { throw Nonsense("by: it is empty") }
        guard stored.at.isFinite else { throw Nonsense("at: it is no time") }
        self.init(
            position: EventPosition(milliseconds: stored.at, key: key),
            by: stored.by,
            content: try Content(stored),
        )
    }
}

extension RoomEvent.Content {
    /// The meaning of the fields together.
    ///
    /// - Throws: `Nonsense` if they do not: something is missing, or there that belongs to another kind.
    fileprivate init(_ stored: RoomEvent.Stored) throws {
        switch stored.kind {
        case "message":
            if let uid = stored.deletedBy {
                try Self.check(stored, has: [])
                self = .deletedMessage(by: uid)
                return
            }
            try Self.check(
                stored,
                has: ["text", "picture", "location", "style", "replyTo", "attachments"]
            )
            let editedAt = try stored.editedAt.map {
                try ServerTime.date($0, field: "editedAt")
            }
            do {
                self = .message(
                    try RoomEvent.Message(
                        text: stored.text,
                        picture: stored.picture,
                        location: stored.location,
                        style: stored.style,
                        replyTo: stored.replyTo,
                        editedAt: editedAt,
                        attachments: try Attachment.all(in: stored.attachments),
                    )
                )
            } catch {
                throw Nonsense("\(error)")
            }
        case "createdChat":
            // The creation may contain the room's first name.
            try Self.check(stored, has: ["name"])
            self = .createdChat
        case "addedUser": self = .addedUser(try Self.target(stored))
        case "userLeft": self = .userLeft(try Self.target(stored))
        case "renamedChat":
            try Self.check(stored, has: ["name"])
            guard let name = stored.name, !name.isEmpty else {
                throw Nonsense("name: nothing is there")
            }
            self = .renamedChat(name)
        default: throw Nonsense("kind: nothing is called \(stored.kind)")
        }
    }

    private static func target(_ stored: RoomEvent.Stored) throws -> String {
        try check(stored, has: ["target"])
        guard let target = stored.target, !target.isEmpty else {
            throw Nonsense("target: nothing is there")
        }
        return target
    }

    private static func check(_ stored: RoomEvent.Stored, has own: Set<String>) throws {
        let fields: [(name: String, isThere: Bool)] = [
            ("text", stored.text != nil), ("picture", stored.picture != nil),
            ("location", stored.location != nil), ("style", stored.style != nil),
            ("target", stored.target != nil), ("name", stored.name != nil),
            ("replyTo", stored.replyTo != nil), ("attachments", stored.attachments != nil),
        ]
        guard let stray = fields.first(where: { $0.isThere && !own.contains($0.name) }) else {
            return
        }
        throw Nonsense("\(stray.name): it does not belong to \(stored.kind)")
    }
}
