import Transport

/// The cookie of a session of the console, and whether a request is one of the console's own.
///
///     Set-Cookie: __Host-hearth-console=<43 characters>; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=3600
///
/// `__Host-` has browsers refuse it from other hosts and from subdomains. Scripts cannot read it. Browsers send it along
/// with requests of pages of this host at any port, so the page of each request is looked at here as well.
enum ConsoleCookie {
    static let name = "__Host-hearth-console"

    /// The header that hands a cookie out.
    static func setting(_ value: String) -> (name: String, value: String) {
        header(value, seconds: ConsoleSessions.lifetime / 1000)
    }

    /// The header that takes it back.
    static let removing = header("", seconds: 0)

    private static func header(_ value: String, seconds: Int64) -> (name: String, value: String) {
        let flags = "Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=\(seconds)"
        return ("Set-Cookie", "\(name)=\(value); \(flags)")
    }

    /// The value that a request brings; nil for none, and for several: then one of them is not ours.
    static func value(in headers: [String]) -> String? {
        let values = headers.flatMap { $0.split(separator: ";") }.compactMap { pair -> String? in
            let text = String(pair).withoutBlanks
            guard text.hasPrefix(name + "=") else { return nil }
            return String(text.dropFirst(name.count + 1))
        }
        return values.count == 1 ? values[0] : nil
    }

    /// Whether a page of this server's own origin sent a request, as its browser says.
    ///
    /// A browser sends `Origin` with all requests that change something and with WebSockets, and `Sec-Fetch-Site` with
    /// all requests of a secure page. What is there must say so, each once, and one must be there.
    static func isFromOwnPage(origins: [String], sites: [String], own: WebOrigin?) -> Bool {
        guard origins.count <= 1, sites.count <= 1, !origins.isEmpty || !sites.isEmpty else {
            return false
        }
        if let site = sites.first, site != "same-origin" { return false }
        guard let origin = origins.first else { return true }
        return own != nil && WebOrigin(origin) == own
    }
}

extension Server {
    /// Whether a page of this server sent a request: one of the origin that the request itself names.
    func isFromOwnPage(_ head: RequestHead) -> Bool {
        let scheme = client(of: head).isSecure ? "https" : "http"
        let hosts = head.headers("host")
        return ConsoleCookie.isFromOwnPage(
            origins: head.headers("origin"),
            sites: head.headers("sec-fetch-site"),
            own: hosts.count == 1 ? WebOrigin("\(scheme)://\(hosts[0])") : nil
        )
    }
}
