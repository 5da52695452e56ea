import Testing

@testable import DatabaseServer

/// The addresses of `--trusted-proxy`.
private func ranges(_ texts: [String]) throws -> [AddressRange] {
    try texts.map { try #require(AddressRange($0)) }
}

@Suite("the address of a client")
struct ClientAddressTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var peer = "10.0.0.1"
        var proxies = ["10.0.0.0/8", "::1"]
        var isTLS = false
        var forwardedFor: [String] = []
        var proto: [String] = []
        var forwarded: [String] = []
        let address: String
        var isSecure = false
        var isHearsay = false

        var testDescription: String {
            "\(peer) \(proxies) for \(forwardedFor) proto \(proto) forwarded \(forwarded)"
        }
    }

    @Test(
        "is the peer's unless trusted proxies say otherwise",
        arguments: [
            // No header says anything.
            Row(address: "10.0.0.1"), Row(isTLS: true, address: "10.0.0.1", isSecure: true),
            // Who is not trusted is not believed.
            Row(
                peer: "203.0.113.9",
                forwardedFor: ["1.2.3.4"],
                address: "203.0.113.9",
                isHearsay: true
            ),
            Row(
                peer: "203.0.113.9",
                proto: ["https"],
                forwarded: ["for=1.2.3.4;proto=https"],
                address: "203.0.113.9",
                isHearsay: true
            ),
            Row(proxies: [], forwardedFor: ["127.0.0.1"], address: "10.0.0.1", isHearsay: true),
            Row(
                peer: "203.0.113.9",
                isTLS: true,
                proto: ["http"],
                address: "203.0.113.9",
                isSecure: true,
                isHearsay: true
            ),
            // One proxy, several, and words that the client made up.
            Row(forwardedFor: ["203.0.113.7"], address: "203.0.113.7"),
            Row(forwardedFor: ["1.2.3.4, 203.0.113.7"], address: "203.0.113.7"),
            Row(forwardedFor: ["1.2.3.4, 203.0.113.7, 10.9.9.9"], address: "203.0.113.7"),
            Row(forwardedFor: ["1.2.3.4", "203.0.113.7", "10.9.9.9"], address: "203.0.113.7"),
            Row(forwardedFor: ["10.1.1.1, 10.2.2.2"], address: "10.1.1.1"),
            Row(forwardedFor: ["127.0.0.1, 203.0.113.7"], address: "203.0.113.7"),
            // Forms of addresses.
            Row(forwardedFor: ["203.0.113.7:4711"], address: "203.0.113.7"),
            Row(forwardedFor: ["2001:db8::7"], address: "2001:db8::7"),
            Row(forwardedFor: ["[2001:db8::7]"], address: "2001:db8::7"),
            Row(forwardedFor: ["[2001:db8::7]:4711"], address: "2001:db8::7"),
            Row(peer: "::1", forwardedFor: ["203.0.113.7"], address: "203.0.113.7"),
            Row(peer: "::ffff:10.0.0.1", forwardedFor: ["203.0.113.7"], address: "203.0.113.7"),
            Row(forwardedFor: ["203.0.113.7, ::ffff:10.3.3.3"], address: "203.0.113.7"),
            Row(forwardedFor: [" \t203.0.113.7 ,"], address: "203.0.113.7"),
            // What makes no sense ends the reading at the proxy that handed it on.
            Row(forwardedFor: ["unknown"], address: "10.0.0.1"),
            Row(forwardedFor: ["1.2.3.4, nonsense, 10.9.9.9"], address: "10.9.9.9"),
            Row(forwardedFor: ["localhost"], address: "10.0.0.1"),
            Row(forwardedFor: ["1.2.3.4; drop"], address: "10.0.0.1"),
            Row(forwardedFor: ["127.1"], address: "10.0.0.1"),
            Row(forwardedFor: ["0x7f.0.0.1"], address: "10.0.0.1"),
            Row(forwardedFor: ["[::1"], address: "10.0.0.1"),
            Row(forwardedFor: [","], address: "10.0.0.1"),
            Row(forwardedFor: [""], address: "10.0.0.1"),
            // The scheme.
            Row(
                forwardedFor: ["203.0.113.7"],
                proto: ["https"],
                address: "203.0.113.7",
                isSecure: true
            ),
            Row(
                forwardedFor: ["203.0.113.7"],
                proto: ["HTTPS"],
                address: "203.0.113.7",
                isSecure: true
            ),
            Row(
                forwardedFor: ["203.0.113.7"],
                proto: ["wss"],
                address: "203.0.113.7",
                isSecure: true
            ),
            Row(
                isTLS: true,
                forwardedFor: ["203.0.113.7"],
                proto: ["http"],
                address: "203.0.113.7"
            ),
            Row(isTLS: true, forwardedFor: ["203.0.113.7"], address: "203.0.113.7", isSecure: true),
            Row(forwardedFor: ["203.0.113.7"], proto: ["https, http"], address: "203.0.113.7"),
            Row(
                forwardedFor: ["203.0.113.7, 10.2.2.2"],
                proto: ["https, http"],
                address: "203.0.113.7",
                isSecure: true
            ),
            Row(proto: ["https"], address: "10.0.0.1", isSecure: true),
            Row(proto: ["gopher"], address: "10.0.0.1"),
            // RFC 7239.
            Row(
                forwarded: [#"for=192.0.2.43;proto=https;by=203.0.113.43"#],
                address: "192.0.2.43",
                isSecure: true
            ),
            Row(forwarded: [#"For="[2001:db8:cafe::17]:4711""#], address: "2001:db8:cafe::17"),
            Row(
                forwarded: [#"for=9.9.9.9, for=192.0.2.43, for="10.1.1.1:80""#],
                address: "192.0.2.43"
            ),
            Row(forwarded: ["for=unknown, for=10.1.1.1"], address: "10.1.1.1"),
            Row(forwarded: ["for=_hidden"], address: "10.0.0.1"),
            Row(forwarded: ["proto=https"], address: "10.0.0.1"),
            Row(forwarded: [#"for="192.0.2.43, for=1.2.3.4"#], address: "10.0.0.1"),
            Row(forwarded: [#"for="192.0\.2.43""#], address: "10.0.0.1"),
            // Both: one of them may be the client's own.
            Row(
                forwardedFor: ["203.0.113.7"],
                forwarded: ["for=203.0.113.7"],
                address: "203.0.113.7"
            ),
            Row(forwardedFor: ["203.0.113.7"], forwarded: ["for=1.2.3.4"], address: "10.0.0.1"),
            Row(
                forwardedFor: ["203.0.113.7"],
                proto: ["http"],
                forwarded: ["for=203.0.113.7;proto=https"],
                address: "203.0.113.7"
            ),
        ]
    )
    func table(row: Row) throws {
        var claims = ClientAddress.Claims()
        claims.forwardedFor = row.forwardedFor
        claims.forwardedProto = row.proto
        claims.forwarded = row.forwarded
        claims.isForwarded = !(row.forwardedFor + row.proto + row.forwarded).isEmpty
        let client = ClientAddress(
            peer: row.peer,
            isTLS: row.isTLS,
            claims: claims,
            proxies: try ranges(row.proxies)
        )
        #expect(client.address == row.address)
        #expect(client.isSecure == row.isSecure)
        #expect(client.isHearsay == row.isHearsay)
    }

    @Test("of a request with a thousand stations is found among the nearest ones")
    func manyHops() throws {
        var claims = ClientAddress.Claims()
        claims.isForwarded = true
        claims.forwardedFor = ["203.0.113.7," + String(repeating: "10.0.0.2,", count: 1000)]
        let client = ClientAddress(
            peer: "10.0.0.1",
            isTLS: false,
            claims: claims,
            proxies: try ranges(["10.0.0.0/8"])
        )
        #expect(client.address == "10.0.0.2")
    }
}

@Suite("a range of addresses")
struct AddressRangeTests {
    @Test(
        "has the addresses that begin alike",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.128/25", "10.0.0.127", false), ("10.0.0.128/25", "10.0.0.200", true),
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
            ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false),
            ("::1", "::1", true), ("2001:db8::/32", "2001:db8:1::9", true),
            ("2001:db8::/32", "2001:db9::", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("::ffff:10.0.0.0", "10.0.0.0", true), ("10.0.0.0/8", "garbage", false),
        ]
    )
    func contains(range: String, address: String, isIn: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(address) == isIn)
    }

    @Test(
        "is refused when it cannot be read",
        arguments: [
            "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "::/129", "localhost",
            "10.0.0", "10.0.0.0/8/8", "[::1]", "10.0.0.0/+8", "10.0.0.0/ 8",
        ]
    )
    func refused(text: String) {
        #expect(AddressRange(text) == nil)
    }
}
