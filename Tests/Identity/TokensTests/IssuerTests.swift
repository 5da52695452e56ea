import JSONTree
import Testing

@testable import Tokens

/// A server whose own key is `rsa` (`r1`) and who trusts an issuer with the key `otherRSA` (`out`) too.
private enum TwoIssuers {
    static let outsideIssuer = "https://id.example"
    static let outsideAudience = "shop"

    static func verifier(acceptsUnsigned: Bool = false) throws -> TokenVerifier {
        let own = try KeySet(jwks: Fixtures.jwks())
        let outside = try Fixtures.jwk(of: Fixtures.otherRSA, "out")
        return TokenVerifier(
            issuers: [
                TrustedIssuer(
                    .own,
                    keys: own,
                    issuer: Fixtures.issuer,
                    audience: Fixtures.audience
                ),
                TrustedIssuer(
                    .outside,
                    keys: try KeySet(jwks: Array(#"{"keys":[\#(outside)]}"#.utf8)),
                    issuer: outsideIssuer,
                    audience: outsideAudience
                ),
            ],
            policy: TokenPolicy(
                acceptsUnsigned: acceptsUnsigned,
                issuer: outsideIssuer,
                audience: outsideAudience,
                hmacSecret: Fixtures.secret
            )
        )
    }

    static func outsideToken(
        _ changes: [String: String?] = [:],
        type: String = "JWT"
    ) throws -> String {
        let signer = TokenSigner(.keyPair(try #require(Fixtures.otherRSA)), keyID: "out")
        let claims = Fixtures.claims(
            ["iss": "\"\(outsideIssuer)\"", "aud": "\"\(outsideAudience)\""].merging(changes) { $1 }
        )
        return try #require(signer.sign(claims: claims, type: type))
    }

    static func accessToken(_ changes: (String) -> String = { $0 }) throws -> String {
        let text = """
            {"iss":"\(Fixtures.issuer)","aud":"hearth-admin","sub":"ci@party.hearth.local",\
            "key_id":"k1","iat":\(Fixtures.nowSeconds),"exp":\(Fixtures.nowSeconds + 3600)}
            """
        let signer = try Fixtures.signer(.rs256)
        return try #require(signer.sign(claims: changes(text), type: AccessToken.headerType))
    }
}

@Suite("a token of one of two issuers")
struct IssuerTests {
    @Test("counts under the policy of the issuer whose key it names, and says whose it is")
    func each() throws {
        let verifier = try TwoIssuers.verifier()
        let own = try verifier.verify(try Fixtures.token(.rs256), now: Fixtures.now).get()
        #expect(own.source == .own)
        #expect(own.issuedAt == Fixtures.nowSeconds - 60)
        #expect(own.signedInAt == Fixtures.nowSeconds - 60)
        #expect(own.serviceAccount == nil)
        let outside = try verifier.verify(try TwoIssuers.outsideToken(), now: Fixtures.now).get()
        #expect(outside.source == .outside)
        let secret = try Fixtures.signer(.hs256).sign(
            claims: Fixtures.claims([
                "iss": "\"\(TwoIssuers.outsideIssuer)\"",
                "aud": "\"\(TwoIssuers.outsideAudience)\"",
            ])
        )
        let shared = try verifier.verify(try #require(secret), now: Fixtures.now).get()
        #expect(shared.source == .outside)
    }

    @Test("may be dated ahead of the clock only by this server itself")
    func ahead() throws {
        let verifier = try TwoIssuers.verifier()
        let later = "\(Fixtures.nowSeconds + 60)"
        let own = try Fixtures.token(.rs256, ["iat": later, "auth_time": later])
        #expect(
            try verifier.verify(own, now: Fixtures.now).get().issuedAt == Fixtures.nowSeconds + 60
        )
        let outside = try TwoIssuers.outsideToken(["iat": later])
        #expect(
            verifier.verify(outside, now: Fixtures.now).failure
                == .notYetValid(from: Timestamp(milliseconds: (Fixtures.nowSeconds + 60) * 1000))
        )
    }

    @Test("is refused when it speaks for the other one")
    func crossed() throws {
        let verifier = try TwoIssuers.verifier()
        let forged = try TwoIssuers.outsideToken(
            ["iss": "\"\(Fixtures.issuer)\"", "aud": "\"\(Fixtures.audience)\""]
        )
        #expect(verifier.verify(forged, now: Fixtures.now).failure == .wrongIssuer)
        let half = try TwoIssuers.outsideToken(["aud": "\"\(Fixtures.audience)\""])
        #expect(verifier.verify(half, now: Fixtures.now).failure == .wrongAudience)
        let own = try Fixtures.token(
            .rs256,
            [
                "iss": "\"\(TwoIssuers.outsideIssuer)\"",
                "aud": "\"\(TwoIssuers.outsideAudience)\"",
            ]
        )
        #expect(verifier.verify(own, now: Fixtures.now).failure == .wrongIssuer)
        let shared = try Fixtures.token(.hs256)
        #expect(verifier.verify(shared, now: Fixtures.now).failure == .wrongIssuer)
    }

    @Test("is refused when it names the key of the other one")
    func crossedKeys() throws {
        let verifier = try TwoIssuers.verifier()
        for (pair, name) in [(Fixtures.rsa, "out"), (Fixtures.otherRSA, "r1")] {
            let signer = TokenSigner(.keyPair(try #require(pair)), keyID: name)
            let text = try #require(signer.sign(claims: Fixtures.claims()))
            #expect(verifier.verify(text, now: Fixtures.now).failure == .badSignature)
        }
    }

    @Test("of an outside issuer stays out when it has our key's name: ours is asked first")
    func sameName() throws {
        let foreign = try Fixtures.jwk(of: Fixtures.otherRSA, "r1")
        let verifier = TokenVerifier(
            issuers: [
                TrustedIssuer(
                    .own,
                    keys: try KeySet(jwks: Fixtures.jwks()),
                    issuer: Fixtures.issuer,
                    audience: Fixtures.audience
                ),
                TrustedIssuer(
                    .outside,
                    keys: try KeySet(jwks: Array(#"{"keys":[\#(foreign)]}"#.utf8)),
                    issuer: nil,
                    audience: nil
                ),
            ],
            policy: TokenPolicy()
        )
        let signer = TokenSigner(.keyPair(try #require(Fixtures.otherRSA)), keyID: "r1")
        let text = try #require(signer.sign(claims: Fixtures.claims()))
        #expect(verifier.verify(text, now: Fixtures.now).failure == .badSignature)
        let own = try Fixtures.token(.rs256)
        #expect(try verifier.verify(own, now: Fixtures.now).get().source == .own)
    }

    @Test(
        "is refused for its type when it is of our own key",
        arguments: [
            #"{"alg":"RS256","kid":"r1"}"#, #"{"alg":"RS256","kid":"r1","typ":"jwt"}"#,
            #"{"alg":"RS256","kid":"r1","typ":7}"#, #"{"alg":"RS256","kid":"r1","typ":"AT+JWT"}"#,
            #"{"alg":"RS256","kid":"r1","typ":"application/at+jwt"}"#,
        ]
    )
    func types(header: String) throws {
        let signer = try Fixtures.signer(.rs256)
        let text = try #require(signer.sign(header: header, claims: Fixtures.claims()))
        let failure = try TwoIssuers.verifier().verify(text, now: Fixtures.now).failure
        #expect(failure == .badHeader("typ"))
    }

    @Test("is no ID token when it is a session cookie of any issuer")
    func sessionCookie() throws {
        let issuer = "\"https://session.firebase.google.com/party\""
        let own = try Fixtures.token(.rs256, ["iss": issuer])
        let outside = try TwoIssuers.outsideToken(["iss": issuer])
        let unsigned = try Fixtures.token(.unsigned, ["iss": issuer])
        for text in [own, outside, unsigned] {
            let verifier = try TwoIssuers.verifier(acceptsUnsigned: true)
            #expect(verifier.verify(text, now: Fixtures.now).failure == .wrongIssuer)
            #expect(verifier.verifyIdentity(text, now: Fixtures.now).failure == .wrongIssuer)
            let anybody = TokenVerifier(
                keys: try KeySet(jwks: Fixtures.jwks()),
                policy: TokenPolicy(acceptsUnsigned: true)
            )
            #expect(anybody.verify(text, now: Fixtures.now).failure != nil)
        }
    }

    @Test("is an identity of the accounts service only if that gave it out")
    func identities() throws {
        let verifier = try TwoIssuers.verifier(acceptsUnsigned: true)
        func failure(_ text: String) -> TokenError? {
            verifier.verifyIdentity(text, now: Fixtures.now).failure
        }
        #expect(failure(try Fixtures.token(.rs256)) == nil)
        #expect(failure(try Fixtures.token(.unsigned)) == nil)
        #expect(failure(try TwoIssuers.outsideToken()) == .wrongIssuer)
        #expect(failure(try TwoIssuers.accessToken()) == .wrongAudience)
        let secret = try Fixtures.signer(.hs256).sign(
            claims: #"{"v":0,"d":{"uid":"ann"},"iat":\#(Fixtures.nowSeconds)}"#
        )
        #expect(failure(try #require(secret)) == .wrongIssuer)
    }
}

@Suite("an access token of a service account")
struct AccessTokenTests {
    @Test("makes an administrator until it ends, and names account and key")
    func good() throws {
        let text = try #require(
            AccessToken.make(
                try Fixtures.signer(.rs256),
                issuer: Fixtures.issuer,
                serviceAccount: "ci@party.hearth.local",
                keyID: "k\"1",
                issuedAt: Fixtures.nowSeconds
            )
        )
        let token = try TwoIssuers.verifier().verify(text, now: Fixtures.now).get()
        #expect(token.isAdmin)
        #expect(token.source == .own)
        #expect(token.subject == "ci@party.hearth.local")
        #expect(token.serviceAccount == "ci@party.hearth.local")
        #expect(token.serviceAccountKeyID == "k\"1")
        #expect(token.issuedAt == Fixtures.nowSeconds)
        let end = Timestamp(milliseconds: (Fixtures.nowSeconds + 3600) * 1000)
        #expect(token.expiry == end)
        let late = try TwoIssuers.verifier().verify(text, now: end)
        #expect(late.failure == .expired(at: end))
    }

    @Test(
        "is refused for its claims",
        arguments: [
            ("\"aud\":\"hearth-admin\"", "\"aud\":\"party\"", TokenError.wrongAudience),
            ("\"aud\":\"hearth-admin\"", "\"aud\":[\"hearth-admin\"]", .wrongAudience),
            ("\"aud\":\"hearth-admin\",", "", .wrongAudience),
            (Fixtures.issuer, "https://id.example", .wrongIssuer),
            ("\"sub\":\"ci@party.hearth.local\",", "", .badClaim("sub")),
            ("\"key_id\":\"k1\",", "", .badClaim("key_id")),
            ("\"key_id\":\"k1\"", "\"key_id\":1", .badClaim("key_id")),
            (
                "\(Fixtures.nowSeconds + 3600)", "\(Fixtures.nowSeconds + 3601)", .badClaim("exp")
            ),
            (
                "\"iat\":\(Fixtures.nowSeconds)", "\"iat\":\(Fixtures.nowSeconds + 11)",
                .notYetValid(from: Timestamp(milliseconds: (Fixtures.nowSeconds + 11) * 1000))
            ),
            ("\"iat\":\(Fixtures.nowSeconds),", "", .badClaim("iat")),
            (",\"exp\":\(Fixtures.nowSeconds + 3600)", "", .badClaim("exp")),
        ]
    )
    func bad(from: String, to: String, error: TokenError) throws {
        let text = try TwoIssuers.accessToken { $0.replacing(from, with: to) }
        #expect(try TwoIssuers.verifier().verify(text, now: Fixtures.now).failure == error)
    }

    @Test("cannot be an ID token, whose claims are all the caller's but whose type is not")
    func identityAsAccess() throws {
        let text = try Fixtures.token(
            .rs256,
            [
                "aud": "\"hearth-admin\"", "sub": "\"ci@party.hearth.local\"", "user_id": nil,
                "key_id": "\"k1\"", "typ": "\"at+jwt\"", "admin": "true", "v": "0",
            ]
        )
        #expect(try TwoIssuers.verifier().verify(text, now: Fixtures.now).failure == .wrongAudience)
        let good = try Fixtures.token(
            .rs256,
            ["key_id": "\"k1\"", "typ": "\"at+jwt\"", "admin": "true", "v": "0"]
        )
        let token = try TwoIssuers.verifier().verify(good, now: Fixtures.now).get()
        #expect(!token.isAdmin)
        #expect(token.serviceAccount == nil)
    }

    @Test("is refused as an ID token even where its audience is the project's name")
    func accessAsIdentity() throws {
        let verifier = TokenVerifier(
            issuers: [
                TrustedIssuer(
                    .own,
                    keys: try KeySet(jwks: Fixtures.jwks()),
                    issuer: Fixtures.issuer,
                    audience: AccessToken.audience
                )
            ],
            policy: TokenPolicy()
        )
        let failure = verifier.verifyIdentity(try TwoIssuers.accessToken(), now: Fixtures.now)
            .failure
        #expect(failure == .wrongAudience)
    }

    @Test("of an outside issuer, of a secret, or of no issuer makes no administrator")
    func strangers() throws {
        let verifier = try TwoIssuers.verifier(acceptsUnsigned: true)
        let changes: [String: String?] = [
            "sub": "\"ci@party.hearth.local\"", "user_id": nil, "key_id": "\"k1\"",
            "aud": "[\"hearth-admin\",\"shop\"]",
        ]
        let outside = try TwoIssuers.outsideToken(changes, type: AccessToken.headerType)
        #expect(try !verifier.verify(outside, now: Fixtures.now).get().isAdmin)
        let unsigned = try #require(
            TokenSigner(.none).sign(claims: Fixtures.claims(changes), type: AccessToken.headerType)
        )
        #expect(verifier.verify(unsigned, now: Fixtures.now).failure == .unsigned)
        let secret = try #require(
            Fixtures.signer(.hs256).sign(
                claims: Fixtures.claims(changes.merging(["iss": "\"https://id.example\""]) { $1 }),
                type: AccessToken.headerType
            )
        )
        #expect(try !verifier.verify(secret, now: Fixtures.now).get().isAdmin)
    }
}
