import ClientTransport
import DatabaseCore
import EventProtocol
import JSONTree
import Logging
import Transport
import WireProtocol

/// Sessions at the owner, each for one session of a client of this node that has sent something which only the owner does.
///
///     client ──message──► engine ──forward──► OwnerSessions ──WebSocket──► owner: a session of the same name
///     client ◄── events, then the answer ◄── engine ◄── held back ◄── `@4711`, answer
///
/// Ahead of each message the owner says how many commits the group has. The message waits until this node has as many, so
/// the events of the commits that it is about are ahead of it.
@LoopActor
final class OwnerSessions {
    /// The name of a session, as the node of its client gave it.
    nonisolated static let nameHeader = "hearth-session"
    /// Bytes of one message of the owner.
    private nonisolated static let messageByteLimit = 32 << 20

    /// What a session at the owner begins with.
    private struct Beginning {
        let handshake: Handshake
        /// For limits and logs of the owner.
        let client: ClientAddress
    }

    @LoopActor
    private final class OwnerSession {
        let socket: any ClientSocket
        private let dialect: Dialect
        var assembler = FrameAssembler(byteLimit: OwnerSessions.messageByteLimit)
        /// What the owner said last of its commits.
        var commitCount: UInt64 = 0

        init(_ socket: any ClientSocket, _ dialect: Dialect) {
            self.socket = socket
            self.dialect = dialect
        }

        /// What a message says about the session; nil for what says nothing to its client.
        func read(_ text: [UInt8]) throws(MessageError) -> OwnerMessage? {
            if dialect == .wire { return try OwnerMessage(text) }
            guard let isOK = EventMessage.isReplyOK(text) else { return nil }
            return .answer(text: text, isOK: isOK)
        }
    }

    private unowned let cluster: ClusterService
    private let authorityFile: String?
    private let transport = makeClientTransport()
    private var beginnings: [ConnectionID: Beginning] = [:]
    private var sessions: [ConnectionID: OwnerSession] = [:]

    init(_ cluster: ClusterService, authorityFile: String?) {
        self.cluster = cluster
        self.authorityFile = authorityFile
    }

    /// Sessions that are open or being opened.
    var count: Int { sessions.count }

    /// Notes how the session of a client has begun here.
    func began(_ id: ConnectionID, _ handshake: Handshake, _ client: ClientAddress) {
        beginnings[id] = Beginning(handshake: handshake, client: client)
    }

    /// Sends a client's message to the owner, in a session there that begins with the first one; an empty one only begins it.
    func send(_ text: [UInt8], of id: ConnectionID) {
        if let session = sessions[id] { return session.socket.send([text]) }
        guard let beginning = beginnings[id], let request = request(beginning) else {
            return EventLoop.shared.enqueue { [self] in lost(id) }
        }
        let socket = transport.open(request) { event in
            EventLoop.shared.enqueue { [self] in take(event, of: id) }
        }
        sessions[id] = OwnerSession(socket, beginning.handshake.dialect)
        if !text.isEmpty { socket.send([text]) }
    }

    /// The client is gone: its session at the owner ends, with its on-disconnect writes.
    func ended(_ id: ConnectionID) {
        beginnings[id] = nil
        sessions.removeValue(forKey: id)?.socket.close()
    }

    private func request(_ beginning: Beginning) -> SocketRequest? {
        guard let address = cluster.ownerAddress, let host = cluster.ownerHost,
            let words = cluster.relayWords
        else { return nil }
        let handshake = beginning.handshake
        var target = handshake.dialect == .events ? "/.events?" : "/.ws?v=5&"
        target += "ns=\(handshake.database.name)"
        if let last = handshake.lastSession { target += "&ls=\(PercentCoding.encode(last.text))" }
        var request = SocketRequest(
            host: host,
            isSecure: address.hasPrefix("https:"),
            target: target
        )
        request.authorityFile = authorityFile
        request.headers =
            beginning.client.forwardingHeaders + [
                (GroupSecret.relayHeader, words), (Self.nameHeader, handshake.session.text),
            ]
        return request
    }

    private func take(_ event: SocketEvent, of id: ConnectionID) {
        guard let session = sessions[id] else { return }
        switch event {
        case .opened: return
        case .closed(let reason):
            cluster.log.info(
                "the owner ended a session of a client: \(reason)",
                metadata: ["connection": "\(id.shortText)"]
            )
            lost(id)
        case .received(let frame):
            do {
                guard case .message(let text) = try session.assembler.receive(frame) else { return }
                if let count = GroupPosition.count(in: text) {
                    session.commitCount = count
                } else if let message = try session.read(text) {
                    cluster.position.wait(for: session.commitCount) { [cluster] in
                        cluster.step(.owner(message, to: id))
                    }
                }
            } catch {
                cluster.log.error(
                    "the owner said what is no message: \(error)",
                    metadata: ["connection": "\(id.shortText)"]
                )
                lost(id)
            }
        }
    }

    /// Ends a session behind the answers that it has got.
    private func lost(_ id: ConnectionID) {
        let session = sessions.removeValue(forKey: id)
        session?.socket.close()
        // What the client sends meanwhile must not be done before what is lost.
        beginnings[id] = nil
        cluster.position.wait(for: session?.commitCount ?? 0) { [cluster] in
            cluster.step(.owner(.lost, to: id))
        }
    }
}

extension OwnerMessage {
    /// What a message of the wire protocol says about a session; nil for what says nothing to its client.
    fileprivate init?(_ text: [UInt8]) throws(MessageError) {
        switch try ReceivedMessage.parse(text) {
        case .reply(_, let reply): self = .answer(text: text, isOK: reply.isOK)
        case .securityDebug: self = .advice(text: text)
        case .hello: self = .began
        // The credential ends here too, at the node's own decision.
        case .authRevoked, .pong, .unknown: return nil
        // It listens to nothing there, so it is sent no data.
        case .reset, .shutdown, .put, .merge, .rangeMerge, .cancel: self = .lost
        }
    }
}

extension GroupPosition {
    private nonisolated static let mark = UInt8(ascii: "@")

    /// What the owner says ahead of a message: `@4711`.
    var frame: SharedFrame { SharedFrame(text: Array("@\(commitCount)".utf8)) }

    /// The number in such a text; nil for another.
    nonisolated static func count(in text: [UInt8]) -> UInt64? {
        guard text.first == mark else { return nil }
        return UInt64(String(decoding: text.dropFirst(), as: UTF8.self))
    }
}
