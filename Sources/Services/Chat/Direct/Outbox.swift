internal import Foundation
internal import HearthDatabase
internal import HearthCore

/// Sends messages in the order of writing, and keeps refused ones.
///
/// One at a time: the next is sent when the outcome of the one before is known, so a message that must be sent again
/// keeps its position. Without a connection they wait. Each change of state is reported once, on
/// `database.callbackQueue`: pending, then sent, or refused with a reason.
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

    /// An empty outbox; `block` receives each message when its state changes.
    public init(_ service: ChatService, with block: @escaping @Sendable (OutgoingMessage) -> Void) {
        self.service = service
        tell = block
    }

    /// Pending and refused messages, in the order of writing.
    public var messages: [OutgoingMessage] { state.withLock { $0.entries.map(\.message) } }

    /// Takes a message, which may answer another of the chat by its key; returns it at once, as it waits.
    ///
    /// - Throws: `ServiceError.invalid` for a message that the rules would refuse; it is not reported.
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

    /// The first waiting message; when there is none, notifies those who wait for that.
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

    /// Under the lock, so that reports have the order of the changes.
    private func report(_ message: OutgoingMessage) {
        service.database.callbackQueue.async { [tell] in tell(message) }
    }
}
