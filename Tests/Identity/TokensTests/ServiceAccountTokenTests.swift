import JSONTree
import Testing

@testable import Tokens

private let address = "ci@party.hearth.local"
private let tokenAddress = "https://db.example/token"

/// A service account with the keys `k1` (RSA) and `k2` (P-256).
private enum Account {
    static func keys() throws -> KeySet {
        KeySet(keys: [
            "k1": try #require(Fixtures.rsa).publicKey, "k2": try #require(Fixtures.p256).publicKey,
        ])
    }

    static func signed(
        _ members: [String: String?],
        header: String = #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#,
        by pair: KeyPair? = Fixtures.rsa
    ) throws -> String {
        let text = members.sorted { $0.key < $1.key }
            .compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
            .joined(separator: ",")
        let signer = TokenSigner(.keyPair(try #require(pair)))
        return try #require(signer.sign(header: header, claims: "{\(text)}"))
    }

    static let assertion: [String: String?] = [
        "iss": "\"\(address)\"", "aud": "\"\(tokenAddress)\"", "scope": "\"a b\"",
        "iat": "\(Fixtures.nowSeconds)", "exp": "\(Fixtures.nowSeconds + 3600)",
    ]

    static let custom: [String: String?] = [
        "iss": "\"\(address)\"", "sub": "\"\(address)\"",
        "aud": "\"\(TokenPolicy.customTokenAudience)\"", "uid": "\"ann\"",
        "claims": #"{"premium":true,"level":7}"#,
        "iat": "\(Fixtures.nowSeconds)", "exp": "\(Fixtures.nowSeconds + 3600)",
    ]
}

@Suite("what a service account signs")
struct ServiceAccountTokenTests {
    private func assertion(_ text: String) -> Result<VerifiedToken, TokenError> {
        Result { () throws(TokenError) in try ServiceAccountToken(text) }.flatMap { token in
            do {
                return token.verifyAssertion(
                    keys: try Account.keys(),
                    audiences: [tokenAddress, "https://oauth2.googleapis.com/token"],
                    now: Fixtures.now
                )
            } catch {
                return .failure(.unknownKey(nil))
            }
        }
    }

    private func custom(_ text: String) -> Result<VerifiedToken, TokenError> {
        Result { () throws(TokenError) in try ServiceAccountToken(text) }.flatMap { token in
            do {
                return token.verifyCustom(keys: try Account.keys(), now: Fixtures.now)
            } catch {
                return .failure(.unknownKey(nil))
            }
        }
    }

    @Test("is an assertion of the account, with or without its name for the key")
    func good() throws {
        for header in [
            #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#, #"{"alg":"RS256","typ":"JWT"}"#,
        ] {
            let text = try Account.signed(Account.assertion, header: header)
            #expect(try ServiceAccountToken(text).issuer == address)
            let token = try assertion(text).get()
            #expect(token.serviceAccount == address)
            #expect(token.serviceAccountKeyID == "k1")
            #expect(token.source == .serviceAccount)
            #expect(!token.isAdmin)
        }
        let other = try Account.signed(
            Account.assertion.merging(["sub": "\"\(address)\""]) { $1 },
            header: #"{"alg":"ES256"}"#,
            by: Fixtures.p256
        )
        #expect(try assertion(other).get().serviceAccountKeyID == "k2")
    }

    @Test(
        "is no assertion for its claims",
        arguments: [
            ("aud", "\"https://evil.example/token\"", TokenError.wrongAudience),
            ("aud", nil, .wrongAudience), ("aud", "[]", .wrongAudience),
            ("aud", "[\"https://db.example/token\",\"https://evil.example\"]", .wrongAudience),
            ("aud", "\"https://db.example/token/\"", .wrongAudience),
            ("aud", "\"\(TokenPolicy.customTokenAudience)\"", .wrongAudience),
            ("sub", "\"eve@party.hearth.local\"", .badClaim("sub")),
            ("sub", "{\"a\":1}", .badClaim("sub")),
            ("exp", "\(Fixtures.nowSeconds + 3601)", .badClaim("exp")),
            ("exp", "\(Fixtures.nowSeconds)", .expired(at: Fixtures.now)),
            ("exp", "\"9\"", .badClaim("exp")), ("exp", nil, .badClaim("exp")),
            ("exp", "1e300", .badClaim("exp")),
            ("iat", nil, .badClaim("iat")),
            ("iat", "\(Fixtures.nowSeconds - 1)", .badClaim("exp")),
            (
                "iat", "\(Fixtures.nowSeconds + 11)",
                .notYetValid(from: Timestamp(milliseconds: (Fixtures.nowSeconds + 11) * 1000))
            ),
        ] as [(String, String?, TokenError)]
    )
    func badAssertion(name: String, value: String?, error: TokenError) throws {
        var members = Account.assertion
        members[name] = .some(value)
        #expect(assertion(try Account.signed(members)).failure == error)
    }

    @Test("is refused for its header or signature")
    func badSignature() throws {
        let members = Account.assertion
        func failure(_ header: String, _ pair: KeyPair? = Fixtures.rsa) throws -> TokenError? {
            assertion(try Account.signed(members, header: header, by: pair)).failure
        }
        #expect(try failure(#"{"alg":"RS256","kid":"k9"}"#) == .unknownKey("k9"))
        #expect(try failure(#"{"alg":"RS256","kid":"k2"}"#) == .unknownKey("k2"))
        #expect(try failure(#"{"alg":"RS256","kid":"k1"}"#, Fixtures.otherRSA) == .badSignature)
        #expect(try failure(#"{"alg":"RS256"}"#, Fixtures.otherRSA) == .badSignature)
        #expect(try failure(#"{"alg":"none","kid":"k1"}"#) == .unsigned)
        #expect(try failure(#"{"alg":"HS256","kid":"k1"}"#) == .unsupportedAlgorithm)
        #expect(try failure(#"{"alg":"HS512","kid":"k1"}"#) == .unsupportedAlgorithm)
        let jku = #"{"alg":"RS256","kid":"k1","jku":"https://evil.example"}"#
        #expect(try failure(jku) == .forbiddenHeader("jku"))
        let unknown = try ServiceAccountToken(try Account.signed(members))
            .verifyAssertion(keys: .empty, audiences: [tokenAddress], now: Fixtures.now)
        #expect(unknown.failure == .unknownKey("k1"))
        var anonymous = members
        anonymous["iss"] = .some(nil)
        #expect(throws: TokenError.wrongIssuer) {
            try ServiceAccountToken(try Account.signed(anonymous))
        }
    }

    @Test("is a custom token that says who signs in, with claims that stay")
    func customToken() throws {
        let token = try custom(try Account.signed(Account.custom)).get()
        #expect(token.subject == "ann")
        #expect(token.provider == "custom")
        #expect(token.claims.member("claims").member("level").integer == 7)
        #expect(token.serviceAccount == address)
    }

    @Test(
        "is no custom token for its claims",
        arguments: [
            ("uid", nil, TokenError.badClaim("uid")), ("uid", "\"\"", .badClaim("uid")),
            ("uid", "7", .badClaim("uid")), ("uid", "[\"ann\"]", .badClaim("uid")),
            ("uid", "\"\(String(repeating: "x", count: 129))\"", .badClaim("uid")),
            ("sub", nil, .badClaim("sub")), ("sub", "\"ann\"", .badClaim("sub")),
            ("aud", "\"\(tokenAddress)\"", .wrongAudience), ("aud", nil, .wrongAudience),
            ("exp", "\(Fixtures.nowSeconds + 3601)", .badClaim("exp")),
            ("exp", nil, .badClaim("exp")), ("iat", nil, .badClaim("iat")),
            ("claims", "[]", nil), ("claims", "7", .badClaim("claims")),
            ("claims", "\"admin\"", .badClaim("claims")),
            ("claims", "{\"x\":\"\(String(repeating: "x", count: 4090))\"}", .badClaim("claims")),
            ("claims", #"{"sub":"eve"}"#, .reservedClaim("sub")),
            ("claims", #"{"firebase":{"sign_in_provider":"x"}}"#, .reservedClaim("firebase")),
            ("claims", #"{"Sub":"eve"}"#, nil),
        ] as [(String, String?, TokenError?)]
    )
    func badCustomToken(name: String, value: String?, error: TokenError?) throws {
        var members = Account.custom
        members[name] = .some(value)
        #expect(custom(try Account.signed(members)).failure == error)
    }

    @Test("cannot claim any of the reserved names", arguments: ReservedClaims.names)
    func reserved(name: String) throws {
        var members = Account.custom
        members["claims"] = #"{"ok":1,"\#(name)":{"a":1}}"#
        #expect(custom(try Account.signed(members)).failure == .reservedClaim(name))
    }

    @Test("is never an ID token or an access token, whatever it claims")
    func elsewhere() throws {
        let assertion = try Account.signed(Account.assertion)
        let custom = try Account.signed(Account.custom)
        let idLike = try Account.signed(
            Account.custom.merging([
                "iss": "\"\(Fixtures.issuer)\"",
                "aud": "[\"party\",\"\(TokenPolicy.customTokenAudience)\"]",
            ]) { $1 },
            header: #"{"alg":"RS256","typ":"JWT","kid":"r1"}"#
        )
        let verifier = try Fixtures.verifier()
        for text in [assertion, custom] {
            #expect(verifier.verify(text, now: Fixtures.now).failure == .unknownKey("k1"))
        }
        #expect(verifier.verify(idLike, now: Fixtures.now).failure == .wrongAudience)
        // And an ID token of ours is none of these.
        let id = try Fixtures.token(.rs256)
        #expect(self.assertion(id).failure == .unknownKey("r1"))
        #expect(self.custom(id).failure == .unknownKey("r1"))
    }

    @Test(
        "is taken in development with any signature, or as bare JSON",
        arguments: [
            (#"{"uid":"ann"}"#, "ann"), (#"{"uid":7,"claims":{"a":1}}"#, "7"),
            (#"{"user_id":"bob"}"#, "bob"),
        ]
    )
    func unverified(text: String, uid: String) throws {
        #expect(try ServiceAccountToken.readCustomUnverified(text).get().subject == uid)
        let signed = try Account.signed(
            Account.custom.merging(["exp": "0"]) { $1 },
            by: Fixtures.otherRSA
        )
        let token = try ServiceAccountToken.readCustomUnverified(signed).get()
        #expect(token.subject == "ann")
        #expect(token.source == .unsigned)
    }

    @Test(
        "is refused in development too when it names no user, is meant for others, or claims too much",
        arguments: [
            ("{}", TokenError.badClaim("uid")), ("{", .notJSON(.claims, offset: 1)),
            (#"{"uid":""}"#, .badClaim("uid")), (#"{"uid":{}}"#, .badClaim("uid")),
            (#"{"uid":"a","claims":1}"#, .badClaim("claims")),
            (#"{"uid":"a","claims":{"exp":1}}"#, .reservedClaim("exp")),
            ("", .partCount(1)), ("a.b.c", .notBase64URL(.signature)),
        ]
    )
    func badUnverified(text: String, error: TokenError) throws {
        #expect(ServiceAccountToken.readCustomUnverified(text).failure == error)
        let id = try Fixtures.token(.unsigned)
        #expect(ServiceAccountToken.readCustomUnverified(id).failure == .wrongAudience)
    }
}
