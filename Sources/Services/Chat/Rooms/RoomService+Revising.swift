import Attachments
import Foundation
import HearthDatabase
import Social

extension RoomService {
    /// Changes the text of a message that this user has sent to 1 to 4,000 characters, and marks it: `editedAt`.
    ///
    /// - Throws: `refused` if the user did not send it or may not write there any more, `notFound` when there is no
    ///   such message or it has no text.
    public func edit(_ event: String, to text: String, in room: String) async throws {
        try ServiceError.checkLength(of: text, "text", ChatLimits.messageLength)
        let (room, event) = (try room.key("room"), try event.key("event"))
        let purpose = "change this message"
        guard case .message(let said) = try await self.event(event, in: room, to: purpose).content,
            said.text != nil
        else { throw ServiceError.notFound("text that could be changed") }
        try await change(room, to: purpose) { known in
            var update = RoomUpdate(of: room)
            let locations = ["roomEvents/\(room)/\(event)", "rooms/\(room)/lastEvent"]
            let isLatest = known.lastEvent.key == event
            for location in locations.prefix(isLatest ? 2 : 1) {
                update["\(location)/text"] = text
                update["\(location)/editedAt"] = ServerValue.timestamp()
            }
            if isLatest { update.setListText(text, of: known.people) }
            return update
        }
    }

    /// Deletes a message and its files: its sender and time stay, with the account that deleted it. Allowed for its sender and
    /// owners, and for admins unless an owner or admin sent it.
    ///
    /// - Throws: `refused` if the user may not do it, `notFound` when there is no such message. A deleted message
    ///   stays deleted.
    public func delete(_ event: String, in room: String) async throws {
        let (room, event) = (try room.key("room"), try event.key("event"))
        let purpose = "delete this message"
        let known = try await self.event(event, in: room, to: purpose)
        var folder: AttachmentFolder?
        switch known.content {
        case .message(let said):
            if !said.attachments.isEmpty { folder = .room(room, event) }
        case .deletedMessage: return
        case .createdChat, .addedUser, .userLeft, .renamedChat:
            throw ServiceError.notFound("message with this key")
        }
        let content = RoomEvent.Content.deletedMessage(by: me.uid)
        var stored = content.stored
        stored["kind"] = content.kind
        stored["by"] = known.by
        stored["at"] = known.position.milliseconds
        let summary = RoomText.of(content, by: me.username, target: nil)
        do throws(ServiceError) {
            try await change(room, to: purpose) { [stored] known in
                var update = RoomUpdate(of: room)
                if let folder { update[attachments.path(folder)] = attachments.removal(folder) }
                update["roomEvents/\(room)/\(event)"] = stored
                guard known.lastEvent.key == event else { return update }
                update["rooms/\(room)/lastEvent"] = stored.merging(["key": event]) { $1 }
                update.setListText(summary, of: known.people)
                return update
            }
        } catch {
            // A message that another user has deleted, or a deletion sent twice after a cut, is done.
            guard case .refused = error,
                case .deletedMessage = try await self.event(event, in: room, to: purpose).content
            else { throw error }
        }
        if let folder { await attachments.removeDeleted(folder) }
    }

    private func event(
        _ key: String,
        in room: String,
        to purpose: String,
    ) async throws(ServiceError) -> RoomEvent {
        try await ServiceError.naming(purpose) {
            let snapshot = try await database.serverData("roomEvents/\(room)/\(key)")
            guard snapshot.exists() else { throw ServiceError.notFound("message with this key") }
            return try snapshot.record(as: RoomEvent.self)
        }
    }
}

extension RoomUpdate {
    fileprivate mutating func setListText(_ text: String, of people: [String]) {
        for member in people { self["userRooms/\(member)/\(room)/lastEventText"] = text }
    }
}
