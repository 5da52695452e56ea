import JSONTree
import Testing

@testable import Tokens

@Suite("a key set")
struct KeySetTests {
    private static let goodEC = #""kty":"EC","crv":"P-256","kid":"k","x":"\#(x)","y":"\#(y)""#
    // The key of RFC 7515 appendix A.3.
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    // The key of RFC 7515 appendix A.2.
    private static let modulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4"
        + "QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdb"
        + "BYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-D"
        + "WNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"

    private func load(_ text: String) throws(KeySetError) -> KeySet {
        try KeySet(jwks: Array(text.utf8))
    }

    @Test("takes the keys of RFC 7515 and checks its ES256 example")
    func standardKeys() throws {
        let rsa = #"{"kty":"RSA","kid":"r","n":"\#(Self.modulus)","e":"AQAB"}"#
        let keys = try load(#"{"keys":[{\#(Self.goodEC)},\#(rsa)]}"#)
        #expect(keys.count == 2)
        let key = try #require(keys.key("k", for: .es256))
        let text =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9l"
            + "eGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let signature = try #require(
            Base64.decodeURL(
                ("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6"
                    + "NU1Q").utf8
            )
        )
        #expect(key.verifies(signature, of: Array(text.utf8)))
        #expect(!key.verifies(signature, of: Array((text + "A").utf8)))
        #expect(keys.key("k", for: .rs256) == nil)
        #expect(keys.key("r", for: .rs256) != nil)
        #expect(keys.key("r", for: .hs256) == nil)
        #expect(keys.key(nil, for: .rs256) == nil)
    }

    @Test(
        "passes over keys that are not for its signatures",
        arguments: [
            #"{"kty":"oct","kid":"o","k":"c2VjcmV0"}"#,
            #"{"kty":"OKP","crv":"Ed25519","kid":"d","x":"AA"}"#,
            #"{"kty":"EC","crv":"P-384","kid":"p","x":"AA","y":"AA"}"#,
            #"{"kty":"RSA","use":"enc","kid":"n","n":"AA","e":"AQAB"}"#,
            #"{"kty":"RSA","alg":"RS512","kid":"n","n":"AA","e":"AQAB"}"#,
            #"{"kty":"RSA","alg":"ES256","kid":"n","n":"AA","e":"AQAB"}"#,
            #"{"kty":"RSA","alg":"HS256","kid":"n","n":"AA","e":"AQAB"}"#,
        ]
    )
    func otherKeys(entry: String) throws {
        #expect(try load(#"{"keys":[\#(entry),{\#(Self.goodEC)}]}"#).count == 1)
        #expect(throws: KeySetError.noUsableKey) { try load(#"{"keys":[\#(entry)]}"#) }
    }

    @Test(
        "is refused with the fault and the entry's place",
        arguments: [
            ("", KeySetError.notJSON(offset: 0)), ("{", .notJSON(offset: 1)),
            (#"{"keys":[]}"#, .noKeyList), ("{}", .noKeyList), ("[]", .noKeyList),
            (#"{"keys":"k"}"#, .noKeyList), (#"{"keys":[1]}"#, .badKey(index: 0, "kty")),
            (#"{"keys":[{\#(goodEC)},{\#(goodEC)}]}"#, .duplicateKeyID(index: 1)),
            (#"{"keys":[{\#(goodEC),"d":"AA"}]}"#, .privateKey(index: 0)),
            (
                #"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}]}"#,
                .badKey(index: 0, "kid")
            ),
            (
                #"{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"\#(y)","y":"\#(x)"}]}"#,
                .badKey(index: 0, "x")
            ),
            (
                #"{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"AA","y":"\#(y)"}]}"#,
                .badKey(index: 0, "x")
            ),
            (
                #"{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"\#(x)"}]}"#,
                .badKey(index: 0, "y")
            ),
            (
                #"{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"\#(x)=","y":"\#(y)"}]}"#,
                .badKey(index: 0, "x")
            ),
            (#"{"keys":[{"kty":"RSA","kid":"k","n":"AQAB","e":"AQAB"}]}"#, .badKey(index: 0, "n")),
            (
                #"{"keys":[{"kty":"RSA","kid":"k","n":"\#(modulus)","e":"AQ"}]}"#,
                .badKey(index: 0, "n")
            ),
            (
                #"{"keys":[{"kty":"RSA","kid":"k","n":"\#(modulus)","e":"Ag"}]}"#,
                .badKey(index: 0, "n")
            ),
            (
                #"{"keys":[{"kty":"RSA","kid":"k","n":"\#(modulus)","e":"AQAAAAE"}]}"#,
                .badKey(index: 0, "n")
            ),
            (#"{"keys":[{"kty":"RSA","kid":"k","n":"\#(modulus)"}]}"#, .badKey(index: 0, "e")),
            (#"{"keys":[{"kty":"RSA","kid":"k","e":"AQAB"}]}"#, .badKey(index: 0, "n")),
        ]
    )
    func bad(text: String, error: KeySetError) {
        #expect(throws: error) { try load(text) }
    }

    @Test("has at most 100 keys and 1 MiB")
    func limits() {
        let entries = (0..<101).map { _ in "{\(Self.goodEC)}" }.joined(separator: ",")
        #expect(throws: KeySetError.tooManyKeys(count: 101)) {
            try load(#"{"keys":[\#(entries)]}"#)
        }
        #expect(throws: KeySetError.tooLarge(byteCount: 1_048_577)) {
            try KeySet(jwks: [UInt8](repeating: 32, count: 1_048_577))
        }
    }
}

@Suite("comparing secrets")
struct ConstantTimeTests {
    @Test(
        "says equal for the same bytes alone",
        arguments: [
            ("", "", true), ("a", "a", true), ("a", "b", false), ("a", "ab", false),
            ("", "a", false),
        ]
    )
    func equality(one: String, other: String, isEqual: Bool) {
        #expect(ConstantTime.equal(Array(one.utf8), Array(other.utf8)) == isEqual)
    }
}

@Suite("HMAC with SHA-256")
struct HashMACTests {
    @Test("agrees with RFC 4231, test case 2")
    func vector() {
        let code = HashMAC.code(
            of: Array("what do ya want for nothing?".utf8),
            secret: Array("Jefe".utf8)
        )
        let expected: [UInt8] = [
            0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95,
            0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9,
            0x64, 0xec, 0x38, 0x43,
        ]
        #expect(code == expected)
    }
}
