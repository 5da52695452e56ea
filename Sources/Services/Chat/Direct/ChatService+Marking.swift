internal import HearthDatabase
internal import Social

/// How far a direct chat is read. `RoomService.observeReadStatus(in:)` reports it, by the key of the chat.
extension ChatService {
    /// Marks a chat as read up to a message, and shows the other how far the user is.
    ///
    /// Later messages of the other member stay unread. The mark never moves back: a chat marked up to a later message
    /// keeps that mark. Without a connection this waits for one.
    ///
    /// - Throws: `ServiceError`: `notFound` when there is no such message.
    public func markRead(_ chatKey: String, upTo key: String) async throws {
        let (chat, key) = (try chatKey.key("chat"), try key.key("message"))
        let purpose = "mark this chat as read"
        var last: DirectChat?
        for attempt in 1...Self.attempts {
            let own = try await ownCopy(chat)
            // Nothing came in the meantime, so the count is not the reason for the refusal.
            let isSame = attempt > 1 && own?.lastMessageKey == last?.lastMessageKey
            last = own
            let (marked, _) = try await message(key, in: chat, to: purpose)
            let held = try await heldMark(chat, beside: own?.lastMessageKey == key ? nil : marked)
            var update: [String: Any] = [:]
            if held.map({ $0.precedes(marked) }) ?? true, !isSame {
                update["readStatus/\(chat)/\(me.uid)"] =
                    ["upTo": key, "at": ServerValue.timestamp()] as [String: Any]
            }
            if let own {
                let from = held.map { $0.precedes(marked) ? marked : $0 } ?? marked
                let isLatest = from.key == own.lastMessageKey
                let unread = isLatest ? 0 : try await unread(in: chat, after: from)
                if unread != own.unread {
                    update["chats/\(me.uid)/\(chat)/unread"] = unread
                    // Refused when another message has come: another count is right then.
                    update["chats/\(me.uid)/\(chat)/lastMessageKey"] = own.lastMessageKey
                }
            }
            if update.isEmpty { return }
            if try await database.accepts(update, to: purpose) { return }
            if isSame { break }
        }
        throw ServiceError.refused(purpose)
    }

    /// The message that the user has read up to, if another may be later; nil when there is none.
    private func heldMark(
        _ chat: String,
        beside marked: Message?,
    ) async throws(ServiceError) -> Message? {
        // Nothing is behind the latest one.
        guard let marked else { return nil }
        return try await ServiceError.naming("see how far this chat is read") {
            let location = "readStatus/\(chat)/\(me.uid)/upTo"
            guard let key = try await database.serverData(location).value as? String else {
                return nil
            }
            if key == marked.key { return marked }
            return try await database.serverData("messages/\(chat)/\(try key.key("message"))")
                .recordIfPresent(as: Message.self)
        }
    }

    private func unread(in chat: String, after last: Message) async throws(ServiceError) -> Int {
        try await ServiceError.naming("read the messages of a chat") {
            let behind = database.reference(withPath: "messages/\(chat)").queryOrdered(
                byChild: "sentAt"
            )
            .queryStarting(afterValue: ServerTime.milliseconds(last.sentAt), childKey: last.key)
            let messages = try await database.serverData(of: behind).records(as: Message.self)
                .records
            return UnreadCount.of(messages, after: last, for: me.uid)
        }
    }
}
