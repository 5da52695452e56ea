import DatabaseCore
import EventProtocol
import JSONTree
import Transport

/// Sockets that speak the plain event protocol, `/.events`.
extension SocketService {
    /// What clients may name in `Sec-WebSocket-Protocol`; one that names nothing is served as well.
    private static let eventSubprotocol = "hearth.events.v1"

    /// Decides whether a socket may open. The protocol has no word for a database that is not there, so HTTP says it.
    func admitEvents(_ head: RequestHead, _ database: DatabaseID) -> Admission {
        guard engine.serves(database) else {
            server.requests.countUnknownDatabase()
            return .refuse(.unknownDatabase)
        }
        let names = head.headers("sec-websocket-protocol").flatMap { $0.split(separator: ",") }
        let isNamed = names.contains { $0.filter { $0 != " " } == Self.eventSubprotocol }
        return .accept(subprotocol: isNamed ? Self.eventSubprotocol : nil)
    }

    /// A socket is open: its session begins.
    func openEvents(_ socket: WebSocketConnection, _ head: RequestHead, _ database: DatabaseID) {
        socket.expectMessage(within: Self.firstMessageTimeout)
        let peer = clientAddress(of: head)
        let connection = add { id in
            ClientConnection(id: id, peer: peer, channel: .socket(socket))
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
        countMessage()
        guard mayPark(frame.count, connection) else { return }
        guard frame.count >= Server.readAwayByteCount else {
            let outcome = SocketService.read(frame) { server.nextKey() }
            takeParsedRequest(outcome, from: connection)
            return
        }
        let key = server.nextKey()
        readAway(frame.count, connection) {
            SocketService.read(frame) { key }
        } then: { [self] in
            takeParsedRequest($0, from: $1)
        }
    }

    private nonisolated static func read(
        _ frame: [UInt8],
        makeKey: () -> Key
    ) -> Result<EventRequest, EventFrameError> {
        Result { () throws(EventFrameError) in
            try EventRequest.parse(frame, makeKey: makeKey)
        }
    }

    private func takeParsedRequest(
        _ outcome: Result<EventRequest, EventFrameError>,
        from connection: ClientConnection
    ) {
        switch outcome {
        case .success(let request): step(.asked(request, from: connection.id))
        case .failure(let error): refuse(connection, EventFrameError.closeCode, "\(error)")
        }
    }
}
