internal import Foundation
internal import HearthDatabase
public import Social

extension ChatService {
    /// Reports the messages of a chat: the present ones, oldest first, and then new ones.
    ///
    /// Calls come on `database.callbackQueue`. `withCancel` is called at most once, when the rules deny access, now
    /// or later. A message that this client wrote is reported at once, changes when its server time is known, and is
    /// removed if the server refuses it. Nothing arrives after `remove()`.
    ///
    /// It begins with the `newest` messages; nil: with all. With `last`, it reports only messages after that one, those
    /// of the same millisecond again, and no changes of older ones; `newest` is ignored then.
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

    /// A page of the messages before `first`, oldest first; without `first`, the newest page.
    ///
    /// It has `count` messages at the most, and none when there are no older ones.
    public func olderMessages(
        forChatKey chatKey: String,
        before first: Message?,
        count: UInt = UInt(ChatLimits.pageSize),
    ) async throws -> Listing<Message> {
        try await database.reference(withPath: "messages").child(try chatKey.key("chat"))
            .queryOrdered(byChild: "sentAt")
            .page(
                before: first.map { (ServerTime.milliseconds($0.sentAt), $0.key) },
                by: "sentAt",
                count: max(count, 1),
                to: "read the messages of a chat",
            )
    }

    /// Deletes the user's copy of a chat; the other keeps theirs, and the next message brings it back.
    public func delete(_ chat: DirectChat) async throws {
        let copy = database.reference(withPath: "chats").child(try me.uid.key("uid"))
            .child(try chat.key.key("chat"))
        try await ServiceError.naming("delete a chat") { try await copy.removeValue() }
    }

    /// One chat of the user; nil when there is none, or the user has deleted their copy.
    ///
    /// - Throws: `ServiceError`: `faulty` when the stored value is not a chat.
    public func show(forChatKey chatKey: String) async throws -> DirectChat? {
        let copy = "chats/\(try me.uid.key("uid"))/\(try chatKey.key("chat"))"
        return try await database.record(copy, to: "look at a chat")
    }
}
