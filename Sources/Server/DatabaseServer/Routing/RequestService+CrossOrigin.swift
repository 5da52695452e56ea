import FileProtocol
import Transport

/// What a browser needs to let a page see an answer.
extension RequestService {
    /// CORS: data routes are open to every page that passed the guard; admin routes to none, except
    /// on a loopback bind, where the guard has already asked for a local or a listed origin.
    func crossOriginHeaders(_ exchange: HTTPExchange) -> [(name: String, value: String)] {
        // What pages are made of is for pages of this server.
        let route = ResolvedRequest.of(exchange).route
        if route.service == .pages { return [] }
        let originGuard = server.originGuard
        let head = exchange.head
        let origin = head.header("origin")
        let isPreflight = head.method == "OPTIONS"
        // On loopback a client that is no page gets none of these headers, except in answer to a preflight.
        if origin == nil, originGuard.bindIsLoopback, !isPreflight { return [] }
        if !originGuard.bindIsLoopback, route.isForAdmins { return [] }
        var headers: [(name: String, value: String)] = [("Access-Control-Allow-Origin", "*")]
        if let origin, originGuard.bindIsLoopback { headers = Self.opening(to: origin) }
        if route.service == .files { return headers + fileHeaders(head, isPreflight) }
        let exposed =
            configuration.mode == .development ? "ETag, \(HTTPResponse.debugHeader)" : "ETag"
        headers.append(("Access-Control-Expose-Headers", exposed))
        return isPreflight ? headers + preflightHeaders(head) : headers
    }

    /// What lets pages of one origin read an answer: one of data, or a refusal that tells nothing but its reason.
    static func opening(to origin: String) -> [(name: String, value: String)] {
        [("Access-Control-Allow-Origin", origin), ("Vary", "Origin")]
    }

    /// What pages need to upload and read files.
    private func fileHeaders(
        _ head: RequestHead,
        _ isPreflight: Bool
    ) -> [(name: String, value: String)] {
        if !isPreflight { return FileCrossOrigin.answerHeaders }
        let asked = head.header("access-control-request-headers")
        return FileCrossOrigin.preflight(asked) + privateNetworkHeaders(head)
    }

    private func privateNetworkHeaders(
        _ head: RequestHead
    ) -> [(name: String, value: String)] {
        guard head.header("access-control-request-private-network") == "true" else { return [] }
        return [("Access-Control-Allow-Private-Network", "true")]
    }

    private func preflightHeaders(_ head: RequestHead) -> [(name: String, value: String)] {
        let names = head.header("access-control-request-headers") ?? Self.requestHeaders
        return [
            ("Access-Control-Allow-Methods", "GET, PUT, POST, PATCH, DELETE, HEAD, OPTIONS"),
            ("Access-Control-Allow-Headers", names), ("Access-Control-Max-Age", "86400"),
        ] + privateNetworkHeaders(head)
    }

    /// The headers of requests that mean something here, for a preflight that names none.
    private static let requestHeaders =
        "Authorization, Content-Type, X-Firebase-ETag, If-Match, If-None-Match, X-HTTP-Method-Override, X-Firebase-AppCheck"
}
