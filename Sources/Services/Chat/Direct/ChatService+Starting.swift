internal import HearthDatabase
internal import Social

extension ChatService {
    /// The state of a key that a chat of two people may have.
    private enum Claim {
        case free
        case ours
        case theirs
    }

    /// Starts a chat with its first message, or says it in the chat that there is.
    ///
    /// If both people start the chat at the same time, there is one chat: its key is derived from the two uids. If
    /// strangers have taken a key, both use the next derived one. Fails without a connection. The message has 1 to
    /// 4,000 UTF-16 units, and the user follows the other. Returns the user's copy of the chat.
    ///
    /// - Throws: `ServiceError`: `refused` when the user does not follow the other, or is blocked.
    @discardableResult
    public func create(from content: String, with other: UserProfile) async throws -> DirectChat {
        guard other.uid != me.uid else {
            throw ServiceError.invalid(field: "uid", why: "a chat needs another person")
        }
        try ServiceError.checkLength(of: content, "content", ChatLimits.messageLength)
        if let chat = try await checkForExistingChat(with: other) {
            try await sendMessage(content, for: chat)
            return try await startedChat(chat.key)
        }
        for key in MemberHash.keys(of: me.uid, other.uid) {
            let draft = try draft(content, to: other.uid, chatKey: key)
            if try await isStarted(draft, with: other) { return try await startedChat(key) }
        }
        throw ServiceError.taken("each key of a chat with \(other.username)")
    }

    /// The user's chat with a person; nil when there is none, or the user has deleted their copy.
    public func checkForExistingChat(with other: UserProfile) async throws -> DirectChat? {
        let query = database.reference(withPath: "chats").child(try me.uid.key("uid"))
            .queryOrdered(byChild: "memberHash")
            .queryEqual(toValue: MemberHash.of(me.uid, other.uid))
        let listing = try await query.read(to: "look for a chat with \(other.username)")
            .records(as: DirectChat.self)
        // The starter of a chat can write any hash, so its members decide whose chat it is.
        let ours = listing.records.filter { $0.member(beside: me.uid) == other.uid }
        let keys = MemberHash.keys(of: me.uid, other.uid)
        return keys.lazy.compactMap { key in ours.first { $0.key == key } }.first ?? ours.first
    }

    /// Starts a chat under the draft's key; false when strangers have it.
    private func isStarted(
        _ draft: MessageDraft,
        with other: UserProfile,
    ) async throws(ServiceError) -> Bool {
        var draft = draft
        var claim = try await claim(of: draft)
        // The second time with the name that the user has now.
        for attempt in 1...2 where claim == .free {
            let copy = MessageDraft.Copy.whole(
                title: DirectChat.title(draft.username, other.username)
            )
            if try await isTaken(draft, own: copy, other: copy, isClaiming: true) { return true }
            let old = draft.username
            draft = try await refreshed(draft)
            claim = try await self.claim(of: draft)
            if claim == .free, attempt == 2 || draft.username == old {
                throw .refused("start a chat with \(other.username)")
            }
        }
        guard claim == .ours else { return false }
        let title = DirectChat.title(draft.username, other.username)
        let hasCopy = try await ownCopy(draft.chatKey) != nil
        try await deliver(draft, own: hasCopy ? .touched : .whole(title: title))
        return true
    }

    private func claim(of draft: MessageDraft) async throws(ServiceError) -> Claim {
        do {
            let pair = try await database.serverData("pairs/\(draft.chatKey)")
            guard pair.exists() else { return .free }
            let other = pair.childSnapshot(forPath: me.uid).value as? String
            return other == draft.receiver ? .ours : .theirs
        } catch DatabaseError.permissionDenied {
            return .theirs
        } catch {
            throw ServiceError(error, purpose: "start a chat")
        }
    }

    /// The own copy of a chat, into which this client has just written.
    private func startedChat(_ key: String) async throws -> DirectChat {
        try await ServiceError.naming("look at a chat") {
            try await database.serverData("chats/\(me.uid)/\(key)").record(as: DirectChat.self)
        }
    }
}
