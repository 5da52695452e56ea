import DatabaseCore
import JSONTree
import Logging
import Transport
import WireProtocol

/// One socket that speaks the wire protocol.
@LoopActor
final class WireConnection {
    let id: ConnectionID
    let socket: WebSocketConnection
    var assembler: FrameAssembler
    /// Bytes of large messages that came since the session began to wait for an inquiry.
    var parkedByteCount = 0

    init(id: ConnectionID, socket: WebSocketConnection, byteLimit: Int) {
        self.id = id
        self.socket = socket
        assembler = FrameAssembler(byteLimit: byteLimit)
    }
}

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
            WireConnection(id: id, socket: socket, byteLimit: byteLimit)
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
        guard let connection = socket.userData as? WireConnection else { return }
        do {
            switch try connection.assembler.receive(frame) {
            case .incomplete, .keepAlive: return
            case .message(let text):
                counts.messages += 1
                guard mayPark(text.count, connection) else {
                    refuse(connection, 1013, "Too much is waiting behind a check")
                    return
                }
                step(.received(try ClientMessage.parse(text), from: connection.id))
            }
        } catch let error as FrameError {
            refuse(connection, error.closeCode, "\(error)")
        } catch let error as MessageError {
            refuse(connection, error.closeCode, "\(error)")
        } catch {
            preconditionFailure("only frames and messages can be refused here")
        }
    }

    /// Whether a message of that size may wait if it has to; small ones are limited by their number.
    private func mayPark(_ byteCount: Int, _ connection: WireConnection) -> Bool {
        if byteCount < Server.smallMessageByteCount { return true }
        guard engine.isWaiting(connection.id) else {
            connection.parkedByteCount = 0
            return true
        }
        connection.parkedByteCount += byteCount
        return connection.parkedByteCount <= Server.parkedByteCount
    }

    /// Ends a connection whose bytes are not what the protocol carries.
    private func refuse(_ connection: WireConnection, _ code: UInt16, _ text: String) {
        counts.malformedMessages += 1
        log.info("closed a connection: \(text)", metadata: ["connection": "\(connection.id.value)"])
        connection.socket.close(code: code, reason: String(text.prefix(100)))
    }

    func closeWire(_ socket: WebSocketConnection) {
        guard let connection = socket.userData as? WireConnection else { return }
        socket.userData = nil
        connections.remove(connection.id)
        step(.disconnected(connection.id))
    }

    // MARK: - Effects

    /// Sends a message, or holds it to be joined with the next ones for the same receivers: a batch
    /// of commits to one place then costs each receiver one turn in its queue.
    func send(_ message: OutgoingMessage, to receivers: [ConnectionID], _ held: inout HeldPush?) {
        if case .text(let text) = message, Segments.count(byteCount: text.count) == 1 {
            let frame = SharedFrame(text: text)
            if held?.append(frame, to: receivers) == true { return }
            if let receiver = receivers.first, receivers.count == 1 {
                // Nothing overtakes what is held for the same connection.
                if held?.receivers.contains(receiver) == true { send(&held) }
                connections[receiver]?.socket.send(frame)
            } else {
                send(&held)
                held = HeldPush(receivers: receivers, frame: frame)
            }
            return
        }
        send(&held)
        send(message, to: receivers)
    }

    /// Queues what is held for all its receivers.
    func send(_ held: inout HeldPush?) {
        guard let push = held else { return }
        held = nil
        // Read once: sending does not open or close a connection before the turn ends.
        let connections = connections
        for receiver in push.receivers { connections[receiver]?.socket.send(push.frame) }
    }

    /// Queues a message for all its receivers.
    func send(_ message: OutgoingMessage, to receivers: [ConnectionID]) {
        switch message {
        case .text(let text):
            let frames = Server.frames(of: text)
            for receiver in receivers {
                guard let socket = connections[receiver]?.socket else { continue }
                if frames.isEmpty { socket.close(code: 1009, reason: "The message is too large") }
                for frame in frames { socket.send(frame) }
            }
        case .stream(let message):
            stream(message, to: receivers.compactMap { connections[$0]?.socket })
        }
    }

    /// The frames of one message; none when it is longer than any client takes.
    private static func frames(of text: [UInt8]) -> [SharedFrame] {
        guard let ranges = Segments.frames(of: text) else { return [] }
        if ranges.count == 1 { return [SharedFrame(text: text)] }
        let count = SharedFrame(text: Segments.countFrame(ranges.count))
        return [count] + ranges.map { SharedFrame(text: Array(text[$0])) }
    }

    /// Sends a large value from its snapshot; what follows on a socket waits behind it.
    ///
    /// The length must be known before the first frame leaves; the worker finds it out, once for
    /// all sockets.
    private func stream(_ message: StreamedMessage, to sockets: [WebSocketConnection]) {
        let sources = sockets.map { _ in MessageSource() }
        for (socket, source) in zip(sockets, sources) { socket.sendStream { source.next() } }
        let byteLimit = configuration.limits.responseByteCount
        let isTaken = worker.post(
            .measure(message, byteLimit: byteLimit) { [log] measured in
                EventLoop.shared.enqueue {
                    if measured == nil { log.warning("a value is too large to be sent") }
                    for (socket, source) in zip(sockets, sources) {
                        source.message = measured
                        if measured == nil {
                            socket.close(code: 1009, reason: "The value is too large to be sent")
                        } else {
                            socket.resumeStream()
                        }
                    }
                }
            }
        )
        if isTaken { return }
        for socket in sockets {
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

/// Pushes to the same receivers that leave as one.
struct HeldPush {
    /// Bytes after which more pushes are held apart: as much as one send takes.
    private static let byteLimit = 64 * 1024

    let receivers: [ConnectionID]
    private(set) var frame: SharedFrame

    init(receivers: [ConnectionID], frame: SharedFrame) {
        self.receivers = receivers
        self.frame = frame
    }

    /// Whether `next` is for the same receivers, and now held with the rest.
    mutating func append(_ next: SharedFrame, to receivers: [ConnectionID]) -> Bool {
        // Mostly one and the same array, which is seen at once.
        guard receivers == self.receivers, frame.byteCount < Self.byteLimit else { return false }
        frame.append(next)
        return true
    }
}

/// The frames of one streamed message, made as the socket asks for them.
@LoopActor
private final class MessageSource {
    /// Measured; nil until then.
    var message: StreamedMessage?

    func next() -> StreamStep<SharedFrame> {
        if message == nil { return .wait }
        guard let text = message?.nextFrame() else { return .end }
        return .next(SharedFrame(text: text))
    }
}
