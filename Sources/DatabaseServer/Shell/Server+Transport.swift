import DatabaseCore
import Logging
import Transport

extension Server: TransportApplication {
    /// Decides from the head alone whether a request is taken: its origin, its address, its database.
    func judge(_ head: RequestHead) -> Verdict {
        if let refusal = refusal(byOriginOf: head) { return .refuse(refusal) }
        if !head.isWebSocketUpgrade, !isStopping { return judgeBody(head) }
        let route = Route(head.pathSegments)
        // Where a script is due, other answers than scripts are no answers.
        let isAnswered = route == .live || route == .ready || route == .longPoll
        if isStopping, !head.isWebSocketUpgrade, !isAnswered {
            return .refuse(RESTAnswer.error(503, "The server is stopping."))
        }
        if !head.isWebSocketUpgrade { return judgeBody(head) }
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

    /// The answer to a request that the guard refuses; nil for one that passes. In development the log says why.
    func refusal(byOriginOf head: RequestHead) -> HTTPResponse? {
        guard case .refuse(let text) = judgeOrigin(head) else { return nil }
        counts.refusedOrigins += 1
        if configuration.mode == .development, loggedOrigins.admits(text) {
            log.warning("answered 403: \(text)")
        }
        var response = RESTAnswer.error(403, text)
        if let origin = head.header("origin") { response.headers += Server.opening(to: origin) }
        return response
    }

    /// Asks the guard, unless it has just let the same request pass: programs that are no browsers name no page, and
    /// the same host comes again and again.
    private func judgeOrigin(_ head: RequestHead) -> OriginGuard.Verdict {
        guard originGuard.bindIsLoopback else { return .accept }
        let namesPage = OriginGuard.pageHeaders.contains { head.hasHeader($0) }
        let host = head.host
        if !namesPage, host == acceptedHost { return .accept }
        var request = OriginGuard.Request(head)
        request.hasLivePollCredentials = polls.session(of: head) != nil
        let verdict = originGuard.judge(request)
        if !namesPage, verdict == .accept { acceptedHost = host }
        return verdict
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

    func client(_ head: RequestHead) -> String {
        ClientAddress.network(of: clientAddress(of: head))
    }

    func turnEnded() {
        polls.flush()
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
