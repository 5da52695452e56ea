internal import Foundation
internal import HearthDatabase
public import Records

extension ChatService {
    /// Tells of the messages of a chat: of each that is there, oldest first, and then of what comes.
    ///
    /// Called on `database.callbackQueue`, as is `withCancel`, at most once, when the rules do not allow it (any
    /// more). A message that this client has written is told of at once, changes when the server's time of it is
    /// known, and goes if it is refused.
    /// - Parameters:
    ///   - chatKey: The chat.
    ///   - newest: Begin with so many of the newest ones; nil: with all. It does not count with `last`.
    ///   - last: Only messages that came after this one; those of its very millisecond are told of again. What becomes of
    ///     older ones is not told.
    ///   - block: Gets each event.
    ///   - cancelBlock: Gets why there will be no more.
    /// - Returns: The observer; nothing arrives after its `remove()`.
    public func observeMessages(
        forChatKey chatKey: String,
        newest: UInt? = nil,
        after last: Message? = nil,
        with block: @escaping @Sendable (MessageEvent) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        let messages = database.reference(withPath: "messages").child(chatKey)
        let feed = MessageFeed(messages, after: last, block, cancelBlock)
        return feed.start(newest: last == nil ? newest : nil)
    }

    /// A page of the messages before one, oldest first.
    ///
    /// - Parameters:
    ///   - chatKey: The chat.
    ///   - first: The oldest message that is held; nil: the page of the newest ones.
    ///   - count: The most to get.
    /// - Returns: No records when there are none that are older.
    /// - Throws: `ServiceError`.
    public func olderMessages(
        forChatKey chatKey: String,
        before first: Message?,
        count: UInt = UInt(ChatLimits.pageSize),
    ) async throws -> Listing<Message> {
        let messages = database.reference(withPath: "messages").child(try chatKey.key("chat"))
            .queryOrdered(byChild: "sentAt")
        var end = first.map { (time: ServerTime.milliseconds($0.sentAt), key: Optional($0.key)) }
        var page = Listing<Message>()
        while true {
            let bounded = end.map { messages.queryEnding(beforeValue: $0.time, childKey: $0.key) }
            let query = (bounded ?? messages).queryLimited(toLast: max(count, 1))
            let snapshot = try await ServiceError.naming("read the messages of a chat") {
                try await query.getData()
            }
            let found = snapshot.records(as: Message.self)
            page.records = found.records
            page.faults = found.faults + page.faults
            // A page of nothing but faults is not the end.
            guard found.records.isEmpty, snapshot.childrenCount > 0 else { return page }
            guard let next = Self.end(before: snapshot, end?.time) else { return page }
            end = next
        }
    }

    /// Where the page before one of nothing but faults ends; nil when no time comes before it.
    private static func end(
        before snapshot: DataSnapshot,
        _ end: Double?,
    ) -> (time: Double, key: String?)? {
        guard let oldest = snapshot.children.nextObject() as? DataSnapshot else { return nil }
        if let time = oldest.number(in: "sentAt") { return (time, oldest.key) }
        // Texts and maps sort behind all times, and what is missing before them.
        return end == nil ? (ServerTime.greatest, nil) : nil
    }

    /// Deletes the user's copy of a chat; the other keeps theirs, and the next message brings it back.
    ///
    /// - Throws: `ServiceError`.
    public func delete(_ chat: DirectChat) async throws {
        let copy = database.reference(withPath: "chats").child(try me.uid.key("uid"))
            .child(try chat.key.key("chat"))
        try await ServiceError.naming("delete a chat") { try await copy.removeValue() }
    }

    /// One chat of the user; nil when there is none, or the user has deleted their copy.
    ///
    /// - Throws: `ServiceError`: `faulty` when what is there is no chat.
    public func show(forChatKey chatKey: String) async throws -> DirectChat? {
        let copy = database.reference(withPath: "chats").child(try me.uid.key("uid"))
            .child(try chatKey.key("chat"))
        return try await ServiceError.naming("look at a chat") {
            let snapshot = try await copy.getData()
            return snapshot.exists() ? try snapshot.record(as: DirectChat.self) : nil
        }
    }
}
