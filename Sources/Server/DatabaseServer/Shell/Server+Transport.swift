import Transport

extension Server: TransportApplication {
    func admit(_ exchange: HTTPExchange) -> Admission { requests.admit(exchange) }

    func opened(_ connection: WebSocketConnection, _ head: RequestHead) {
        guard let request = connection.userData as? ResolvedRequest,
            case .socket(_, let open) = request.route.action,
            case .success(let database) = request.database
        else { preconditionFailure("a WebSocket opens where the server takes one") }
        if let cluster, !cluster.leads {
            return cluster.open(connection, request) { [self] in
                open(self, connection, head, database)
            }
        }
        open(self, connection, head, database)
    }

    func received(_ connection: WebSocketConnection, _ message: [UInt8]) {
        sockets.receiveFrame(message, on: connection)
    }

    func closed(_ connection: WebSocketConnection) { sockets.closeWire(connection) }

    func request(_ exchange: HTTPExchange) { requests.receive(exchange) }

    func answered(_ exchange: HTTPExchange, after nanoseconds: UInt64) {
        requests.noteAnswer(exchange, after: nanoseconds)
    }

    func aborted(_ exchange: HTTPExchange) { requests.abandon(exchange) }

    func bodyByteLimit(_ head: RequestHead) -> Int? { requests.bodyByteLimit(of: head) }

    func client(_ head: RequestHead) -> String {
        ClientAddress.network(of: clientAddress(of: head))
    }

    func tickEnded() {
        sockets.flushPolls()
        workIfNeeded()
        durability.watchLog()
        commits.announce()
    }
}

extension OriginGuard.Request {
    /// What the guard looks at in a request.
    init(_ head: RequestHead) {
        self.init(
            path: "/" + head.pathSegments.joined(separator: "/"),
            host: head.host.isEmpty ? nil : head.host,
            origin: Self.joined(head, "origin"),
            secFetchSite: Self.joined(head, "sec-fetch-site"),
            referer: Self.joined(head, "referer"),
            isForScript: head.queryValue("callback") != nil,
        )
    }

    /// All values of a header, as one that was sent once would hold them.
    private static func joined(_ head: RequestHead, _ name: String) -> String? {
        let values = head.headers(name)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }
}
