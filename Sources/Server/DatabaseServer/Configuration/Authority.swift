import Glibc

/// A host with an optional port, as `Host` and the origin of a page carry it: `localhost:9000`, `[::1]:80`.
///
/// Lower-cased. User names, empty parts, white space and a dot at the end are no part of it.
struct Authority: Hashable, Sendable {
    /// A name, or an address in its one canonical spelling.
    let host: Host
    let port: UInt16?

    /// What stands before the port.
    enum Host: Hashable, Sendable {
        /// A name of the domain name system, lower-cased.
        case name(String)
        /// The four bytes of an IPv4 address.
        case ipv4([UInt8])
        /// The sixteen bytes of an IPv6 address.
        case ipv6([UInt8])
    }
}

extension Authority {
    /// Reads `text`; nil for anything that is not exactly one host with at most one port.
    init?(_ text: String) {
        let bytes = text.utf8
        // RFC 1035 allows names of 253 bytes; brackets and a port come on top.
        guard !bytes.isEmpty, bytes.count <= 300 else { return nil }
        var end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        if bytes.first == UInt8(ascii: "[") {
            guard let last = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = bytes.index(after: last)
        }
        guard let host = Host(String(text[..<end])) else { return nil }
        let rest = bytes[end...]
        let port = rest.first == UInt8(ascii: ":") ? Self.port(rest.dropFirst()) : nil
        guard rest.isEmpty || port != nil else { return nil }
        self.init(host: host, port: port)
    }

    /// What stands before the port in the text of an authority, without brackets.
    static func bareHost(of text: some StringProtocol) -> String {
        guard text.hasPrefix("[") else { return String(text.prefix { $0 != ":" }) }
        return String(text.dropFirst().prefix { $0 != "]" })
    }

    private static func port(_ digits: Substring.UTF8View) -> UInt16? {
        // The conversion takes a sign.
        let isNumber = digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isNumber && digits.count <= 5 ? UInt16(Substring(digits)) : nil
    }
}

extension Authority.Host {
    /// Reads a name, a dotted quad, or an IPv6 address in brackets; nil for anything else.
    ///
    /// Names whose last label is a number are refused: systems read `127.1` and `0x7f.1` as addresses.
    init?(_ text: String) {
        // Other scripts are refused before lower-casing, which turns some of their characters into ASCII ones.
        guard text.utf8.allSatisfy({ $0 < 128 }) else { return nil }
        if text.utf8.first == UInt8(ascii: "["), text.utf8.last == UInt8(ascii: "]") {
            guard let bytes = Self.ipv6(String(text.dropFirst().dropLast())) else { return nil }
            self = .ipv6(bytes)
            return
        }
        let lastDot = text.utf8.lastIndex(of: UInt8(ascii: "."))
        let lastLabel = lastDot.map { text.utf8[$0...].dropFirst() } ?? text.utf8[...]
        if Self.isNumber(lastLabel) {
            guard let bytes = Self.ipv4(text) else { return nil }
            self = .ipv4(bytes)
            return
        }
        let name = text.lowercased()
        guard name.utf8.count <= 253, Self.hasLabels(name.utf8) else { return nil }
        self = .name(name)
    }

    /// Whether only this machine can be meant: `localhost`, `*.localhost`, 127.0.0.0/8, ::1.
    var isLoopback: Bool {
        switch self {
        case .name(let name): name == "localhost" || name.hasSuffix(".localhost")
        case .ipv4(let bytes): bytes.first == 127
        case .ipv6(let bytes):
            Self.ipv4(mappedTo: bytes).map { $0[0] == 127 }
                ?? (bytes == [UInt8](repeating: 0, count: 15) + [1])
        }
    }

    /// The IPv4 address that is written as this IPv6 one; nil for others.
    static func ipv4(mappedTo bytes: [UInt8]) -> [UInt8]? {
        let prefix = [UInt8](repeating: 0, count: 10) + [255, 255]
        return bytes.starts(with: prefix) ? Array(bytes[12...]) : nil
    }

    private static func ipv4(_ text: String) -> [UInt8]? {
        var address = in_addr()
        guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
        return withUnsafeBytes(of: address) { Array($0) }
    }

    private static func ipv6(_ text: String) -> [UInt8]? {
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        return withUnsafeBytes(of: address) { Array($0) }
    }

    /// Whether a lower-cased text is labels of 1 to 63 bytes with dots between them.
    private static func hasLabels(_ name: String.UTF8View) -> Bool {
        var byteCount = 0
        for byte in name {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                byteCount += 1
                if byteCount > 63 { return false }
            case UInt8(ascii: ".") where byteCount > 0: byteCount = 0
            default: return false
            }
        }
        return byteCount > 0
    }

    private static func isNumber(_ label: Substring.UTF8View) -> Bool {
        label.starts(with: "0x".utf8)
            || label.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

/// Where a page comes from: scheme, host and port, as `Origin` carries it.
struct WebOrigin: Hashable, Sendable {
    /// Lower-cased: `http`, `https`, `capacitor`, `chrome-extension`, ...
    let scheme: String
    /// The port is nil where it is the scheme's own.
    let authority: Authority

    /// Reads `http://localhost:3000`; nil for `null`, a path, a list, a user name or anything else.
    init?(_ text: String) {
        guard let (scheme, rest) = Self.split(text) else { return nil }
        self.init(scheme: scheme, authority: rest)
    }

    /// The origin of a whole address such as `http://localhost:3000/page?x#y`, as `Referer` carries it.
    init?(ofAddress text: String) {
        guard let (scheme, rest) = Self.split(text) else { return nil }
        self.init(scheme: scheme, authority: rest.prefix { !"/?#".contains($0) })
    }

    private init?(scheme: Substring, authority text: Substring) {
        guard let authority = Authority(String(text)) else { return nil }
        let scheme = scheme.lowercased()
        let ownPort: UInt16? =
            switch scheme {
            case "http": 80
            case "https": 443
            default: nil
            }
        let hasOwnPort = authority.port == ownPort
        self.scheme = scheme
        self.authority = Authority(host: authority.host, port: hasOwnPort ? nil : authority.port)
    }

    /// Whether a browser made it of an address it loaded over HTTP.
    var isHTTP: Bool { scheme == "http" || scheme == "https" }

    private static func split(_ text: String) -> (scheme: Substring, rest: Substring)? {
        // 2,048 bytes is the longest address that browsers and proxies all carry.
        guard text.utf8.count <= 2048, let colon = text.firstIndex(of: ":"),
            text[colon...].hasPrefix("://")
        else { return nil }
        let scheme = text[..<colon]
        let isScheme =
            scheme.first?.isLetter == true
            && scheme.allSatisfy {
                $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
            }
        return isScheme ? (scheme, text[colon...].dropFirst(3)) : nil
    }
}
