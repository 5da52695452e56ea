public import HearthDatabase
internal import Foundation
internal import HearthCore

/// Direct chats, as the signed-in user `me`.
///
/// Each member of a chat has a copy of it. Sending a message is one update: the message, and its summary in both
/// copies. The rules decide who may do what; the service checks the rules' limits before it sends anything.
/// Operations throw `ServiceError`.
public struct ChatService: Sendable {
    /// Where the chats are.
    public let database: Database
    /// Who acts, as they were when the service was made.
    public let me: UserProfile

    let name: CurrentName

    /// How often a refused message is looked into, if each time something else is found to have changed.
    static let attempts = 5

    /// The chats of `me`, whom the app of the database is signed in as. A refusal shows if their username has changed
    /// elsewhere.
    public init(database: Database, me: UserProfile) {
        self.database = database
        self.me = me
        name = CurrentName(me.username)
    }

    // MARK: Sending

    /// Says something in a chat.
    ///
    /// Observers of this client see it at once; if the rules refuse it, they see it go again. A refusal is
    /// looked into: when the username has changed, or a copy of the chat is gone, the same message is sent as
    /// that needs it. Without a connection this waits for one.
    ///
    /// The content has 1 to 4,000 UTF-16 units; `answered` is the key of the message of this chat that it answers.
    /// Returns the key of the message.
    /// - Throws: `ServiceError`: `refused` when the rules do not allow it, as when the other has blocked the user.
    @discardableResult
    public func sendMessage(
        _ content: String,
        for chat: DirectChat,
        replyingTo answered: String? = nil,
    ) async throws -> String {
        let draft = try draft(content, for: chat, replyingTo: answered)
        try await deliver(draft, own: .touched)
        return draft.key
    }

    /// A message for a chat, with a key of its own; nothing is sent yet.
    func draft(
        _ content: String,
        for chat: DirectChat,
        replyingTo answered: String? = nil,
    ) throws(ServiceError) -> MessageDraft {
        guard let receiver = chat.member(beside: me.uid) else {
            throw .invalid(field: "chat", why: "it is not one of yours")
        }
        return try draft(content, to: receiver, chatKey: chat.key, replyingTo: answered)
    }

    /// A message for a person, with a new key; nothing is sent yet.
    func draft(
        _ content: String,
        to receiver: String,
        chatKey: String,
        replyingTo answered: String? = nil,
    ) throws(ServiceError) -> MessageDraft {
        try ServiceError.checkLength(of: content, "content", ChatLimits.messageLength)
        return MessageDraft(
            chatKey: try chatKey.key("chat"),
            key: database.reference().childByAutoId().key ?? "",
            content: content,
            replyTo: try answered?.key("message"),
            sentSeconds: SystemClock.date.timeIntervalSince1970,
            sender: me.uid,
            receiver: try receiver.key("uid"),
            username: name.value,
        )
    }

    /// Sends a message into an existing chat: first with the known data; then with the present name and own copy; then
    /// with the other's whole copy. If one of them changes in the meantime, once more. It is always the same message:
    /// one that has arrived is never sent twice. `own` is the known state of the own copy.
    func deliver(_ draft: MessageDraft, own: MessageDraft.Copy) async throws(ServiceError) {
        var draft = draft
        draft.username = name.value
        if try await isTaken(draft, own: own, other: .touched) { return }
        let other = try await username(of: draft.receiver)
        var last = (draft: draft, own: own)
        for attempt in 1...Self.attempts {
            let now = try await refreshed(draft)
            let title = DirectChat.title(now.username, other ?? draft.receiver)
            let copy: MessageDraft.Copy =
                try await ownCopy(draft.chatKey) == nil ? .whole(title: title) : .touched
            let isSame = now.username == last.draft.username && copy == last.own
            if isSame, attempt > 1 { break }
            if !isSame, try await isTaken(now, own: copy, other: .touched) { return }
            if try await isTaken(now, own: copy, other: .whole(title: title)) { return }
            last = (now, copy)
        }
        throw .refused("send a message to \(other ?? draft.receiver)")
    }

    /// The message under the name that the user has now.
    func refreshed(_ draft: MessageDraft) async throws(ServiceError) -> MessageDraft {
        var draft = draft
        draft.username = try await username(of: me.uid) ?? draft.username
        name.value = draft.username
        return draft
    }

    /// Writes it, and returns whether the server has it; false when the rules refused it. If the connection is lost
    /// before the answer, the SDK writes once more, and the rules refuse a message that exists: so a refusal counts
    /// only if the message is missing.
    func isTaken(
        _ draft: MessageDraft,
        own: MessageDraft.Copy,
        other: MessageDraft.Copy,
        isClaiming: Bool = false,
    ) async throws(ServiceError) -> Bool {
        let update = draft.update(own: own, other: other, isClaiming: isClaiming)
        if try await database.accepts(update, to: "send a message") { return true }
        return try await hasArrived(draft)
    }

    private func hasArrived(_ draft: MessageDraft) async throws(ServiceError) -> Bool {
        do {
            let snapshot = try await database.serverData(draft.location)
            return snapshot.childSnapshot(forPath: "sender/uid").value as? String == draft.sender
        } catch DatabaseError.permissionDenied {
            return false
        } catch {
            throw ServiceError(error, purpose: "look for a message")
        }
    }

    // MARK: Looking

    /// The own copy of a chat as the server has it; nil when there is none, or one that makes no sense.
    func ownCopy(_ chatKey: String) async throws(ServiceError) -> DirectChat? {
        let snapshot = try await ServiceError.naming("look at a chat") {
            try await database.serverData("chats/\(me.uid)/\(chatKey)")
        }
        do throws(RecordFault) {
            return try snapshot.record(as: DirectChat.self)
        } catch {
            return nil
        }
    }

    /// The username that an account has now; nil when it has no profile that makes sense.
    func username(of uid: String) async throws(ServiceError) -> String? {
        let snapshot = try await ServiceError.naming("look at a profile") {
            try await database.serverData("users/\(uid)/username")
        }
        return snapshot.value as? String
    }
}

/// The user's name as the server last took it, shared by the copies of a service.
final class CurrentName: Sendable {
    private let text: Mutex<String>

    init(_ text: String) { self.text = Mutex(text) }

    var value: String {
        get { text.withLock { $0 } }
        set { text.withLock { $0 = newValue } }
    }
}

extension Database {
    /// The server's data at a path; waits for a connection if there is none and nothing is known here.
    func serverData(_ path: String) async throws -> DataSnapshot {
        try await serverData(of: reference(withPath: path))
    }

    /// The result of a query, the same way.
    func serverData(of query: DatabaseQuery) async throws -> DataSnapshot {
        try await connected { try await query.getData() }
    }
}
