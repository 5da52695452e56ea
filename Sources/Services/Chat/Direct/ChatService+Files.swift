public import Attachments
import Social

extension ChatService {
    /// Sends files in a chat, each with a smaller picture beside it if it is a large PNG, as one message.
    ///
    /// They are uploaded first, then the message names them; if that fails, none of it stays, and after a cut
    /// `AttachmentService.mend` removes what came. Without a content the message has the titles of the files.
    /// `progress` is called on the callback queue of the app's files. Returns the key of the message.
    ///
    /// - Throws: `ServiceError`: `invalid` for files that cannot be sent, `refused` when the rules do not allow it,
    ///   `files` when the server does not take them.
    @discardableResult
    public func send(
        _ files: [AttachmentFile],
        content: String? = nil,
        for chat: DirectChat,
        replyingTo answered: String? = nil,
        progress: AttachmentService.Progress? = nil,
    ) async throws -> String {
        let content = content ?? AttachmentFile.caption(files.map(\.title))
        var draft = try draft(content, for: chat, replyingTo: answered)
        return try await attachments.send(files, to: draft.folder, progress) { attachments in
            draft.attachments = attachments
            try await deliver(draft, own: .touched)
            return draft.key
        }
    }

    var attachments: AttachmentService { AttachmentService(database: database, uid: me.uid) }
}
