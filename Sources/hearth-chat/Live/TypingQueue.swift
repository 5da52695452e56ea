import Chat
import ChatScreen
import ServiceCommand

/// Says that the user is typing, and that they are no more, in the order in which it was.
///
/// To say it takes until the server has it. An end that was said meanwhile would find nothing to end, and the others
/// would see the user typing for as long as the connection stands.
final class TypingQueue: Sendable {
    private struct Turn {
        /// The key of a room or a direct chat.
        let thread: String
        let isTyping: Bool
    }

    private let turns: AsyncStream<Turn>.Continuation

    init(_ client: Client, _ mailbox: Mailbox) {
        let (stream, continuation) = AsyncStream<Turn>.makeStream()
        turns = continuation
        Task {
            for await turn in stream {
                guard turn.isTyping else {
                    client.rooms.stopTyping(in: turn.thread)
                    continue
                }
                do {
                    try await client.rooms.startTyping(in: turn.thread)
                } catch ServiceError.refused {
                    // Whoever may say nothing there is told so when they do.
                } catch {
                    mailbox.put(.screen(.notice("\(ProgramFault(error))")))
                }
            }
        }
    }

    func start(in thread: String) { turns.yield(Turn(thread: thread, isTyping: true)) }

    func stop(in thread: String) { turns.yield(Turn(thread: thread, isTyping: false)) }
}
