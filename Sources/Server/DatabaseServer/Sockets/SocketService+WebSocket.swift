import DatabaseCore
import JSONTree
import Logging
import Transport
import WireProtocol

extension SocketService {
    /// A socket is open: its session begins.
    func openWire(_ socket: WebSocketConnection, _ head: RequestHead, _ database: DatabaseID) {
        if let version = head.queryValue("v"), version != "5" {
            let text = ServerMessage.shutdown("This server speaks version 5 of the protocol only.")
            socket.send(SharedFrame(text: text.encoded()))
            socket.close(code: 1000, reason: "")
            return
        }
        let nodeSession = server.cluster?.nodeSession(of: head)
        // That of another node's client says something when its client does.
        if nodeSession == nil {
            let isReturning = head.queryValue("ls") != nil
            socket.expectMessage(
                within: isReturning ? Self.returningMessageTimeout : Self.firstMessageTimeout
            )
        }
        if let session = head.queryValue("s") {
            openUpgrade(socket, head, SessionID(session), database)
            return
        }
        let client = server.client(of: head)
        let connection = add { id in
            ClientConnection(
                id: id,
                peer: client.address,
                channel: .socket(socket),
                assembler: assembler(),
                position: nodeSession?.position
            )
        }
        socket.userData = connection
        let handshake = Handshake(
            database: database,
            host: head.host,
            session: nodeSession?.id ?? SessionID(Randomness.identifier()),
            lastSession: head.queryValue("ls").map(SessionID.init),
        )
        begin(connection, handshake, client)
    }

    /// One frame: part of a message, a keep-alive, or a whole message.
    func receiveFrame(_ frame: [UInt8], on socket: WebSocketConnection) {
        guard let connection = socket.userData as? ClientConnection else {
            if let attempt = socket.userData as? UpgradeAttempt {
                receiveUpgradeFrame(frame, attempt)
            }
            return
        }
        let assembled: Assembled?
        do throws(FrameError) { assembled = try connection.assembler?.receive(frame) } catch {
            socket.keptByteCount = 0
            return refuseFrame(error, connection)
        }
        socket.keptByteCount = connection.assembler?.heldByteCount ?? 0
        switch assembled {
        case nil: takeRequest(frame, connection)
        case .incomplete, .keepAlive: return
        case .message(let text):
            countMessage()
            takeText(text, connection)
        }
    }

    /// An assembler of messages up to the server's limit, which reads larger ones to their end.
    func assembler() -> FrameAssembler {
        FrameAssembler(
            byteLimit: configuration.limits.messageByteCount,
            drainedByteCount: WireLimits.drainedByteCount
        )
    }

    /// Answers the request of a message that was too big, so that its client does not send it for ever; ends a
    /// connection that is out of step.
    func refuseFrame(_ error: FrameError, _ connection: ClientConnection) {
        guard case .messageTooBig(_, let limit, let number?) = error else {
            return refuse(connection, error.closeCode, "\(error)")
        }
        countMalformedMessage()
        log.info("refused a request: \(error)", metadata: ["connection": "\(connection.id.value)"])
        let request = ClientRequest(number: number, action: .tooBig(byteLimit: limit))
        step(.received(.request(request), from: connection.id))
    }

    /// Reads a whole message: at once, or away from the loop when it is large.
    func takeText(_ text: [UInt8], _ connection: ClientConnection) {
        guard mayPark(text.count, connection) else { return }
        let isText = connection.takesSegments
        guard text.count >= Server.readAwayByteCount else {
            return takeParsed(SocketService.parse(text, isText: isText), text, connection)
        }
        readAway(text.count, connection) {
            SocketService.parse(text, isText: isText)
        } then: { [self] in
            takeParsed($0, text, $1)
        }
    }

    /// Has a large message read away from the loop. What comes behind it waits, so that the order of messages stays.
    func readAway<Outcome: Sendable>(
        _ byteCount: Int,
        _ connection: ClientConnection,
        _ read: @escaping @Sendable () -> Outcome,
        then: @escaping @Sendable @LoopActor (Outcome, ClientConnection) -> Void
    ) {
        connection.channel.holdMessages()
        let id = connection.id
        let isTaken = readers.read(byteCount, of: connection.channel.client, read) {
            [self] outcome in
            guard let connection = connections[id] else { return }
            connection.channel.resumeMessages()
            then(outcome, connection)
        }
        if !isTaken { refuse(connection, 1013, "Too many large messages are being read") }
    }

    /// Reads one message. `isText` says that it is known to be UTF-8, as what a WebSocket brings is.
    private nonisolated static func parse(
        _ text: [UInt8],
        isText: Bool
    ) -> Result<ClientMessage, MessageError> {
        guard isText || UTF8Validator.accepts(text) else { return .failure(.notUTF8) }
        return Result { () throws(MessageError) in try ClientMessage.parse(text) }
    }

    private func takeParsed(
        _ outcome: Result<ClientMessage, MessageError>,
        _ text: [UInt8],
        _ connection: ClientConnection
    ) {
        switch outcome {
        case .failure(let error): refuse(connection, error.closeCode, "\(error)")
        case .success(let message):
            if case .endOfTransmission = message, case .poll(let poll) = connection.channel {
                upgrade(connection, poll)
            } else {
                let kept = engine.isFollowing ? text : []
                step(.received(message, from: connection.id, text: kept))
            }
        }
    }

    /// Whether a message of that size may wait if it has to, else ends its connection; small ones are limited by their
    /// number.
    func mayPark(_ byteCount: Int, _ connection: ClientConnection) -> Bool {
        if byteCount < SocketService.smallMessageByteCount { return true }
        guard engine.isWaiting(connection.id) else {
            connection.parkedByteCount = 0
            return true
        }
        connection.parkedByteCount += byteCount
        if connection.parkedByteCount <= SocketService.parkedByteCount { return true }
        refuse(connection, 1013, "Too much is waiting behind a check")
        return false
    }

    /// Ends a connection whose bytes are not what the protocol carries.
    func refuse(_ connection: ClientConnection, _ code: UInt16, _ text: String) {
        countMalformedMessage()
        log.info(
            "closed a connection: \(text)",
            metadata: ["connection": "\(connection.id.shortText)"]
        )
        connection.close(code: code, reason: String(text.prefix(100)))
    }

    func closeWire(_ socket: WebSocketConnection) {
        guard let connection = socket.userData as? ClientConnection else {
            if let attempt = socket.userData as? UpgradeAttempt { attempt.closed() }
            return
        }
        socket.userData = nil
        remove(connection.id)
    }

    // MARK: - Effects

    func send(_ message: OutgoingMessage, to receivers: [ConnectionID]) {
        switch message {
        case .text(let text):
            var frames = MessageFrames(text)
            for receiver in receivers {
                guard let connection = connections[receiver] else { continue }
                if let frame = frames.frame(inSegments: connection.takesSegments) {
                    connection.send(frame)
                } else {
                    connection.close(code: 1009, reason: "The message is too large")
                }
            }
        case .serverSent(let text): server.data.sendEvents(text, to: receivers)
        case .serverSentStream(let event): server.data.streamEvent(event, to: receivers)
        case .stream(let message):
            streamValue(message, to: receivers.compactMap { connections[$0] })
        case .event(let message):
            streamEvent(message, to: receivers.compactMap { connections[$0]?.socket })
        case .events(let events):
            streamEvents(events, to: receivers.compactMap { connections[$0]?.socket })
        }
    }

    /// Sends a large value from its snapshot; what follows to the same client waits behind it.
    ///
    /// The length must be known before the first of it leaves; a worker finds it out, once for all receivers.
    private func streamValue(_ message: StreamedMessage, to connections: [ClientConnection]) {
        // Where it was queued it stays, even if its session moves to a WebSocket meanwhile.
        let receivers = connections.map { ($0, $0.channel, MessageSource()) }
        for (_, channel, source) in receivers { channel.sendStream(source) }
        let byteLimit = configuration.limits.responseByteCount
        let isTaken = workers.values.post(
            .measure(message, byteLimit: byteLimit) { [log] measured in
                EventLoop.shared.enqueue {
                    if measured == nil { log.warning("a value is too large to be sent") }
                    for (connection, channel, source) in receivers {
                        source.message = measured
                        source.isEnded = measured == nil
                        if measured == nil {
                            let reason = "The value is too large to be sent"
                            connection.close(code: 1009, reason: reason)
                        }
                        channel.resumeStream()
                    }
                }
            }
        )
        if isTaken { return }
        for (connection, _, source) in receivers {
            source.isEnded = true
            connection.close(code: 1013, reason: "Too many large values are being sent")
        }
    }

    func close(_ connection: ConnectionID, _ reason: CloseReason) {
        guard let open = connections[connection] else {
            server.data.endStream(connection)
            return
        }
        if case .unknownDatabase = reason { server.requests.countUnknownDatabase() }
        log.debug(
            "closing a connection: \(reason)",
            metadata: ["connection": "\(connection.shortText)"]
        )
        let words = reason == .ended ? "An administrator ended this connection" : ""
        let isAway = reason == .shutDown || reason == .ownerLost
        open.close(code: isAway ? 1001 : 1000, reason: words)
    }
}
