import Transport

/// Keeps web pages of other origins away from a server on the loopback interface.
///
/// A developer's browser runs pages of strangers, and each of them can send requests to `localhost`. So on a
/// loopback bind every route, upgrades included, wants a `Host` that only this machine has (a name that a
/// stranger points at 127.0.0.1 is not one) and, when the request names a page, a page from such a host.
/// On any other bind everything passes: there CORS is open, as a public database needs.
struct OriginGuard: Sendable {
    /// What a request says about its origin; a header sent several times is its values joined by commas.
    struct Request: Sendable {
        /// The decoded path, such as `/.lp`.
        var path: String
        var host: String?
        var origin: String?
        var secFetchSite: String?
        var referer: String?
        /// Whether the request carries the `id` and `pw` of a long-polling session that is alive: only the page
        /// that opened it knows them.
        var hasLivePollCredentials = false
        /// Whether the answer is a script that hands its data to whichever page loads it (`callback`).
        var isForScript = false
    }

    /// What is done with the request.
    enum Outcome: Equatable, Sendable {
        case accept
        /// Answered with status 403 and this text, which names the flag that would let it pass.
        case refuse(String)
    }

    /// Whether a request names the page that sent it.
    static func namesPage(_ head: RequestHead) -> Bool {
        head.hasHeader("origin") || head.hasHeader("sec-fetch-site") || head.hasHeader("referer")
    }

    /// Whether a `Host` is one of the two that nearly every request on a loopback bind has, found without reading it as
    /// an authority.
    static func isPlainlyOurs(_ host: String) -> Bool {
        guard host.hasPrefix("127.0.0.1:") || host.hasPrefix("localhost:") else { return false }
        // Both have ten bytes.
        let port = host.utf8.dropFirst(10)
        return port.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            && UInt16(Substring(port)) != nil
    }

    /// Whether only this machine can reach the server.
    let bindIsLoopback: Bool
    private let hosts: Set<Authority.Host>
    /// Each with its leading dot: `.db.example.com`.
    private let hostSuffixes: [String]
    private let origins: Set<WebOrigin>

    /// `hosts` are those of `--allow-host` and of the host map, `origins` those of `--allow-origin`. Every subdomain of
    /// `domain` is a host of ours.
    init(
        bindIsLoopback: Bool,
        hosts: Set<Authority.Host> = [],
        domain: String? = nil,
        origins: Set<WebOrigin> = [],
    ) {
        self.bindIsLoopback = bindIsLoopback
        self.hosts = hosts
        self.hostSuffixes = domain.map { ["." + $0] } ?? []
        self.origins = origins
    }

    /// Decides on a request before its body is read or its upgrade answered.
    func check(_ request: Request) -> Outcome {
        bindIsLoopback ? checkAsLoopback(request) : .accept
    }

    /// The check itself, whatever the bind: development mode opens its admin routes to loopback callers that pass.
    func checkAsLoopback(_ request: Request) -> Outcome {
        guard let hostText = request.host else {
            return .refuse("The request has no Host header; a server on loopback needs one.")
        }
        guard let authority = Authority(hostText) else {
            return .refuse("The Host header \(quoted(hostText)) is not one host name with a port.")
        }
        guard isOurs(authority.host) else {
            return .refuse(
                """
                Host \(quoted(hostText)) is refused: this server listens on loopback, so only localhost names \
                and loopback addresses reach it. To serve this name, start hearth with \
                --allow-host \(Self.hostPart(of: hostText)).
                """
            )
        }
        if request.path == "/.lp", request.hasLivePollCredentials { return .accept }
        // A link in an email comes from any page; what it leads to changes nothing and cannot be framed, and the form
        // that it shows says where it comes from.
        if request.path == "/.accounts/action", request.origin == nil { return .accept }
        return checkPage(request)
    }

    /// Decides on the page that sent the request, if a browser names one.
    private func checkPage(_ request: Request) -> Outcome {
        if let text = request.origin {
            return isAllowed(WebOrigin(text)) ? .accept : refusal(ofPage: text)
        }
        // Script tags send no Origin, and long polling and callbacks live on them.
        if request.path == "/.lp" || request.isForScript, let text = request.referer {
            return isAllowed(WebOrigin(ofAddress: text)) ? .accept : refusal(ofPage: text)
        }
        switch request.secFetchSite {
        case nil, "same-origin", "same-site", "none":
            return .accept
        default:
            return refusal(ofPage: nil)
        }
    }

    private func isAllowed(_ origin: WebOrigin?) -> Bool {
        guard let origin else { return false }
        return origins.contains(origin) || origin.isHTTP && isOurs(origin.authority.host)
    }

    /// Whether a host means this server, as far as the configuration tells: loopback, or one that was named.
    func isOurs(_ host: Authority.Host) -> Bool {
        if host.isLoopback || hosts.contains(host) { return true }
        guard case .name(let name) = host else { return false }
        return hostSuffixes.contains { name.hasSuffix($0) }
    }

    /// `page` is what a browser says of the page: its origin, or its whole address; nil when it does not say.
    private func refusal(ofPage page: String?) -> Outcome {
        if page == "null" {
            return .refuse(
                """
                A page without an origin of its own (a file that was opened, a sandboxed frame) may not use this \
                server, which listens on loopback, and --allow-origin cannot name it. \
                Serve the page from http://localhost.
                """
            )
        }
        let origin = page.flatMap(Self.originPart)
        let subject = page.map { "The origin \(quoted(origin ?? $0))" } ?? "A page of another site"
        let flag =
            origin.map { "--allow-origin \($0)" }
            ?? "--allow-origin ORIGIN, for example --allow-origin https://app.example.com"
        return .refuse(
            """
            \(subject) may not use this server, which listens on loopback. \
            To let its pages in, start hearth with \(flag).
            """
        )
    }

    /// `db.example.com` of `db.example.com:80`, which is one host with a port.
    private static func hostPart(of text: String) -> Substring {
        text.hasPrefix("[") ? text.prefix { $0 != "]" } + "]" : text.prefix { $0 != ":" }
    }

    /// `https://app.example.com` of the address of a page, without its path and query; nil when it cannot be read.
    private static func originPart(of address: String) -> String? {
        guard WebOrigin(ofAddress: address) != nil else { return nil }
        let parts = address.split(separator: "/", maxSplits: 2)
        return "\(parts[0])//\(parts[1].prefix { !"?#".contains($0) })"
    }

    /// Text of a stranger, cut to 100 characters and bare of anything but printable ASCII.
    private func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(100).map { scalar in
            scalar.isASCII && scalar.value >= 32 && scalar.value < 127 && scalar != "'"
                ? Character(scalar) : "?"
        }
        return "'\(String(shown))'"
    }
}
