import Transport

/// The hub on a port of its own: its addresses and nothing else.
@LoopActor
final class HubApplication: TransportApplication {
    private unowned let server: Server

    init(_ server: Server) {
        self.server = server
    }

    func judge(_ head: RequestHead) -> Verdict {
        if let refusal = server.refusal(byOriginOf: head) { return .refuse(refusal) }
        if head.isWebSocketUpgrade {
            return .refuse(RESTAnswer.error(404, "The hub takes no WebSocket connections."))
        }
        return .accept()
    }

    func request(_ exchange: HTTPExchange) {
        let segments = exchange.head.pathSegments
        if exchange.head.method == "OPTIONS" {
            server.answer(exchange, HTTPResponse(status: 204))
        } else if let route = HubRoute(segments) {
            server.receive(exchange, hub: route)
        } else if segments.isEmpty {
            server.answer(exchange, server.rootAnswer(exchange.head))
        } else {
            server.answer(exchange, RESTAnswer.error(404, "The hub has no such address."))
        }
    }

    func opened(_ connection: WebSocketConnection, _ head: RequestHead) {
        preconditionFailure("the hub refuses upgrades")
    }

    func received(_ connection: WebSocketConnection, _ message: [UInt8]) {
        preconditionFailure("the hub refuses upgrades")
    }

    func closed(_ connection: WebSocketConnection) {
        preconditionFailure("the hub refuses upgrades")
    }

    func aborted(_ exchange: HTTPExchange) {}

    func turnEnded() {}
}
