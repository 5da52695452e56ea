import Transport

/// The hub on a port of its own: its addresses and nothing else.
@LoopActor
final class HubApplication: HTTPApplication {
    private unowned let server: Server

    init(_ server: Server) {
        self.server = server
    }

    func admit(_ exchange: HTTPExchange) -> Admission {
        let request = server.requests.resolve(exchange)
        if let refusal = server.requests.refusal(byOriginOf: request) { return .refuse(refusal) }
        if exchange.head.isWebSocketUpgrade {
            return .refuse(.error(404, "The hub takes no WebSocket connections."))
        }
        return .accept()
    }

    func request(_ exchange: HTTPExchange) {
        let request = ResolvedRequest.of(exchange)
        if exchange.head.method == "OPTIONS" {
            server.requests.answer(exchange, HTTPResponse(status: 204))
        } else if request.route.service == .emulator {
            server.requests.dispatch(exchange, request)
        } else if exchange.head.pathSegments.isEmpty {
            server.emulator.answerRoot(exchange)
        } else {
            server.requests.answer(exchange, .error(404, "The hub has no such address."))
        }
    }

    func aborted(_ exchange: HTTPExchange) {}
}

/// The application of a port without WebSockets: `admit` refuses every upgrade.
protocol HTTPApplication: TransportApplication {}

extension HTTPApplication {
    func opened(_ connection: WebSocketConnection, _ head: RequestHead) {
        preconditionFailure("this port refuses upgrades")
    }

    func received(_ connection: WebSocketConnection, _ message: [UInt8]) {
        preconditionFailure("this port refuses upgrades")
    }

    func closed(_ connection: WebSocketConnection) {
        preconditionFailure("this port refuses upgrades")
    }

    func tickEnded() {}
}
