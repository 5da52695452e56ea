import Transport

/// Where a request comes from: its socket's other end, or what proxies before the server say, if they are trusted.
///
/// A proxy appends the address it was called from to `X-Forwarded-For`, or an element to `Forwarded` (RFC 7239).
/// Whatever stands left of the last trusted word anybody can have written. So both are read from the right, as long
/// as the writer of the next word is trusted.
struct ClientAddress: Equatable, Sendable {
    /// A numeric address without brackets and port: `203.0.113.7`, `2001:db8::7`.
    let address: String
    /// Whether the client's own connection is encrypted.
    let isSecure: Bool
    /// Whether the request says that it was forwarded, without a proxy that is trusted: no such caller counts as
    /// one on this machine.
    let isHearsay: Bool

    /// What a request that is passed on for the client says of it.
    var forwardingHeaders: [(name: String, value: String)] {
        [("X-Forwarded-For", address), ("X-Forwarded-Proto", isSecure ? "https" : "http")]
    }

    /// What a request says of the way it came.
    struct Claims: Equatable, Sendable {
        /// The values of every `X-Forwarded-For`, in order.
        var forwardedFor: [String] = []
        /// The values of every `X-Forwarded-Proto`, in order.
        var forwardedProto: [String] = []
        /// The values of every `Forwarded`, in order.
        var forwarded: [String] = []
        /// Whether there is any header that only proxies send.
        var isForwarded = false
    }

    /// Headers that only proxies and tunnels send, in lower case.
    static let proxyHeaders = [
        "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
        "x-forwarded-port", "x-real-ip", "via",
    ]

    /// Proxies that a request may have passed; words beyond are not read.
    static let hopLimit = 32

    /// What stands for everybody who shares an address: an IPv4 address, or the first 64 bits of an IPv6 one.
    static func network(of address: String) -> String {
        guard address.contains(":"), case .ipv6(let bytes) = Authority.Host("[\(address)]") else {
            return address
        }
        if let mapped = Authority.Host.ipv4(mappedTo: bytes) {
            return mapped.map { "\($0)" }.joined(separator: ".")
        }
        return bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
    }

    /// `peer` is the other end of the socket, without brackets; the word of `proxies` counts.
    init(peer: String, isTLS: Bool, claims: Claims, proxies: [AddressRange]) {
        func isTrusted(_ address: String) -> Bool { proxies.contains { $0.contains(address) } }
        guard claims.isForwarded, isTrusted(peer) else {
            address = peer
            isSecure = isTLS
            isHearsay = claims.isForwarded
            return
        }
        let list = ForwardedHops(addresses: claims.forwardedFor)
        let elements = ForwardedHops(elements: claims.forwarded)
        let listed = list.client(from: peer, isTrusted)
        let described = elements.client(from: peer, isTrusted)
        // A proxy writes one of the two and may hand on the other as its client made it up.
        switch (list.isEmpty, elements.isEmpty) {
        case (false, false):
            address = listed.address == described.address ? listed.address : peer
        case (true, false): address = described.address
        case (_, true): address = listed.address
        }
        let schemes = ForwardedHops.words(claims.forwardedProto).map { $0.lowercased() }
        let words = [
            schemes.isEmpty ? nil : schemes[min(max(listed.hop, 0), schemes.count - 1)],
            described.scheme,
        ].compactMap(\.self)
        isSecure = words.isEmpty ? isTLS : words.allSatisfy { $0 == "https" || $0 == "wss" }
        isHearsay = false
    }
}

/// The stations of a request as its headers tell them, the nearest first.
private struct ForwardedHops {
    struct Hop {
        /// nil for one that is hidden or makes no sense.
        var address: String?
        var scheme: String?
    }

    private let hops: [Hop]

    var isEmpty: Bool { hops.isEmpty }

    /// Those of `X-Forwarded-For`.
    init(addresses values: [String]) {
        hops = Self.words(values).map { Hop(address: Self.address($0), scheme: nil) }
    }

    /// Those of `Forwarded`.
    init(elements values: [String]) {
        hops = Self.words(values).map(Self.hop)
    }

    /// The nearest station that is not trusted, or the farthest when all are; where a station makes no sense, the
    /// one that named it. `hop` counts from 0 for the nearest.
    func client(
        from peer: String,
        _ isTrusted: (String) -> Bool
    ) -> (address: String, scheme: String?, hop: Int) {
        var found: (address: String, scheme: String?, hop: Int) = (peer, nil, -1)
        for (index, hop) in hops.enumerated() {
            guard let address = hop.address else { break }
            found = (address, hop.scheme, index)
            if !isTrusted(address) { break }
        }
        return found
    }

    /// The words of a list that may stand in several headers, the last first; blanks around them do not count.
    static func words(_ values: [String]) -> [String] {
        let words = values.flatMap { split($0, at: ",") }
        return words.suffix(ClientAddress.hopLimit).reversed()
    }

    private static func hop(_ element: String) -> Hop {
        var hop = Hop()
        for pair in split(element, at: ";") {
            guard let equals = pair.firstIndex(of: "=") else { continue }
            let value = unquoted(String(pair[pair.index(after: equals)...]))
            switch pair[..<equals].lowercased() {
            case "for": hop.address = address(value)
            case "proto": hop.scheme = value.lowercased()
            default: break
            }
        }
        return hop
    }

    /// The address of `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::7` or `[2001:db8::7]:4711`; nil for a name,
    /// `unknown`, an obfuscated one or anything else.
    private static func address(_ text: String) -> String? {
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        let isBareIPv6 = colons > 1 && !text.hasPrefix("[")
        guard let authority = Authority(isBareIPv6 ? "[\(text)]" : text) else { return nil }
        switch authority.host {
        case .name: return nil
        case .ipv4: return String(text.prefix { $0 != ":" })
        case .ipv6:
            return isBareIPv6 ? text : String(text.dropFirst().prefix { $0 != "]" })
        }
    }

    /// Splits outside of quotes.
    private static func split(_ text: String, at separator: Character) -> [String] {
        var words: [String] = []
        var word = ""
        var isQuoted = false
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if character == separator, !isQuoted {
                words.append(word)
                word = ""
            } else {
                word.append(character)
            }
        }
        words.append(word)
        return words.map(\.withoutBlanks).filter { !$0.isEmpty }
    }

    /// Addresses need no escapes, so a quoted text with one is none.
    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }
}

extension ClientAddress.Claims {
    /// What a request says of the way it came.
    init(_ head: RequestHead) {
        self.init()
        isForwarded = ClientAddress.proxyHeaders.contains { head.hasHeader($0) }
        guard isForwarded else { return }
        forwardedFor = head.headers("x-forwarded-for")
        forwardedProto = head.headers("x-forwarded-proto")
        forwarded = head.headers("forwarded")
    }
}

extension Server {
    /// Where a request comes from, behind the proxies of `--trusted-proxy` and other nodes of the group.
    func client(of head: RequestHead) -> ClientAddress {
        var proxies = configuration.trustedProxies
        if cluster?.isRelayed(head) == true, let node = AddressRange(head.peerAddress) {
            proxies.append(node)
        }
        return ClientAddress(
            peer: head.peerAddress,
            isTLS: head.isTLS,
            claims: ClientAddress.Claims(head),
            proxies: proxies
        )
    }

    /// The client's numeric address, for logs and throttling.
    func clientAddress(of head: RequestHead) -> String { client(of: head).address }

    /// Host and port that the server listens on: `127.0.0.1:9000`, `[::]:9000`.
    var boundAuthority: String {
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        return "\(host):\(listener?.port ?? configuration.port)"
    }

    /// Scheme, host and port that clients reach the server by: `https://db.example.com`.
    ///
    /// `--public-url` if there is one. Else that of the request; in production only when its `Host` is known to be
    /// ours, since links made of it leave in messages to people.
    func publicAddress(of head: RequestHead) -> String {
        if let address = configuration.accounts.publicURL { return address }
        let scheme = client(of: head).isSecure ? "https" : "http"
        if let host = head.header("host"), let authority = Authority(host),
            configuration.mode == .development || originGuard.isOurs(authority.host)
        {
            return "\(scheme)://\(host)"
        }
        return "\(scheme)://\(boundAuthority)"
    }
}
