import DatabaseCore
import EventProtocol
import JSONTree
import Transport
import WireProtocol

/// Sockets that speak the plain event protocol, `/.events`.
extension SocketService {
    /// What clients may name in `Sec-WebSocket-Protocol`; one that names nothing is served as well.
    private static let eventSubprotocol = "hearth.events.v1"

    /// Decides whether a socket may open. The protocol has no word for a database that is not there, so HTTP says it.
    func admitEvents(_ request: ResolvedRequest, _ database: DatabaseID) -> Admission {
        let head = request.head
        guard engine.serves(database) else {
            server.requests.countUnknownDatabase()
            return .refuse(.unknownDatabase)
        }
        do throws(BadRequest) {
            if try override(of: head) != nil, request.consoleSession == nil {
                let text = "'auth_variable_override' is for administrators; sign in to the console."
                return .refuse(.error(401, text))
            }
        } catch {
            return .refuse(.bad(error))
        }
        let names = head.headers("sec-websocket-protocol").flatMap { $0.split(separator: ",") }
        let isNamed = names.contains { $0.filter { $0 != " " } == Self.eventSubprotocol }
        return .accept(subprotocol: isNamed ? Self.eventSubprotocol : nil)
    }

    /// On whose behalf an administrator's session is; nil for its own.
    private func override(of head: RequestHead) throws(BadRequest) -> AuthOverride? {
        try head.queryValue(RESTParameters.overrideName).map(RESTParameters.override)
    }

    /// Whom the upgrade has proved to be an administrator: one who has signed in to the console. On behalf of another
    /// identity the session reads only.
    private func administrator(_ socket: WebSocketConnection) -> Handshake.Administrator? {
        guard let request = socket.userData as? ResolvedRequest,
            let session = request.consoleSession
        else { return nil }
        do throws(BadRequest) {
            let override = try override(of: request.head)
            let term = session.term(isReadOnly: override != nil)
            return Handshake.Administrator(override: override, term: term)
        } catch {
            preconditionFailure("an override that cannot be read is refused before the upgrade")
        }
    }

    /// Who uses the console over a socket: in development the user of one of this server's pages.
    private func consoleAuthor(_ socket: WebSocketConnection) -> AuditAuthor? {
        guard let request = socket.userData as? ResolvedRequest,
            server.audit.isFromConsole(request)
        else { return nil }
        return request.consoleSession.map { AuditAuthor($0) } ?? server.audit.author(token: nil)
    }

    /// A socket is open: its session begins.
    func openEvents(_ socket: WebSocketConnection, _ head: RequestHead, _ database: DatabaseID) {
        socket.expectMessage(within: Self.firstMessageTimeout)
        let client = server.client(of: head)
        let administrator = administrator(socket)
        let author = consoleAuthor(socket)
        let nodeSession = server.cluster?.nodeSession(of: head)
        let connection = add { id in
            ClientConnection(
                id: id,
                peer: client.address,
                channel: .socket(socket),
                consoleAuthor: author,
                position: nodeSession?.position
            )
        }
        socket.userData = connection
        let handshake = Handshake(
            dialect: .events,
            database: database,
            host: head.host,
            session: nodeSession?.id ?? SessionID(Randomness.identifier()),
            administrator: administrator,
        )
        begin(connection, handshake, client)
    }

    /// Reads a request: at once, or away from the loop when it is large.
    func takeRequest(_ frame: [UInt8], _ connection: ClientConnection) {
        countMessage()
        guard mayPark(frame.count, connection) else { return }
        guard frame.count >= Server.readAwayByteCount else {
            let outcome = SocketService.read(frame) { server.nextKey() }
            takeParsedRequest(outcome, frame, from: connection)
            return
        }
        let key = server.nextKey()
        readAway(frame.count, connection) {
            SocketService.read(frame) { key }
        } then: { [self] in
            takeParsedRequest($0, frame, from: $1)
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
        _ frame: [UInt8],
        from connection: ClientConnection
    ) {
        switch outcome {
        case .success(let request):
            let kept = engine.isFollowing ? frame : []
            step(.asked(request, from: connection.id, text: kept))
        case .failure(let error): refuse(connection, EventFrameError.closeCode, "\(error)")
        }
    }
}
