import Glibc

/// A host with an optional port, as `Host` and the origin of a page carry it: `localhost:9000`, `[::1]:80`.
///
/// Lower-cased. User names, empty parts, white space and a dot at the end are no part of it.
package struct Authority: Hashable, Sendable {
    /// A name, or an address in its one canonical spelling.
    package let host: Host
    package let port: UInt16?

    /// What stands before the port.
    package enum Host: Hashable, Sendable {
        /// A name of the domain name system, lower-cased.
        case name(String)
        /// The four bytes of an IPv4 address.
        case ipv4([UInt8])
        /// The sixteen bytes of an IPv6 address.
        case ipv6([UInt8])
    }

    /// Reads `text`; nil for anything that is not exactly one host with at most one port.
    package init?(_ text: String) {
        // RFC 1035 allows names of 253 bytes; brackets and a port come on top.
        guard !text.isEmpty, text.utf8.count <= 300 else { return nil }
        let hostText: Substring
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            hostText = text[...end]
            rest = text[text.index(after: end)...]
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            hostText = text[..<end]
            rest = text[end...]
        }
        guard let host = Host(String(hostText)) else { return nil }
        self.host = host
        if rest.isEmpty {
            self.port = nil
        } else {
            guard rest.first == ":", let port = Self.port(rest.dropFirst()) else { return nil }
            self.port = port
        }
    }

    private static func port(_ digits: Substring) -> UInt16? {
        guard !digits.isEmpty, digits.utf8.count <= 5,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return UInt16(digits)
    }
}

extension Authority.Host {
    /// Reads a name, a dotted quad, or an IPv6 address in brackets; nil for anything else.
    ///
    /// Names whose last label is a number are refused: systems read `127.1` and `0x7f.1` as addresses.
    package init?(_ text: String) {
        // Other scripts are refused before lower-casing, which turns some of their letters into ASCII ones.
        guard text.utf8.allSatisfy({ $0 < 128 }) else { return nil }
        if text.hasPrefix("["), text.hasSuffix("]") {
            guard let bytes = Self.ipv6(String(text.dropFirst().dropLast())) else { return nil }
            self = .ipv6(bytes)
            return
        }
        if let bytes = Self.ipv4(text) {
            self = .ipv4(bytes)
            return
        }
        let name = text.lowercased()
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, labels.allSatisfy(Self.isLabel), let last = labels.last,
            !Self.isNumber(last)
        else { return nil }
        self = .name(name)
    }

    /// Whether only this machine can be meant: `localhost`, `*.localhost`, 127.0.0.0/8, ::1.
    package var isLoopback: Bool {
        switch self {
        case .name(let name): name == "localhost" || name.hasSuffix(".localhost")
        case .ipv4(let bytes): bytes.first == 127
        case .ipv6(let bytes): Self.isLoopback(ipv6: bytes)
        }
    }

    private static func isLoopback(ipv6 bytes: [UInt8]) -> Bool {
        let mappedPrefix = [UInt8](repeating: 0, count: 10) + [255, 255]
        if bytes.starts(with: mappedPrefix) { return bytes[12] == 127 }
        return bytes == [UInt8](repeating: 0, count: 15) + [1]
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

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        (1...63).contains(label.count)
            && label.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func isNumber(_ label: Substring.UTF8View) -> Bool {
        label.starts(with: "0x".utf8)
            || label.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

/// Where a page comes from: scheme, host and port, as `Origin` carries it.
package struct WebOrigin: Hashable, Sendable {
    /// Lower-cased: `http`, `https`, `capacitor`, `chrome-extension`, ...
    package let scheme: String
    /// The port is nil where it is the scheme's own.
    package let authority: Authority

    /// Reads `http://localhost:3000`; nil for `null`, a path, a list, a user name or anything else.
    package init?(_ text: String) {
        guard let (scheme, rest) = Self.split(text) else { return nil }
        self.init(scheme: scheme, authority: rest)
    }

    /// The origin of a whole address such as `http://localhost:3000/page?x#y`, as `Referer` carries it.
    package init?(ofAddress text: String) {
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
    package var isHTTP: Bool { scheme == "http" || scheme == "https" }

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

extension Authority {
    fileprivate init(host: Host, port: UInt16?) {
        self.host = host
        self.port = port
    }
}
