import Transport

/// What a browser needs to let a page see an answer.
extension Server {
    /// CORS: data routes are open to every page that passed the guard; admin routes to none, except
    /// on a loopback bind, where the guard has already asked for a local or a listed origin.
    func crossOriginHeaders(_ head: RequestHead) -> [(name: String, value: String)] {
        let origin = head.header("origin")
        let isPreflight = head.method == "OPTIONS"
        // On loopback nothing is said to those who are no page, but to whoever asks what would be said.
        if origin == nil, originGuard.bindIsLoopback, !isPreflight { return [] }
        if !originGuard.bindIsLoopback, Route(head.pathSegments).isForAdmins { return [] }
        var headers: [(name: String, value: String)]
        if let origin, originGuard.bindIsLoopback {
            headers = Server.opening(to: origin)
        } else {
            headers = [(name: "Access-Control-Allow-Origin", value: "*")]
        }
        let exposed =
            configuration.mode == .development ? "ETag, \(RESTAnswer.debugHeader)" : "ETag"
        headers.append((name: "Access-Control-Expose-Headers", value: exposed))
        return isPreflight ? headers + preflightHeaders(head) : headers
    }

    /// What lets pages of one origin read an answer: one of data, or a refusal that tells nothing but its reason.
    static func opening(to origin: String) -> [(name: String, value: String)] {
        [(name: "Access-Control-Allow-Origin", value: origin), (name: "Vary", value: "Origin")]
    }

    private func preflightHeaders(_ head: RequestHead) -> [(name: String, value: String)] {
        let names = head.header("access-control-request-headers") ?? Server.requestHeaders
        var headers = [
            (
                name: "Access-Control-Allow-Methods",
                value: "GET, PUT, POST, PATCH, DELETE, HEAD, OPTIONS"
            ),
            (name: "Access-Control-Allow-Headers", value: names),
            (name: "Access-Control-Max-Age", value: "86400"),
        ]
        if head.header("access-control-request-private-network") == "true" {
            headers.append((name: "Access-Control-Allow-Private-Network", value: "true"))
        }
        return headers
    }

    /// The headers of requests that mean something here, for a preflight that names none.
    private static let requestHeaders =
        "Authorization, Content-Type, X-Firebase-ETag, If-Match, If-None-Match, X-HTTP-Method-Override, X-Firebase-AppCheck"
}
