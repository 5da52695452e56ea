import IdentityToolkit
import Transport

/// Accounts on a port of their own, where SDKs look for an Auth emulator: their addresses and nothing else.
@LoopActor
final class AccountsApplication: TransportApplication {
    private unowned let server: Server

    init(_ server: Server) {
        self.server = server
    }

    func judge(_ head: RequestHead) -> Verdict {
        if head.isWebSocketUpgrade {
            return .refuse(RESTAnswer.error(404, "This port takes no WebSocket connections."))
        }
        return server.judge(head)
    }

    func request(_ exchange: HTTPExchange) {
        let head = exchange.head
        switch Route(head.pathSegments) {
        case .identity, .accounts, .live, .ready: server.receive(exchange)
        case .root where server.configuration.mode == .development && head.method != "OPTIONS":
            server.answer(exchange, RESTAnswer.json(Self.greeting))
        case .root: server.receive(exchange)
        default:
            server.counts.requests += 1
            server.refuse(exchange, .notFound)
        }
    }

    /// What an Auth emulator says at its root. Source: firebase-tools, `emulator/auth/server.ts`.
    private static let greeting: [UInt8] = {
        var inner = JSONMembers()
        inner.add("ready", .boolean(true))
        inner.add("server", "Hearth \(Version.text)")
        var body = JSONMembers()
        body.add("authEmulator", inner.value)
        return body.value.text
    }()

    func opened(_ connection: WebSocketConnection, _ head: RequestHead) {
        preconditionFailure("this port refuses upgrades")
    }

    func received(_ connection: WebSocketConnection, _ message: [UInt8]) {
        preconditionFailure("this port refuses upgrades")
    }

    func closed(_ connection: WebSocketConnection) {
        preconditionFailure("this port refuses upgrades")
    }

    func aborted(_ exchange: HTTPExchange) {
        server.aborted(exchange)
    }

    func turnEnded() {}
}
