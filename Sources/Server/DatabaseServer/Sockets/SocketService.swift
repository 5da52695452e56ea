import DatabaseCore
import Transport

/// Sessions: over WebSockets of both protocols, and over long polling.
@LoopActor
final class SocketService: Service {
    let server: Server
    private(set) var connections = ConnectionTable<ClientConnection>()
    let polls = PollTable()
    /// Messages received of both protocols.
    private var messageCount = 0
    /// Those that closed their connection.
    private var malformedMessageCount = 0

    /// Bytes of large messages that one session may park: four of the greatest size.
    static let parkedByteCount = 64 << 20
    /// Messages below this are not counted: the engine parks 10,000 of them at most.
    static let smallMessageByteCount = 4_096

    /// How long a WebSocket may be open before its first message: a client's first connection counts its use at once.
    static let firstMessageTimeout = Duration.seconds(30)
    /// The same for one that names its last session: a client with nothing to say sends a keep-alive after 45 s.
    static let returningMessageTimeout = Duration.seconds(75)

    init(_ server: Server) {
        self.server = server
    }

    /// Adds a client with a session.
    func add(_ make: (ConnectionID) -> ClientConnection) -> ClientConnection {
        connections.add(make)
    }

    /// Begins the session of a client.
    func begin(
        _ connection: ClientConnection,
        _ handshake: Handshake,
        _ client: ClientAddress
    ) {
        if engine.isFollowing {
            server.cluster?.ownerSessions?.began(connection.id, handshake, client)
        }
        step(.connected(connection.id, handshake))
    }

    /// Forgets a client; its session ends.
    func remove(_ id: ConnectionID) {
        connections.remove(id)
        step(.disconnected(id))
        server.cluster?.ownerSessions?.ended(id)
    }

    func countMessage() { messageCount += 1 }

    func countMalformedMessage() { malformedMessageCount += 1 }

    func addMetrics(to metrics: inout Metrics) {
        metrics.counter(
            "hearth_messages_total",
            "Messages received of both protocols.",
            messageCount
        )
        metrics.counter(
            "hearth_malformed_messages_total",
            "Messages that closed their connection.",
            malformedMessageCount
        )
        metrics.gauge("hearth_sessions", "Sessions of both protocols now.", connections.count)
        metrics.gauge(
            "hearth_poll_sessions",
            "Those of them that go over long polling.",
            polls.liveCount
        )
    }

    /// Whether a request carries what only the page knows that opened a session over long polling.
    func hasPoll(of head: RequestHead) -> Bool { polls.session(of: head) != nil }

    /// Sends what was queued for sessions over long polling.
    func flushPolls() { polls.flush() }

    /// The client with this number, what it speaks, and who uses the console over it; nil when it is gone.
    func peer(of id: ConnectionID) -> (address: String, door: String, author: AuditAuthor?)? {
        connections[id].map { ($0.peer, $0.door, $0.consoleAuthor) }
    }
}
