import IdentityToolkit
import JSONTree
import Transport

/// Accounts on a port of their own, where SDKs look for an Auth emulator: their addresses and nothing else.
@LoopActor
final class AccountsApplication: HTTPApplication {
    private unowned let server: Server

    init(_ server: Server) {
        self.server = server
    }

    func admit(_ exchange: HTTPExchange) -> Admission {
        if exchange.head.isWebSocketUpgrade {
            return .refuse(.error(404, "This port takes no WebSocket connections."))
        }
        return server.admit(exchange)
    }

    func request(_ exchange: HTTPExchange) {
        let head = exchange.head
        let isRoot = head.pathSegments.isEmpty
        if isRoot, server.configuration.mode == .development, head.method != "OPTIONS" {
            return server.requests.answer(exchange, .json(of: Self.greeting))
        }
        switch ResolvedRequest.of(exchange).route.service {
        case .accounts, .health: server.requests.receive(exchange)
        default:
            server.requests.count(ResolvedRequest.of(exchange).route)
            server.identity.refuse(exchange, .notFound)
        }
    }

    /// What an Auth emulator says at its root. Source: firebase-tools, `emulator/auth/server.ts`.
    private static let greeting: JSONValue = [
        "authEmulator": ["ready": .boolean(true), "server": .string("Hearth \(Version.text)")]
    ]

    func answered(_ exchange: HTTPExchange, after nanoseconds: UInt64) {
        server.answered(exchange, after: nanoseconds)
    }

    func aborted(_ exchange: HTTPExchange) {
        server.aborted(exchange)
    }
}
