internal import Attachments
internal import Foundation
internal import HearthDatabase
internal import Social

extension ChatService {
    private enum Revision {
        case content(String)
        case deletion

        var isDeletion: Bool { if case .deletion = self { true } else { false } }

        var purpose: String {
            switch self {
            case .content: "change this message"
            case .deletion: "delete this message"
            }
        }

        func shown(_ message: Message) -> String {
            switch self {
            case .content(let content): "\(message.sender.username): \(content)"
            case .deletion: "\(message.sender.username): message deleted"
            }
        }

        func fields(of message: Message, at location: String, seconds: Any) -> [String: Any] {
            switch self {
            case .content(let content):
                ["\(location)/content": content, "\(location)/editedAt": ServerValue.timestamp()]
            case .deletion:
                [
                    location: [
                        "timestamp": seconds,
                        "sentAt": ServerTime.milliseconds(message.sentAt),
                        "sender": ["uid": message.sender.uid, "username": message.sender.username],
                        "deletedAt": ServerValue.timestamp(),
                    ] as [String: Any]
                ]
            }
        }

        func isDone(_ message: Message) -> Bool {
            switch self {
            case .content(let content): message.content == content
            case .deletion: message.isDeleted
            }
        }
    }

    /// Changes the content of a message that the user has sent to 1 to 4,000 UTF-16 units, and marks it: `editedAt`.
    ///
    /// - Throws: `ServiceError`: `refused` for another's message, and when the other has blocked the user; `notFound`
    ///   for one that is deleted.
    public func edit(_ message: String, to content: String, in chat: DirectChat) async throws {
        try ServiceError.checkLength(of: content, "content", ChatLimits.messageLength)
        try await revise(try message.key("message"), .content(content), in: chat)
    }

    /// Deletes a message of the user and its files: its sender and time stay. A deleted message stays deleted.
    ///
    /// - Throws: `ServiceError`: `refused` for another's message.
    public func delete(_ message: String, in chat: DirectChat) async throws {
        try await revise(try message.key("message"), .deletion, in: chat)
    }

    private func revise(
        _ key: String,
        _ revision: Revision,
        in chat: DirectChat,
    ) async throws(ServiceError) {
        guard let other = chat.member(beside: me.uid) else {
            throw .invalid(field: "chat", why: "it is not one of yours")
        }
        var last: (message: Message, latest: String?)?
        for _ in 1...Self.attempts {
            let (message, seconds) = try await message(key, in: chat.key, to: revision.purpose)
            if revision.isDone(message) { return }
            guard !message.isDeleted else { throw .notFound("message any more") }
            guard message.sender.uid == me.uid else { break }
            let own = try await ownCopy(chat.key)
            let latest =
                if let own { own.lastMessageKey } else { try await latestMessage(in: chat.key) }
            // The same is refused again.
            if let last, last == (message, latest) { break }
            last = (message, latest)
            let shown = revision.shown(message)
            let folder = AttachmentFolder.direct(chat.key, key)
            let hasFiles = revision.isDeletion && !message.attachments.isEmpty
            let copies = (own == nil ? [] : [me.uid])
            // Only the other member sees whether they have a copy.
            for copies in latest == key ? [copies + [other], copies] : [[]] {
                let location = "messages/\(chat.key)/\(key)"
                var update = revision.fields(of: message, at: location, seconds: seconds)
                for uid in copies { update["chats/\(uid)/\(chat.key)/lastMessage"] = shown }
                if hasFiles { update[attachments.path(folder)] = attachments.removal(folder) }
                guard try await database.accepts(update, to: revision.purpose) else { continue }
                if hasFiles { await attachments.removeDeleted(folder) }
                return
            }
        }
        throw .refused(revision.purpose)
    }

    /// A message as the server has it, and its seconds, which a `Date` does not hold exactly.
    func message(
        _ key: String,
        in chat: String,
        to purpose: String,
    ) async throws(ServiceError) -> (Message, seconds: Any) {
        try await ServiceError.naming(purpose) {
            let snapshot = try await database.serverData("messages/\(chat)/\(key)")
            guard snapshot.exists() else { throw ServiceError.notFound("message with this key") }
            let seconds = snapshot.childSnapshot(forPath: "timestamp").value
            return (try snapshot.record(as: Message.self), seconds ?? 0)
        }
    }

    private func latestMessage(in chat: String) async throws(ServiceError) -> String? {
        try await ServiceError.naming("read the messages of a chat") {
            let newest = database.reference(withPath: "messages/\(chat)")
                .queryOrdered(byChild: "sentAt").queryLimited(toLast: 1)
            return
                (try await database.serverData(of: newest).children.nextObject() as? DataSnapshot)?
                .key
        }
    }
}
