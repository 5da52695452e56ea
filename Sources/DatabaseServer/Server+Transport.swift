import DatabaseCore
import Transport

extension Server: TransportApplication {
    /// Decides from the head alone whether a request is taken: its origin, its address, its database.
    func judge(_ head: RequestHead) -> Verdict {
        let route = Route(head.pathSegments)
        if case .refuse(let text) = originGuard.judge(OriginGuard.Request(head)) {
            return .refuse(RESTAnswer.error(403, text))
        }
        if isStopping, !head.isWebSocketUpgrade, route != .live, route != .ready {
            return .refuse(RESTAnswer.error(503, "The server is stopping."))
        }
        if !head.isWebSocketUpgrade { return .accept() }
        guard route == .webSocket || route == .events else {
            let text = "WebSocket connections are taken at /.ws and /.events."
            return .refuse(RESTAnswer.error(404, text))
        }
        if isStopping { return .refuse(RESTAnswer.error(503, "The server is stopping.")) }
        do throws(BadRequest) {
            let database = try database(of: head)
            return route == .events ? judgeEvents(head, database) : .accept()
        } catch {
            return .refuse(RESTAnswer.bad(error))
        }
    }

    func opened(_ connection: WebSocketConnection, _ head: RequestHead) {
        do throws(BadRequest) {
            let database = try database(of: head)
            switch Route(head.pathSegments) {
            case .events: openEvents(connection, head, database)
            default: openWire(connection, head, database)
            }
        } catch {
            preconditionFailure("the name of the database was judged before the upgrade")
        }
    }

    func received(_ connection: WebSocketConnection, _ message: [UInt8]) {
        receive(message, on: connection)
    }

    func closed(_ connection: WebSocketConnection) {
        closeWire(connection)
    }

    func request(_ exchange: HTTPExchange) {
        receive(exchange)
    }

    func aborted(_ exchange: HTTPExchange) {
        abandon(exchange)
    }

    func turnEnded() {
        workIfNeeded()
        watchLog()
        commits.announce()
    }
}

extension OriginGuard.Request {
    /// What the guard looks at in a request.
    init(_ head: RequestHead) {
        self.init(
            path: "/" + head.pathSegments.joined(separator: "/"),
            host: Self.joined(head, "host"),
            origin: Self.joined(head, "origin"),
            secFetchSite: Self.joined(head, "sec-fetch-site"),
            referer: Self.joined(head, "referer"),
        )
    }

    /// All values of a header, as one that was sent once would hold them.
    private static func joined(_ head: RequestHead, _ name: String) -> String? {
        let values = head.headers(name)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }
}
