import Transport

/// The console on a port of its own (`--console-port`), with what it asks for: data, `/.events`, accounts, and the
/// addresses of administrators. SDKs have no door here.
@LoopActor
final class ConsoleApplication: TransportApplication {
    private unowned let server: Server

    init(_ server: Server) {
        self.server = server
    }

    func admit(_ exchange: HTTPExchange) -> Admission {
        let request = server.requests.resolve(exchange, isOnConsolePort: true)
        guard request.route.isOnConsolePort else {
            return .refuse(.error(404, "The port of the console has no such address."))
        }
        return server.requests.admit(request)
    }

    func opened(_ connection: WebSocketConnection, _ head: RequestHead) {
        server.opened(connection, head)
    }

    func received(_ connection: WebSocketConnection, _ message: [UInt8]) {
        server.received(connection, message)
    }

    func closed(_ connection: WebSocketConnection) { server.closed(connection) }

    func request(_ exchange: HTTPExchange) { server.request(exchange) }

    func aborted(_ exchange: HTTPExchange) { server.aborted(exchange) }

    func tickEnded() { server.tickEnded() }

    func bodyByteLimit(_ head: RequestHead) -> Int? { server.bodyByteLimit(head) }

    func client(_ head: RequestHead) -> String { server.client(head) }
}
