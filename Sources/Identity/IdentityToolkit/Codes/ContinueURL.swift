/// The page to visit after an e-mail link: `continueUrl` of a request.
package enum ContinueURL {
    /// Bytes of an address. Source: what browsers and proxies all carry.
    package static let byteLimit = 2048

    /// Checks a URL from a client or administrator.
    ///
    /// In development every address with a scheme and a host is accepted. In production it must be `http` or `https`
    /// and have one of the realm's origins, so that this server's emails never lead to a stranger's page.
    ///
    /// - Throws: `INVALID_CONTINUE_URI`, `UNAUTHORIZED_CONTINUE_URI`.
    static func check(_ url: String, _ policy: IdentityPolicy) throws(IdentityError) {
        guard let origin = origin(of: url) else {
            throw .code(
                .invalidContinueURI,
                "((expected an absolute URI with valid scheme and host))"
            )
        }
        guard policy.isDevelopment || policy.continueOrigins.contains(origin) else {
            throw .code(
                .unauthorizedContinueURI,
                "Domain not allowlisted by project; the server's --allow-origin names those that are"
            )
        }
    }

    /// The address, if a link may lead there.
    static func allowed(_ url: String?, _ policy: IdentityPolicy) -> String? {
        guard let url, !url.isEmpty else { return nil }
        do throws(IdentityError) { try check(url, policy) } catch { return nil }
        // Without a list, an address must still not be a script.
        let scheme = url.prefix { $0 != ":" }.lowercased()
        return ["javascript", "data", "vbscript"].contains(scheme) ? nil : url
    }

    /// Scheme, host and port of an absolute address in lower case, the scheme's own port left out:
    /// `https://app.example.com`. nil for what has no scheme or host, and for one with a user's name in it.
    package static func origin(of url: String) -> String? {
        guard url.utf8.count <= byteLimit,
            url.utf8.allSatisfy({ $0 > 32 && $0 < 127 && !"\\\"<>^`{|}".utf8.contains($0) }),
            let mark = url.firstRange(of: "://")
        else { return nil }
        let scheme = url[..<mark.lowerBound].lowercased()
        guard scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isLetter || $0.isNumber || "+-.".contains($0) })
        else { return nil }
        var authority = url[mark.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
        let ownPort = scheme == "https" ? ":443" : scheme == "http" ? ":80" : ""
        if !ownPort.isEmpty, authority.hasSuffix(ownPort) {
            authority.removeLast(ownPort.count)
        }
        let isHost = authority.utf8.allSatisfy { byte in
            byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
                || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
                || "-._:[]".utf8.contains(byte)
        }
        guard isHost, authority.first != ":", !authority.isEmpty else { return nil }
        return "\(scheme)://\(authority)"
    }
}
