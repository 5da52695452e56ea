import JSONTree
import Testing

@testable import Tokens

@Suite("a refresh token")
struct RefreshSealTests {
    private let seal = RefreshSeal(key: [UInt8](0..<32))
    private let other = RefreshSeal(key: [UInt8](1...32))
    private let ticket = RefreshTicket(uid: "ann", provider: "password", signedInAt: 1_767_225_600)

    @Test(
        "gives its ticket back, to the byte",
        arguments: [
            RefreshTicket(uid: "ann", provider: "password", signedInAt: 0),
            RefreshTicket(
                uid: String(repeating: "\u{1}", count: 128),
                provider: "custom",
                signedInAt: 253_402_300_799,
                claims: Array(#"{"a":{},"b":[],"c":null,"d":1.0,"é":"\"\\"}"#.utf8)
            ),
            RefreshTicket(uid: "a\"b", provider: "", signedInAt: -1, claims: Array("{}".utf8)),
            RefreshTicket(
                uid: "big",
                provider: "custom",
                signedInAt: 5,
                claims: Array("{\"x\":\"".utf8) + [UInt8](repeating: 120, count: 4088)
                    + Array("\"}".utf8)
            ),
        ]
    )
    func roundTrip(ticket: RefreshTicket) throws {
        let token = try #require(seal.seal(ticket))
        #expect(seal.open(token) == ticket)
        #expect(token.utf8.allSatisfy { (33...126).contains($0) })
        #expect(token.utf8.count <= TokenLimits.refreshTokenByteCount)
    }

    @Test("of another key is none")
    func otherKey() throws {
        let token = try #require(other.seal(ticket))
        #expect(seal.open(token) == nil)
        #expect(other.open(token) == ticket)
    }

    @Test("is none when any of its characters is another one, missing or doubled")
    func everyCharacter() throws {
        let token = Array(try #require(seal.seal(ticket)).utf8)
        for index in token.indices {
            for character in [UInt8(ascii: "A"), UInt8(ascii: "B")] where character != token[index]
            {
                var changed = token
                changed[index] = character
                #expect(seal.open(String(decoding: changed, as: UTF8.self)) == nil, "\(index)")
            }
            var shorter = token
            shorter.remove(at: index)
            #expect(seal.open(String(decoding: shorter, as: UTF8.self)) == nil, "\(index)")
            #expect(seal.open(String(decoding: token[..<index], as: UTF8.self)) == nil, "\(index)")
            var longer = token
            longer.insert(token[index], at: index)
            #expect(seal.open(String(decoding: longer, as: UTF8.self)) == nil, "\(index)")
        }
    }

    @Test("is none with something before or behind it, or in another spelling")
    func surroundings() throws {
        let token = try #require(seal.seal(ticket))
        for changed in [
            "", " ", "hr1_", token + "A", token + "AAAA", token + "=", token + "==", token + "\n",
            " " + token, token + token, token + "\u{0}", "HR1_" + token.dropFirst(4),
            "hr2_" + token.dropFirst(4), String(token.dropFirst(4)),
            String(repeating: "A", count: 20_000), "hr1_" + String(repeating: "A", count: 20_000),
        ] {
            #expect(seal.open(changed) == nil)
        }
    }

    @Test("cannot be made of a MAC and a ticket of one's own")
    func forged() throws {
        let body = Array(#"{"u":"ann","p":"password","t":9999999999}"#.utf8)
        for code in [
            [UInt8](repeating: 0, count: 32), try #require(HashMAC.code(of: body, secret: [])),
            // The right key over the ticket alone, without the prefix that names its purpose.
            try #require(HashMAC.code(of: body, secret: [UInt8](0..<32))),
        ] {
            #expect(seal.open("hr1_" + Base64.encode(code + body, .url)) == nil)
        }
    }

    @Test("is not made of a ticket that is too long")
    func tooLong() {
        let claims = [UInt8](repeating: 32, count: 10_000)
        let long = RefreshTicket(uid: "a", provider: "custom", signedInAt: 0, claims: claims)
        #expect(seal.seal(long) == nil)
    }

    @Test("is refused where an ID token belongs, and an ID token where it belongs")
    func kinds() throws {
        let token = try #require(seal.seal(ticket))
        let verifier = try Fixtures.verifier(acceptsUnsigned: true)
        #expect(verifier.verify(token, now: Fixtures.now).failure == .partCount(1))
        #expect(seal.open(try Fixtures.token(.rs256)) == nil)
    }
}
