public import Attachments
import Foundation
import Social

extension RoomService {
    /// Sends files, each with a smaller picture beside it if it is a large PNG, as one message.
    ///
    /// They are uploaded first, then the message names them; if that fails, none of it stays, and after a cut
    /// `mend` removes what came. Without a text the message has the titles of the files. `progress` is called on the
    /// callback queue of the app's files. Owners, admins and members may send. Returns the key of the event.
    ///
    /// - Throws: `invalid` for files that cannot be sent, `refused` if the user may not write there, `files` when the
    ///   server does not take them.
    @discardableResult
    public func send(
        _ files: [AttachmentFile],
        text: String? = nil,
        replyingTo answered: String? = nil,
        to room: String,
        progress: AttachmentService.Progress? = nil,
    ) async throws -> String {
        let room = try room.key("room")
        let key = try newEventKey(in: room)
        let text = text ?? AttachmentFile.caption(files.map(\.title))
        try ServiceError.checkLength(of: text, "text", ChatLimits.messageLength)
        let answered = try answered?.key("event")
        let folder = AttachmentFolder.room(room, key)
        return try await attachments.send(files, to: folder, progress) { attachments in
            let message = try RoomEvent.Message(
                text: text,
                replyTo: answered,
                attachments: attachments
            )
            typings.end(in: room)
            try await tell(.message(message), key: key, in: room, to: "send to this room") {
                $1[self.attachments.path(folder)] = NSNull()
            }
            return key
        }
    }

    /// Gives a room a picture, of a PNG one of 300 points' width, in the place of the one that is there; nil takes it away.
    /// The bytes of the earlier one go; after a cut `AttachmentService.mend` removes what stays.
    ///
    /// Those may do it who may rename the room.
    /// - Throws: `refused` if the user may not, or when another has changed the picture in the meantime; `files` when the
    ///   server does not take it.
    public func setPicture(
        _ picture: AttachmentFile?,
        of room: String,
        progress: AttachmentService.Progress? = nil,
    ) async throws {
        let known = try await self.room(room)
        _ = try await attachments.replace(
            known.picture.map { .roomPicture(known.key, $0.key) },
            with: picture,
            at: { .roomPicture(known.key, $0) },
            progress,
            purpose: "change the picture of this room",
            naming: { key, url in
                guard let key, let url else { return ["rooms/\(known.key)/picture": NSNull()] }
                return ["rooms/\(known.key)/picture": ["key": key, "url": url.absoluteString]]
            },
        )
    }
}
