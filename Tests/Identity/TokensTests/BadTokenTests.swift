import JSONTree
import Testing

@testable import Tokens

@Suite("a token is refused")
struct BadTokenTests {
    @Test(
        "when it does not have the form of one",
        arguments: [
            ("", TokenError.partCount(1)), ("a", .partCount(1)), ("a.b", .partCount(2)),
            ("a.b.c.d", .partCount(4)), ("a.b.c.d.e", .partCount(5)), ("....", .partCount(5)),
            ("..", .notAnObject(.header)), (".e30.", .notAnObject(.header)),
            ("e30.e30.=", .notBase64URL(.signature)), ("e30.e30.A", .notBase64URL(.signature)),
            ("e30=.e30.", .notBase64URL(.header)), ("e 30.e30.", .notBase64URL(.header)),
            ("e30.e30.", .badHeader("alg")), ("e30.e30. ", .notBase64URL(.signature)),
            ("W10.e30.", .notAnObject(.header)), ("IiI.e30.", .notAnObject(.header)),
            ("eyJh.e30.", .notJSON(.header, offset: 3)),
            ("e317.e30.", .notJSON(.header, offset: 2)),
            ("owner", .partCount(1)), ("Bearer a.b.c", .notBase64URL(.signature)),
            (String(repeating: "a", count: 16_385), .tooLong(byteCount: 16_385)),
        ]
    )
    func form(text: String, error: TokenError) throws {
        #expect(try Fixtures.verifier().verify(text, now: Fixtures.now).failure == error)
    }

    @Test(
        "for its header, whatever signs it",
        arguments: [
            (#"{"typ":"JWT","kid":"r1"}"#, TokenError.badHeader("alg")),
            (#"{"alg":null,"kid":"r1"}"#, .badHeader("alg")),
            (#"{"alg":["RS256"],"kid":"r1"}"#, .badHeader("alg")),
            (#"{"alg":256,"kid":"r1"}"#, .badHeader("alg")),
            (#"{"alg":"","kid":"r1"}"#, .unsupportedAlgorithm),
            (#"{"alg":"RS512","kid":"r1"}"#, .unsupportedAlgorithm),
            (#"{"alg":"PS256","kid":"r1"}"#, .unsupportedAlgorithm),
            (#"{"alg":"ES384","kid":"r1"}"#, .unsupportedAlgorithm),
            (#"{"alg":"rs256","kid":"r1"}"#, .unsupportedAlgorithm),
            (#"{"alg":"None","kid":"r1"}"#, .unsupportedAlgorithm),
            (#"{"alg":"NONE","kid":"r1"}"#, .unsupportedAlgorithm),
            (#"{"alg":"HS256","kid":"r1"}"#, .unsupportedAlgorithm),
            (#"{"alg":"none","kid":"r1"}"#, .unsigned),
            (#"{"alg":"RS256"}"#, .unknownKey(nil)),
            (#"{"alg":"RS256","kid":null}"#, .unknownKey(nil)),
            (#"{"alg":"RS256","kid":""}"#, .badHeader("kid")),
            (#"{"alg":"RS256","kid":7}"#, .badHeader("kid")),
            (#"{"alg":"RS256","kid":["r1"]}"#, .badHeader("kid")),
            (#"{"alg":"RS256","kid":"R1"}"#, .unknownKey("R1")),
            (#"{"alg":"RS256","kid":"../r1"}"#, .unknownKey("../r1")),
            (#"{"alg":"RS256","kid":"e1"}"#, .unknownKey("e1")),
            (#"{"alg":"ES256","kid":"r1"}"#, .unknownKey("r1")),
            (#"{"alg":"ES256","kid":"e1"}"#, .badSignature),
            (#"{"alg":"RS256","kid":"r1","crit":["exp"],"exp":1}"#, .forbiddenHeader("crit")),
            (#"{"alg":"RS256","kid":"r1","crit":[""]}"#, .forbiddenHeader("crit")),
            (
                #"{"alg":"RS256","kid":"r1","jku":"https://evil.example/k"}"#,
                .forbiddenHeader("jku")
            ),
            (
                #"{"alg":"RS256","kid":"r1","x5u":"https://evil.example/c"}"#,
                .forbiddenHeader("x5u")
            ),
            (#"{"alg":"RS256","kid":"r1","x5c":["MII"]}"#, .forbiddenHeader("x5c")),
            (#"{"alg":"RS256","kid":"r1","jwk":{"kty":"RSA"}}"#, .forbiddenHeader("jwk")),
            (#"{"alg":"RS256","kid":"r1","b64":false}"#, .forbiddenHeader("b64")),
            (#"{"alg":"RS256","kid":"r1","zip":"DEF"}"#, .forbiddenHeader("zip")),
            (#"{"alg":"RS256","kid":"r1"} "#, nil),
            (#"{"alg":"RS256","kid":"r1"}x"#, .notJSON(.header, offset: 26)),
            (#"[{"alg":"RS256","kid":"r1"}]"#, .notAnObject(.header)),
        ] as [(String, TokenError?)]
    )
    func header(header: String, error: TokenError?) throws {
        let signer = try Fixtures.signer(.rs256)
        let text = try #require(signer.sign(header: header, claims: Fixtures.claims()))
        #expect(try Fixtures.verifier().verify(text, now: Fixtures.now).failure == error)
    }

    @Test(
        "for its claims",
        arguments: [
            (["exp": nil], TokenError.badClaim("exp")),
            (["exp": "\"1767229140\""], .badClaim("exp")),
            (["exp": "1767229140.5"], .badClaim("exp")),
            (["exp": "true"], .badClaim("exp")), (["exp": "[1767229140]"], .badClaim("exp")),
            (["exp": "-1"], .badClaim("exp")), (["exp": "253402300800"], .badClaim("exp")),
            (["exp": "9223372036854775807"], .badClaim("exp")),
            (["exp": "1e300"], .badClaim("exp")),
            (["exp": "1767225600"], .expired(at: Fixtures.now)),
            (["exp": "0"], .expired(at: Timestamp(milliseconds: 0))),
            (["iat": nil], .badClaim("iat")), (["iat": "\"1\""], .badClaim("iat")),
            (["iat": "1767225611"], .notYetValid(from: Timestamp(milliseconds: 1_767_225_611_000))),
            (["nbf": "1767225611"], .notYetValid(from: Timestamp(milliseconds: 1_767_225_611_000))),
            (
                ["auth_time": "1767225611"],
                .notYetValid(from: Timestamp(milliseconds: 1_767_225_611_000))
            ),
            (["nbf": "\"0\""], .badClaim("nbf")),
            (["auth_time": "{}", "iat": "{\"a\":1}"], .badClaim("iat")),
            (["iss": nil], .wrongIssuer), (["iss": "\"\""], .wrongIssuer),
            (["iss": "\"https://securetoken.google.com/party/\""], .wrongIssuer),
            (["iss": "\"https://securetoken.google.com/partyx\""], .wrongIssuer),
            (["iss": "[\"https://securetoken.google.com/party\"]"], .badClaim("iss")),
            (["aud": nil], .wrongAudience), (["aud": "\"other\""], .wrongAudience),
            (["aud": "\"PARTY\""], .wrongAudience), (["aud": "[]"], .wrongAudience),
            (["aud": "[\"a\",\"b\"]"], .wrongAudience),
            (["aud": "[1,\"party\"]"], .badClaim("aud")),
            (["aud": "true"], .badClaim("aud")),
            (["aud": "[\"party\",\"\(TokenPolicy.customTokenAudience)\"]"], .wrongAudience),
            (["sub": nil, "user_id": nil], .badClaim("sub")), (["sub": "\"\""], .badClaim("sub")),
            (["sub": "7"], .badClaim("sub")),
            (["sub": "null", "user_id": "\"\""], .badClaim("sub")),
            (
                ["sub": "\"\(String(repeating: "x", count: 129))\"", "user_id": nil],
                .badClaim("sub")
            ),
            (["user_id": "\"eve\""], .badClaim("user_id")),
            (["user_id": "1"], .badClaim("user_id")),
            (["firebase": #"{"sign_in_provider":1}"#], .badClaim("firebase.sign_in_provider")),
            (["firebase": nil, "provider_id": "{\"a\":1}"], .badClaim("provider_id")),
        ] as [([String: String?], TokenError)]
    )
    func claims(changes: [String: String?], error: TokenError) throws {
        for algorithm in [Algorithm.rs256, .hs256] {
            let text = try Fixtures.token(algorithm, changes)
            let verifier = try Fixtures.verifier(secret: Fixtures.secret)
            #expect(verifier.verify(text, now: Fixtures.now).failure == error, "\(algorithm)")
        }
    }

    @Test(
        "when its claims are no object or not JSON",
        arguments: [
            ("", TokenError.notAnObject(.claims)), ("[]", .notAnObject(.claims)),
            ("null", .notAnObject(.claims)), (" {}", .notAnObject(.claims)),
            ("{", .notJSON(.claims, offset: 1)), ("{}{}", .notJSON(.claims, offset: 2)),
            ("{\"a\":1,}", .notJSON(.claims, offset: 7)),
        ]
    )
    func claimsText(claims: String, error: TokenError) throws {
        let text = try #require(try Fixtures.signer(.rs256).sign(claims: claims))
        #expect(try Fixtures.verifier().verify(text, now: Fixtures.now).failure == error)
    }

    @Test(
        "when any byte of its first two parts or its signature is another",
        arguments: [Algorithm.rs256, .es256, .hs256]
    )
    func everyByteCounts(algorithm: Algorithm) throws {
        let verifier = try Fixtures.verifier(secret: Fixtures.secret)
        let bytes = Array(try Fixtures.token(algorithm).utf8)
        for offset in stride(from: 0, to: bytes.count, by: 7) {
            var changed = bytes
            changed[offset] =
                bytes[offset] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let text = String(decoding: changed, as: UTF8.self)
            #expect(verifier.verify(text, now: Fixtures.now).failure != nil, "offset \(offset)")
        }
    }

    @Test(
        "when something stands before or behind it",
        arguments: [Algorithm.rs256, .es256, .hs256]
    )
    func surroundings(algorithm: Algorithm) throws {
        let verifier = try Fixtures.verifier(secret: Fixtures.secret)
        let text = try Fixtures.token(algorithm)
        for changed in [
            text + "A", text + "AAAA", text + "=", text + " ", text + "\n", text + ".", " " + text,
            "." + text, String(text.dropLast()), String(text.dropLast(4)), text + "\u{0}",
        ] {
            #expect(verifier.verify(changed, now: Fixtures.now).failure != nil)
        }
    }

    @Test("when its last character hides bits behind the last byte")
    func hiddenBits() throws {
        // 256 bytes of RSA signature end in a character whose low four bits must be 0.
        let text = try Fixtures.token(.rs256)
        let last = try #require(text.last)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let index = try #require(alphabet.firstIndex(of: last))
        let changed = text.dropLast() + String(alphabet[index + 1])
        let failure = try Fixtures.verifier().verify(String(changed), now: Fixtures.now).failure
        #expect(failure == .notBase64URL(.signature))
    }
}

@Suite("a forged token is refused")
struct ForgedTokenTests {
    @Test("when it is signed by a key of the right kind that is not the named one")
    func otherKeys() throws {
        let pairs = [(Fixtures.otherRSA, "r1"), (Fixtures.otherP256, "e1")]
        for (pair, keyID) in pairs {
            let signer = TokenSigner(.keyPair(try #require(pair)), keyID: keyID)
            let text = try #require(signer.sign(claims: Fixtures.claims()))
            let failure = try Fixtures.verifier().verify(text, now: Fixtures.now).failure
            #expect(failure == .badSignature)
        }
    }

    @Test(
        "when HS256 uses the public key's text, modulus or JWK as its secret, with and without a secret of ours"
    )
    func publicKeyAsSecret() throws {
        let jwk = try Fixtures.jwk(of: Fixtures.rsa, "r1")
        let node = try Node.readingAnyJSON(Array(jwk.utf8))
        let modulus = try #require(node.member("n").string)
        let number = try #require(Base64.decodeURL(modulus.utf8))
        let guesses: [[UInt8]] = [
            Array(jwk.utf8), Array(modulus.utf8), number,
            try Fixtures.jwks(), [0], Array("r1".utf8),
        ]
        for guess in guesses {
            let header = #"{"alg":"HS256","kid":"r1","typ":"JWT"}"#
            let text = try #require(
                TokenSigner(.hmac(guess)).sign(header: header, claims: Fixtures.claims())
            )
            let open = try Fixtures.verifier().verify(text, now: Fixtures.now)
            #expect(open.failure == .unsupportedAlgorithm)
            let withSecret = try Fixtures.verifier(secret: Fixtures.secret)
            #expect(withSecret.verify(text, now: Fixtures.now).failure == .badSignature)
        }
    }

    @Test("when it is unsigned and that is not accepted, with and without a signature behind it")
    func unsigned() throws {
        let text = try Fixtures.token(.unsigned)
        let verifier = try Fixtures.verifier(secret: Fixtures.secret)
        #expect(verifier.verify(text, now: Fixtures.now).failure == .unsigned)
        #expect(verifier.verify(text + "AAAA", now: Fixtures.now).failure == .unsigned)
    }

    @Test("when it says none and brings a signature, even where unsigned ones are accepted")
    func unsignedWithSignature() throws {
        let verifier = try Fixtures.verifier(acceptsUnsigned: true)
        let text = try Fixtures.token(.unsigned) + "AAAA"
        #expect(verifier.verify(text, now: Fixtures.now).failure == .unsigned)
    }

    @Test(
        "when its signature was cut off, even where unsigned tokens are accepted",
        arguments: [Algorithm.rs256, .es256, .hs256]
    )
    func cutSignature(algorithm: Algorithm) throws {
        let verifier = try Fixtures.verifier(acceptsUnsigned: true, secret: Fixtures.secret)
        let text = try Fixtures.token(algorithm)
        let end = try #require(text.lastIndex(of: "."))
        let cut = String(text[...end])
        #expect(verifier.verify(cut, now: Fixtures.now).failure == .badSignature)
    }

    @Test("when its ES256 signature is DER, all zeros, or of the wrong size")
    func ellipticForms() throws {
        let text = try Fixtures.token(.es256)
        let end = try #require(text.lastIndex(of: "."))
        let signed = String(text[...end])
        let raw = try #require(Base64.decodeURL(text[text.index(after: end)...].utf8))
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
            0x25, 0x51,
        ]
        let der = try #require(ECSignature.der(fromRaw: raw))
        let forms: [[UInt8]] = [
            der, [UInt8](repeating: 0, count: 64),
            [], [0], Array(raw.dropLast()), raw + [0], [0] + raw, order + order,
            [UInt8](repeating: 0xFF, count: 64), Array(raw[32...] + raw[..<32]),
        ]
        let verifier = try Fixtures.verifier()
        for form in forms {
            let forged = signed + Base64.encode(form, .url)
            #expect(verifier.verify(forged, now: Fixtures.now).failure == .badSignature)
        }
        #expect(
            verifier.verify(signed + Base64.encode(raw, .url), now: Fixtures.now).failure == nil
        )
    }

    @Test("when it is a custom token, meant for the accounts service, signed or not")
    func customToken() throws {
        let changes = ["aud": "\"\(TokenPolicy.customTokenAudience)\""]
        let verifier = try Fixtures.verifier(acceptsUnsigned: true, audience: nil)
        for algorithm in [Algorithm.rs256, .unsigned] {
            let text = try Fixtures.token(algorithm, changes)
            #expect(verifier.verify(text, now: Fixtures.now).failure == .wrongAudience)
        }
    }

    @Test("when there are no keys at all")
    func noKeys() throws {
        let verifier = TokenVerifier(keys: .empty, policy: TokenPolicy())
        for algorithm in [Algorithm.rs256, .es256] {
            let text = try Fixtures.token(algorithm)
            let failure = verifier.verify(text, now: Fixtures.now).failure
            #expect(failure == .unknownKey(algorithm == .rs256 ? "r1" : "e1"))
        }
    }

    @Test("in the same way whatever else is wrong: the signature is checked before the claims")
    func signatureFirst() throws {
        let signer = TokenSigner(.keyPair(try #require(Fixtures.otherRSA)), keyID: "r1")
        let text = try #require(signer.sign(claims: Fixtures.claims(["exp": "1"])))
        let failure = try Fixtures.verifier().verify(text, now: Fixtures.now).failure
        #expect(failure == .badSignature)
    }
}
