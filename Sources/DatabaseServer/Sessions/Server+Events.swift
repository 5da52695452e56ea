import DatabaseCore
import EventProtocol
import JSONTree
import Transport

/// Sockets that speak the plain event protocol, `/.events`.
extension Server {
    /// What clients may name in `Sec-WebSocket-Protocol`; one that names nothing is served as well.
    private static let eventSubprotocol = "hearth.events.v1"

    /// Decides whether a socket may open. The protocol has no word for a database that is not
    /// there, so HTTP says it.
    func judgeEvents(_ head: RequestHead, _ database: DatabaseID) -> Verdict {
        guard engine.serves(database) else {
            counts.unknownDatabases += 1
            return .refuse(RESTAnswer.unknownDatabase)
        }
        let names = head.headers("sec-websocket-protocol").flatMap { $0.split(separator: ",") }
        let isNamed = names.contains { $0.filter { $0 != " " } == Self.eventSubprotocol }
        return .accept(subprotocol: isNamed ? Self.eventSubprotocol : nil)
    }

    /// A socket is open: its session begins.
    func openEvents(_ socket: WebSocketConnection, _ head: RequestHead, _ database: DatabaseID) {
        socket.expectMessage(within: Self.firstMessageTimeout)
        let connection = connections.add { id in
            ClientConnection(id: id, carrier: .socket(socket))
        }
        socket.userData = connection
        let handshake = Handshake(
            dialect: .events,
            database: database,
            host: head.host,
            session: SessionID(Randomness.identifier()),
        )
        step(.connected(connection.id, handshake))
    }

    /// Reads a request: at once, or away from the loop when it is large.
    func takeRequest(_ frame: [UInt8], _ connection: ClientConnection) {
        counts.messages += 1
        guard mayPark(frame.count, connection) else {
            refuse(connection, 1013, "Too much is waiting behind a check")
            return
        }
        guard frame.count >= Server.readAwayByteCount else {
            let outcome = Server.read(frame) { pushIDs.next(now: Clock.now()) }
            receive(outcome, from: connection)
            return
        }
        // What comes behind it waits, so that the order of requests stays.
        connection.carrier.holdMessages()
        let id = connection.id
        let key = pushIDs.next(now: Clock.now())
        let isTaken = desk.read(frame.count, of: connection.carrier.client) {
            Server.read(frame) { key }
        } then: { [self] outcome in
            guard let connection = connections[id] else { return }
            connection.carrier.resumeMessages()
            receive(outcome, from: connection)
        }
        if !isTaken { refuse(connection, 1013, "Too many large messages are being read") }
    }

    private nonisolated static func read(
        _ frame: [UInt8],
        makeKey: () -> Key
    ) -> Result<EventRequest, EventFrameError> {
        Result { () throws(EventFrameError) in
            try EventRequest.parse(frame, makeKey: makeKey)
        }
    }

    private func receive(
        _ outcome: Result<EventRequest, EventFrameError>,
        from connection: ClientConnection
    ) {
        switch outcome {
        case .success(let request): step(.asked(request, from: connection.id))
        case .failure(let error): refuse(connection, EventFrameError.closeCode, "\(error)")
        }
    }
}
