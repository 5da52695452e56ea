import DatabaseCore
import JSONTree
import Logging
import Transport
import WireProtocol

extension Server {
    /// A socket is open: its session begins.
    func openWire(_ socket: WebSocketConnection, _ head: RequestHead, _ database: DatabaseID) {
        if let version = head.queryValue("v"), version != "5" {
            let text = ServerMessage.shutdown("This server speaks version 5 of the protocol only.")
            socket.send(SharedFrame(text: text.encoded()))
            socket.close(code: 1000, reason: "")
            return
        }
        let byteLimit = configuration.limits.messageByteCount
        let connection = connections.add { id in
            ClientConnection(
                id: id,
                socket: socket,
                assembler: FrameAssembler(byteLimit: byteLimit)
            )
        }
        socket.userData = connection
        let handshake = Handshake(
            database: database,
            host: head.host,
            session: SessionID(Randomness.identifier()),
            lastSession: head.queryValue("ls").map(SessionID.init),
        )
        step(.connected(connection.id, handshake))
    }

    /// One frame: part of a message, a keep-alive, or a whole message.
    func receive(_ frame: [UInt8], on socket: WebSocketConnection) {
        guard let connection = socket.userData as? ClientConnection else { return }
        do {
            switch try connection.assembler?.receive(frame) {
            case nil: takeRequest(frame, connection)
            case .incomplete, .keepAlive: return
            case .message(let text):
                counts.messages += 1
                try take(text, connection)
            }
        } catch let error as FrameError {
            refuse(connection, error.closeCode, "\(error)")
        } catch let error as MessageError {
            refuse(connection, error.closeCode, "\(error)")
        } catch {
            preconditionFailure("only frames and messages can be refused here")
        }
    }

    /// Reads a whole message: at once, or away from the loop when it is large.
    private func take(
        _ text: [UInt8],
        _ connection: ClientConnection
    ) throws(MessageError) {
        guard mayPark(text.count, connection) else {
            refuse(connection, 1013, "Too much is waiting behind a check")
            return
        }
        guard text.count >= Server.readAwayByteCount else {
            step(.received(try ClientMessage.parse(text), from: connection.id))
            return
        }
        // What comes behind it waits, so that the order of messages stays.
        connection.socket.holdMessages()
        let id = connection.id
        let isTaken = readAway(text.count) {
            Result { () throws(MessageError) in try ClientMessage.parse(text) }
        } then: { [weak self] in
            self?.receive($0, from: id)
        }
        if !isTaken { refuse(connection, 1013, "Too many large messages are being read") }
    }

    /// A message that was read away from the loop.
    private func receive(_ outcome: Result<ClientMessage, MessageError>, from id: ConnectionID) {
        guard let connection = connections[id] else { return }
        connection.socket.resumeMessages()
        switch outcome {
        case .success(let message): step(.received(message, from: id))
        case .failure(let error): refuse(connection, error.closeCode, "\(error)")
        }
    }

    /// Whether a message of that size may wait if it has to; small ones are limited by their number.
    func mayPark(_ byteCount: Int, _ connection: ClientConnection) -> Bool {
        if byteCount < Server.smallMessageByteCount { return true }
        guard engine.isWaiting(connection.id) else {
            connection.parkedByteCount = 0
            return true
        }
        connection.parkedByteCount += byteCount
        return connection.parkedByteCount <= Server.parkedByteCount
    }

    /// Ends a connection whose bytes are not what the protocol carries.
    func refuse(_ connection: ClientConnection, _ code: UInt16, _ text: String) {
        counts.malformedMessages += 1
        log.info("closed a connection: \(text)", metadata: ["connection": "\(connection.id.value)"])
        connection.socket.close(code: code, reason: String(text.prefix(100)))
    }

    func closeWire(_ socket: WebSocketConnection) {
        guard let connection = socket.userData as? ClientConnection else { return }
        socket.userData = nil
        connections.remove(connection.id)
        step(.disconnected(connection.id))
    }

    // MARK: - Effects

    /// Queues a message for all its receivers.
    func send(_ message: OutgoingMessage, to receivers: [ConnectionID]) {
        switch message {
        case .text(let text):
            var frames = MessageFrames(text)
            for receiver in receivers {
                guard let connection = connections[receiver] else { continue }
                if let frame = frames.frame(inSegments: connection.takesSegments) {
                    connection.socket.send(frame)
                } else {
                    connection.socket.close(code: 1009, reason: "The message is too large")
                }
            }
        case .stream(let message):
            stream(message, to: receivers.compactMap { connections[$0]?.socket })
        case .event(let message):
            stream(message, to: receivers.compactMap { connections[$0]?.socket })
        case .events(let events):
            stream(events, to: receivers.compactMap { connections[$0]?.socket })
        }
    }

    /// Sends a large value from its snapshot; what follows on a socket waits behind it.
    ///
    /// The length must be known before the first frame leaves; a worker finds it out, once for
    /// all sockets.
    private func stream(_ message: StreamedMessage, to sockets: [WebSocketConnection]) {
        let sources = sockets.map { _ in MessageSource() }
        for (socket, source) in zip(sockets, sources) { socket.sendStream { source.next() } }
        let byteLimit = configuration.limits.responseByteCount
        let isTaken = workers.values.post(
            .measure(message, byteLimit: byteLimit) { [log] measured in
                EventLoop.shared.enqueue {
                    if measured == nil { log.warning("a value is too large to be sent") }
                    for (socket, source) in zip(sockets, sources) {
                        source.message = measured
                        source.isEnded = measured == nil
                        if measured == nil {
                            socket.close(code: 1009, reason: "The value is too large to be sent")
                        }
                        socket.resumeStream()
                    }
                }
            }
        )
        if isTaken { return }
        for (socket, source) in zip(sockets, sources) {
            source.isEnded = true
            socket.close(code: 1013, reason: "Too many large values are being sent")
        }
    }

    func close(_ connection: ConnectionID, _ reason: CloseReason) {
        guard let socket = connections[connection]?.socket else { return }
        log.debug(
            "closing a connection: \(reason)",
            metadata: ["connection": "\(connection.value)"]
        )
        socket.close(code: reason == .shutDown ? 1001 : 1000, reason: "")
    }
}

/// The frames of one streamed message, made as the socket asks for them.
@LoopActor
private final class MessageSource {
    /// Measured; nil until then.
    var message: StreamedMessage?
    /// The value cannot be sent: what waits behind it, a Close frame in the end, may go.
    var isEnded = false

    func next() -> StreamStep<SharedFrame> {
        if isEnded { return .end }
        if message == nil { return .wait }
        guard let text = message?.nextFrame() else { return .end }
        return .next(SharedFrame(text: text))
    }
}
