import Chat
import ChatScreen
import Synchronization
import Terminal

/// Events while the chat is open: of the terminal, of the database, and results of requests.
enum Happening: Sendable {
    case terminal(RawTerminal.Event)
    case screen(Event)
    case chats(Listing<DirectChat>)
    case rooms(Listing<RoomSummary>)
    case mutes(Set<String>)
    case person(UserProfile)
    /// Whom the user follows, by account.
    case following([String])
    /// There is a connection, for the first time or again.
    case connected
    /// A change of the messages of a direct chat.
    case message(String, MessageEvent)
    /// A change of the events of a room.
    case event(String, EventChange)
    /// A page of older ones.
    case older(ThreadID, [Entry], isComplete: Bool)
    /// A chat was started with this person.
    case started(DirectChat, with: UserProfile)
    case serverOffset(Double)
    /// Nothing was typed for a while since this key.
    case typingPaused(Int)
    /// The program has waited for the server for as long as it does when it ends.
    case waitedEnough
}

/// Events, in order, for one reader.
final class Mailbox: Sendable {
    private let waiting = Mutex<[Happening]>([])
    private let bell: AsyncStream<Void>.Continuation
    /// Yields once for all events since the last one was consumed.
    let rings: AsyncStream<Void>

    init() {
        (rings, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func put(_ happening: Happening) {
        waiting.withLock { $0.append(happening) }
        bell.yield()
    }

    /// All that has come, which is kept no longer.
    func take() -> [Happening] {
        waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}
