import JSONTree
import Testing

@testable import Tokens

@Suite("a good token")
struct GoodTokenTests {
    @Test(
        "is taken under each algorithm and maps to auth {uid, provider, token}",
        arguments: [Algorithm.rs256, .es256, .hs256]
    )
    func signed(algorithm: Algorithm) throws {
        let verifier = try Fixtures.verifier(secret: Fixtures.secret)
        let token = try verifier.verify(try Fixtures.token(algorithm), now: Fixtures.now).get()
        #expect(token.subject == "ann")
        #expect(token.provider == "password")
        #expect(token.expiry == Timestamp(milliseconds: (Fixtures.nowSeconds + 3540) * 1000))
        #expect(!token.isAdmin)
        #expect(token.auth.member("uid").string == "ann")
        #expect(token.auth.member("provider").string == "password")
        #expect(token.auth.member("token") == token.claims)
        #expect(token.auth.childCount == 3)
        #expect(token.claims.member("iss").string == Fixtures.issuer)
        let identities = token.claims.member("firebase").member("identities")
        #expect(identities.member("email").member("0").string == "a@b.c")
    }

    @Test("keeps custom claims of any name at the top level of auth.token")
    func customClaims() throws {
        let text = try Fixtures.token(
            .rs256,
            [
                "admin": "true", "level": "7", "a.b/c$d": "\"odd\"", "empty": "\"\"",
                "firebase": #"{"identities":{"google.com":["1"]},"sign_in_provider":"google.com"}"#,
                "rooms": #"{"r1":true}"#, "nothing": "null",
            ]
        )
        let token = try Fixtures.verifier().verify(text, now: Fixtures.now).get()
        let claims = token.auth.member("token")
        #expect(claims.member("admin").boolean == true)
        #expect(claims.member("level").integer == 7)
        #expect(claims.member("a.b/c$d").string == "odd")
        #expect(claims.member("empty").string == "")
        #expect(claims.member("rooms").member("r1").boolean == true)
        #expect(claims.member("nothing").isAbsent)
        let google = claims.member("firebase").member("identities").member("google.com")
        #expect(google.member("0").string == "1")
        #expect(token.provider == "google.com")
    }

    @Test(
        "is taken with claims at the edge of what is allowed",
        arguments: [
            ["user_id": nil], ["nbf": "\(Fixtures.nowSeconds + 10)"],
            ["iat": "\(Fixtures.nowSeconds + 10)"], ["auth_time": nil], ["firebase": nil],
            ["exp": "\(Fixtures.nowSeconds + 1)"], ["exp": "253402300799"],
            ["iat": "1767225500.0"], ["iat": "17672255e2"],
            ["aud": #"["other","party"]"#],
            ["sub": "\"\(String(repeating: "é", count: 128))\"", "user_id": nil],
        ] as [[String: String?]]
    )
    func edges(changes: [String: String?]) throws {
        let text = try Fixtures.token(.rs256, changes)
        #expect(try Fixtures.verifier().verify(text, now: Fixtures.now).failure == nil)
    }

    @Test("may have any issuer and audience where none is configured")
    func anyIssuer() throws {
        let verifier = try Fixtures.verifier(issuer: nil, audience: nil)
        let text = try Fixtures.token(.es256, ["iss": nil, "aud": nil])
        #expect(verifier.verify(text, now: Fixtures.now).failure == nil)
    }

    @Test("names its provider by provider_id where firebase.sign_in_provider is missing")
    func anonymousProvider() throws {
        let text = try Fixtures.token(
            .rs256,
            ["firebase": nil, "provider_id": "\"anonymous\""]
        )
        let token = try Fixtures.verifier().verify(text, now: Fixtures.now).get()
        #expect(token.provider == "anonymous")
    }

    @Test("may be the unsigned one of a test library, of the year 1970")
    func unsigned() throws {
        // What @firebase/rules-unit-testing and connectDatabaseEmulator's mockUserToken send.
        let claims = """
            {"iss":"https://securetoken.google.com/demo","aud":"demo","iat":0,"exp":3600,"auth_time":0,\
            "sub":"alice","user_id":"alice","firebase":{"sign_in_provider":"custom","identities":{}}}
            """
        let text = try #require(
            TokenSigner(.none).sign(header: #"{"alg":"none","type":"JWT"}"#, claims: claims)
        )
        #expect(text.hasSuffix("."))
        let verifier = try Fixtures.verifier(acceptsUnsigned: true)
        let token = try verifier.verify(text, now: Fixtures.now).get()
        #expect(token.subject == "alice")
        #expect(token.provider == "custom")
        #expect(token.expiry == nil)
        #expect(token.auth.member("token").member("iat").integer == 0)
    }

    @Test("of the unsigned kind may name its subject by user_id alone")
    func userIDAlone() throws {
        let text = try Fixtures.token(.unsigned, ["sub": nil])
        let verifier = try Fixtures.verifier(acceptsUnsigned: true)
        #expect(try verifier.verify(text, now: Fixtures.now).get().subject == "ann")
    }
}

@Suite("a token of a database secret")
struct DatabaseSecretTokenTests {
    private func verify(_ claims: String) throws -> Result<VerifiedToken, TokenError> {
        let text = try #require(try Fixtures.signer(.hs256).sign(claims: claims))
        return try Fixtures.verifier(secret: Fixtures.secret).verify(text, now: Fixtures.now)
    }

    @Test("gives its data as auth, without issuer or audience, for a day")
    func data() throws {
        let issued = Fixtures.nowSeconds - 100
        let token = try verify(
            #"{"v":0,"d":{"uid":"bob","provider":"custom","x":{"y":1}},"iat":\#(issued)}"#
        ).get()
        #expect(token.subject == "bob")
        #expect(token.provider == "custom")
        #expect(token.auth.member("x").member("y").integer == 1)
        #expect(token.auth.childCount == 3)
        #expect(token.expiry == Timestamp(milliseconds: (issued + 86_400) * 1000))
        #expect(!token.isAdmin)
    }

    @Test("ends at its own exp when it has one")
    func ownExpiry() throws {
        let end = Fixtures.nowSeconds + 5
        let token = try verify(#"{"v":0,"d":{"a":1},"iat":1,"exp":\#(end)}"#).get()
        #expect(token.expiry == Timestamp(milliseconds: end * 1000))
        #expect(token.subject == nil)
    }

    @Test("with empty data is signed in all the same")
    func emptyData() throws {
        let token = try verify(#"{"v":0,"d":{},"iat":\#(Fixtures.nowSeconds)}"#).get()
        #expect(token.auth.isAbsent)
    }

    @Test("with admin true passes all rules")
    func admin() throws {
        #expect(try verify(#"{"v":0,"admin":true,"iat":\#(Fixtures.nowSeconds)}"#).get().isAdmin)
        #expect(try !verify(#"{"v":0,"admin":false,"iat":\#(Fixtures.nowSeconds)}"#).get().isAdmin)
    }

    @Test(
        "is refused when its claims are bad",
        arguments: [
            (#"{"v":0,"d":{"uid":"b"}}"#, TokenError.badClaim("iat")),
            (#"{"v":0,"d":{"uid":1},"iat":1767225600}"#, .badClaim("d.uid")),
            (#"{"v":0,"d":"bob","iat":1767225600}"#, .badClaim("d")),
            (#"{"v":0,"admin":1,"iat":1767225600}"#, .badClaim("admin")),
            (#"{"v":0,"admin":"true","iat":1767225600}"#, .badClaim("admin")),
            (#"{"v":0,"d":{},"iat":"1767225600"}"#, .badClaim("iat")),
            (
                #"{"v":0,"d":{},"iat":1767225700}"#,
                .notYetValid(from: Timestamp(milliseconds: 1_767_225_700_000))
            ),
            (#"{"v":0,"d":{},"iat":1767139200}"#, .expired(at: Fixtures.now)),
            (#"{"v":0,"d":{},"iat":1,"exp":1767225600}"#, .expired(at: Fixtures.now)),
            // Another version is no token of this kind, so the claims of an ID token are wanted.
            (#"{"v":1,"d":{"uid":"b"},"iat":1767225600}"#, .wrongIssuer),
        ]
    )
    func bad(claims: String, error: TokenError) throws {
        #expect(try verify(claims).failure == error)
    }

    @Test(
        "is one only under HS256: a public-key or unsigned token gains nothing by v and d",
        arguments: [Algorithm.rs256, .es256, .unsigned]
    )
    func otherAlgorithms(algorithm: Algorithm) throws {
        let text = try Fixtures.token(
            algorithm,
            ["v": "0", "d": #"{"uid":"root"}"#, "admin": "true"]
        )
        let verifier = try Fixtures.verifier(acceptsUnsigned: true, secret: Fixtures.secret)
        let token = try verifier.verify(text, now: Fixtures.now).get()
        #expect(token.subject == "ann")
        #expect(!token.isAdmin)
    }
}
