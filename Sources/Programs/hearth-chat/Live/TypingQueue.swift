import Chat
import ChatScreen
import ServiceCommand

/// Sends when the user starts and stops typing, in that order.
///
/// A start takes until the server has it. A stop sent in the meantime would find nothing to end, and the others would
/// see the user typing until the connection ends.
final class TypingQueue: Sendable {
    private struct Change {
        /// The key of a room or a direct chat.
        let thread: String
        let isTyping: Bool
    }

    private let changes: AsyncStream<Change>.Continuation

    init(_ client: Client, _ mailbox: Mailbox) {
        let (stream, continuation) = AsyncStream<Change>.makeStream()
        changes = continuation
        Task {
            for await change in stream {
                guard change.isTyping else {
                    client.rooms.stopTyping(in: change.thread)
                    continue
                }
                do {
                    try await client.rooms.startTyping(in: change.thread)
                } catch ServiceError.refused {
                    // A user who may not write there learns it when they do.
                } catch {
                    mailbox.put(.screen(.notice("\(ProgramFault(error))")))
                }
            }
        }
    }

    func start(in thread: String) { changes.yield(Change(thread: thread, isTyping: true)) }

    func stop(in thread: String) { changes.yield(Change(thread: thread, isTyping: false)) }
}
