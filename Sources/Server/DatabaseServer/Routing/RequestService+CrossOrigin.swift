import Transport

/// What a browser needs to let a page see an answer.
extension RequestService {
    /// CORS: data routes are open to every page that passed the guard; admin routes to none, except
    /// on a loopback bind, where the guard has already asked for a local or a listed origin.
    func crossOriginHeaders(_ exchange: HTTPExchange) -> [(name: String, value: String)] {
        // What pages are made of is for pages of this server.
        if ResolvedRequest.of(exchange).route.service == .pages { return [] }
        let originGuard = server.originGuard
        let head = exchange.head
        let origin = head.header("origin")
        let isPreflight = head.method == "OPTIONS"
        // On loopback a client that is no page gets none of these headers, except in answer to a preflight.
        if origin == nil, originGuard.bindIsLoopback, !isPreflight { return [] }
        if !originGuard.bindIsLoopback, ResolvedRequest.of(exchange).route.isForAdmins { return [] }
        var headers: [(name: String, value: String)] = [("Access-Control-Allow-Origin", "*")]
        if let origin, originGuard.bindIsLoopback { headers = Self.opening(to: origin) }
        let exposed =
            configuration.mode == .development ? "ETag, \(HTTPResponse.debugHeader)" : "ETag"
        headers.append(("Access-Control-Expose-Headers", exposed))
        return isPreflight ? headers + preflightHeaders(head) : headers
    }

    /// What lets pages of one origin read an answer: one of data, or a refusal that tells nothing but its reason.
    static func opening(to origin: String) -> [(name: String, value: String)] {
        [("Access-Control-Allow-Origin", origin), ("Vary", "Origin")]
    }

    private func preflightHeaders(_ head: RequestHead) -> [(name: String, value: String)] {
        let names = head.header("access-control-request-headers") ?? Self.requestHeaders
        var headers: [(name: String, value: String)] = [
            ("Access-Control-Allow-Methods", "GET, PUT, POST, PATCH, DELETE, HEAD, OPTIONS"),
            ("Access-Control-Allow-Headers", names), ("Access-Control-Max-Age", "86400"),
        ]
        if head.header("access-control-request-private-network") == "true" {
            headers.append(("Access-Control-Allow-Private-Network", "true"))
        }
        return headers
    }

    /// The headers of requests that mean something here, for a preflight that names none.
    private static let requestHeaders =
        "Authorization, Content-Type, X-Firebase-ETag, If-Match, If-None-Match, X-HTTP-Method-Override, X-Firebase-AppCheck"
}
