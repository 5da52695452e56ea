internal import Foundation
internal import HearthDatabase
internal import Locks

/// Sends messages in the order in which they were written, and keeps what was refused.
///
/// One after another: the next one leaves when it is known what became of the one before, so that a message which
/// has to be sent a second time stays in its place. Without a connection they wait. Whatever happens to a message is
/// told once, on `database.callbackQueue`: that it is pending, then that it is sent, or refused and why.
///
/// Observers of this client see a message while it is under way; if it is refused, they see it go.
public final class Outbox: Sendable {
    private struct Entry {
        var message: OutgoingMessage
        var draft: MessageDraft
    }

    private struct State {
        /// Those that wait, the one under way first, and those that were refused.
        var entries: [Entry] = []
        var isSending = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let service: ChatService
    private let tell: @Sendable (OutgoingMessage) -> Void
    private let state = Mutex(State())

    /// An outbox with nothing in it.
    ///
    /// - Parameters:
    ///   - service: Sends.
    ///   - block: Gets each message when its state has become another.
    public init(_ service: ChatService, with block: @escaping @Sendable (OutgoingMessage) -> Void) {
        self.service = service
        tell = block
    }

    /// What is pending or was refused, in the order in which it was written.
    public var messages: [OutgoingMessage] { state.withLock { $0.entries.map(\.message) } }

    /// Takes a message, which may answer another of the chat by its key; returns at once.
    ///
    /// - Returns: The message as it waits.
    /// - Throws: `ServiceError.invalid` for what the rules would refuse; nothing is told of it.
    @discardableResult
    public func send(
        _ content: String,
        for chat: DirectChat,
        replyingTo answered: String? = nil,
    ) throws -> OutgoingMessage {
        let draft = try service.draft(content, for: chat, replyingTo: answered)
        let message = OutgoingMessage(
            key: draft.key,
            chatKey: draft.chatKey,
            content: content,
            sender: Message.Sender(uid: draft.sender, username: draft.username),
            timestamp: Date(timeIntervalSince1970: draft.sentSeconds),
            replyTo: draft.replyTo,
            state: .pending,
        )
        append(Entry(message: message, draft: draft))
        return message
    }

    /// Sends a message that was refused once more, behind all that wait; nothing for any other.
    public func retry(_ key: String) {
        guard var entry = takeRefused(key) else { return }
        entry.message.state = .pending
        append(entry)
    }

    /// Forgets a message that was refused; nothing for any other.
    public func discard(_ key: String) { _ = takeRefused(key) }

    /// Returns when nothing is pending any more.
    public func settled() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isSending { state.waiters.append(continuation) }
                return !state.isSending
            }
            if isIdle { continuation.resume() }
        }
    }

    private func takeRefused(_ key: String) -> Entry? {
        state.withLock { state in
            let index = state.entries.firstIndex {
                $0.message.key == key && $0.message.state != .pending
            }
            return index.map { state.entries.remove(at: $0) }
        }
    }

    private func append(_ entry: Entry) {
        let isFirst = state.withLock { state in
            state.entries.append(entry)
            report(entry.message)
            defer { state.isSending = true }
            return !state.isSending
        }
        if isFirst { Task { await self.sendAll() } }
    }

    private func sendAll() async {
        while let draft = next() {
            do throws(ServiceError) {
                try await service.deliver(draft, own: .touched)
                settle(draft.key, .sent)
            } catch {
                settle(draft.key, .refused(error))
            }
        }
    }

    /// The first one that waits; when there is none, whoever waits for that is told.
    private func next() -> MessageDraft? {
        let (draft, waiters) = state.withLock { state in
            let first = state.entries.first { $0.message.state == .pending }
            guard first == nil else { return (first?.draft, [CheckedContinuation<Void, Never>]()) }
            state.isSending = false
            defer { state.waiters = [] }
            return (nil, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return draft
    }

    private func settle(_ key: String, _ outcome: OutgoingMessage.State) {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.message.key == key }) else {
                return
            }
            state.entries[index].message.state = outcome
            report(state.entries[index].message)
            if outcome == .sent { state.entries.remove(at: index) }
        }
    }

    /// Under the lock, which makes the order of what is told that of what happened.
    private func report(_ message: OutgoingMessage) {
        service.database.callbackQueue.async { [tell] in tell(message) }
    }
}
