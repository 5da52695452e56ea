import DatabaseCore
import Logging
import Transport
import WireProtocol

/// Sessions that move from long polling to a WebSocket.
///
///     client                               server
///     /.ws?s=SESSION                       a, and no hello
///     p, twice, on the WebSocket           o, there
///     a on the WebSocket, n on the old way
///     everything else on the WebSocket     n as the last message on the old way, `close` behind it,
///                                          then everything on the WebSocket
///
/// What comes on the WebSocket before the old way's `n` waits for it, so nothing overtakes.
extension SocketService {
    /// A WebSocket is open to which a session would move.
    func openUpgrade(
        _ socket: WebSocketConnection,
        _ head: RequestHead,
        _ session: SessionID,
        _ database: DatabaseID
    ) {
        guard let poll = polls[session], !poll.isEnding, poll.database == database else {
            // The client gives the attempt up and stays where it is.
            socket.send(SharedFrame(text: ServerMessage.reset(host: head.host).encoded()))
            socket.close(code: 1000, reason: "")
            return
        }
        // One at a time: the client has given an earlier one up.
        poll.attempt?.socket.close(code: 1000, reason: "")
        let attempt = UpgradeAttempt(socket, poll, assembler())
        poll.attempt = attempt
        socket.userData = attempt
        socket.send(SharedFrame(text: ServerMessage.upgradeAck.encoded()))
    }

    /// One frame on a WebSocket that the session has not moved to.
    func receiveUpgradeFrame(_ frame: [UInt8], _ attempt: UpgradeAttempt) {
        let assembled: Assembled
        do throws(FrameError) { assembled = try attempt.assembler.receive(frame) } catch {
            attempt.socket.keptByteCount = 0
            if case .messageTooBig(_, _, _?) = error { return attempt.hold(.refused(error)) }
            return refuseUpgrade(attempt, error.closeCode, "\(error)")
        }
        attempt.socket.keptByteCount = attempt.assembler.heldByteCount
        guard case .message(let text) = assembled else { return }
        countMessage()
        do throws(MessageError) { try takeUpgradeText(text, attempt) } catch {
            refuseUpgrade(attempt, error.closeCode, "\(error)")
        }
    }

    private func takeUpgradeText(_ text: [UInt8], _ attempt: UpgradeAttempt) throws(MessageError) {
        // Control messages are short, and read here; data waits as it came.
        if text.count <= UpgradeAttempt.controlByteCount {
            switch try ClientMessage.parse(text) {
            case .ping:
                attempt.socket.send(SharedFrame(text: ServerMessage.pong.encoded()))
                return
            case .upgradeAck, .endOfTransmission, .unknownControl: return
            case .request: break
            }
        }
        attempt.hold(.text(text))
    }

    private func refuseUpgrade(_ attempt: UpgradeAttempt, _ code: UInt16, _ text: String) {
        countMalformedMessage()
        log.info("closed an upgrade to a WebSocket: \(text)")
        attempt.socket.close(code: code, reason: String(text.prefix(100)))
    }

    /// The client says nothing more over long polling: the session moves to its WebSocket.
    func upgrade(_ connection: ClientConnection, _ poll: PollSession) {
        guard let attempt = poll.attempt, attempt.socket.isOpen else {
            return refuse(connection, 1003, "end of transmission without a WebSocket to go on at")
        }
        poll.attempt = nil
        poll.send(SharedFrame(text: ServerMessage.endOfTransmission.encoded()))
        poll.finish()
        connection.move(to: attempt.socket, attempt.assembler)
        attempt.socket.userData = connection
        attempt.socket.resumeMessages()
        switch attempt.waiting {
        case nil: return
        case .refused(let error): refuseFrame(error, connection)
        case .text(let text): takeText(text, connection)
        }
    }
}

/// A WebSocket that a session over long polling may move to.
@LoopActor
final class UpgradeAttempt {
    /// Bytes of a message up to which it may be one of the transport's own.
    static let controlByteCount = 256

    let socket: WebSocketConnection
    private weak var poll: PollSession?
    var assembler: FrameAssembler
    /// Data that came before the session has moved; nothing is read behind it.
    private(set) var waiting: Waiting?

    enum Waiting {
        case text([UInt8])
        /// A message that was too big, whose request can be answered.
        case refused(FrameError)
    }

    init(_ socket: WebSocketConnection, _ poll: PollSession, _ assembler: FrameAssembler) {
        self.socket = socket
        self.poll = poll
        self.assembler = assembler
    }

    func hold(_ message: Waiting) {
        waiting = message
        socket.holdMessages()
    }

    /// The WebSocket is over: the session stays where it is.
    func closed() {
        if poll?.attempt === self { poll?.attempt = nil }
    }
}
