import SyncCore
import WireProtocol

/// One WebSocket between a client and the server: two queues, a client's end and a server's end, each of
/// which learns of the end of the connection in its own time.
struct SyncPipe {
    enum State {
        /// The handshake is under way.
        case opening
        case open
        /// This end does not know it, but nothing arrives any more.
        case cut
        /// This end knows that the connection is over.
        case closed
    }

    /// What the client calls it.
    let socket: SocketID
    /// What the server calls it.
    let connection: UInt64
    /// The session that the client had before; the server ends it first.
    let lastSession: String?
    /// As the client sees it.
    var clientEnd = State.opening
    /// As the server sees it.
    var serverEnd = State.opening
    /// Frames on their way to the server, oldest first.
    var toServer: [[UInt8]] = []
    /// Frames on their way to the client, oldest first.
    var toClient: [[UInt8]] = []
    /// Joins the frames that the server gets.
    var assembler = FrameAssembler(byteLimit: 1 << 24)
    /// Joins the frames that the client gets, for the twin.
    var twinAssembler = FrameAssembler(byteLimit: 1 << 24)

    init(socket: SocketID, connection: UInt64, lastSession: String?) {
        self.socket = socket
        self.connection = connection
        self.lastSession = lastSession
    }

    /// Whether neither end uses it any more.
    var isOver: Bool { clientEnd == .closed && serverEnd == .closed }

    /// Whether frames go to the server: also for a while after the connection was cut or closed.
    var mayReachServer: Bool {
        !toServer.isEmpty && (serverEnd == .open || serverEnd == .cut)
    }

    var mayReachClient: Bool {
        !toClient.isEmpty && (clientEnd == .open || clientEnd == .cut)
    }

    /// Ends the connection without telling anybody. Of what is on its way the first frames arrive.
    mutating func cut(toServer: Int, toClient: Int) {
        self.toServer.removeLast(max(0, self.toServer.count - toServer))
        self.toClient.removeLast(max(0, self.toClient.count - toClient))
        if clientEnd != .closed { clientEnd = .cut }
        if serverEnd == .opening {
            serverEnd = .closed
        } else if serverEnd != .closed {
            serverEnd = .cut
        }
    }
}
