import Accounts
import JSONTree
import Testing

@testable import IdentityToolkit

@Suite("claims of ID tokens")
struct ClaimsTests {
    @Test("an account is returned with all its members")
    func wholeAccount() throws {
        var realm = ClientRealm()
        realm.set("ann") {
            $0.email = "ann@example.com"
            $0.isEmailVerified = true
            $0.displayName = "Ann"
            $0.photoURL = "http://p"
            $0.phoneNumber = "+4930123"
            $0.password = ClientRealm.stored(Array("secret".utf8))
            $0.federated = [Account.FederatedIdentity(provider: "a.com", rawID: "1")]
        }
        let reply = try realm.call(
            .signInWithPassword,
            #"{"email":"ann@example.com","password":"secret"}"#
        )
        #expect(
            reply.claimsText == """
                {"name":"Ann","picture":"http://p",\
                "iss":"https://securetoken.google.com/hearth","aud":"hearth",\
                "auth_time":1700000000,"user_id":"ann","sub":"ann","iat":1700000000,\
                "exp":1700003600,"email":"ann@example.com","email_verified":true,\
                "phone_number":"+4930123","firebase":{"identities":{"email":["ann@example.com"],\
                "phone":["+4930123"],"a.com":["1"]},"sign_in_provider":"password"}}
                """
        )
    }

    @Test("an anonymous account has nothing but its uid")
    func anonymous() throws {
        var realm = ClientRealm()
        let reply = try realm.call(.signUp)
        #expect(reply.claims.member("provider_id").string == "anonymous")
        #expect(reply.claimsText.contains(#""firebase":{"identities":{},"#))
        for name in ["email", "email_verified", "phone_number", "name", "picture"] {
            #expect(reply.claims.member(name).isAbsent)
        }
    }

    @Test(
        "claims come through as they are written, those of the custom token over those of the account"
    )
    func customClaims() throws {
        var realm = ClientRealm()
        realm.set("ann") {
            $0.customAttributes =
                #"{"role":"admin", "none":null,"list":[],"nested":{"a":{},"b":[1.50,1e2]}, "who":"account"}"#
        }
        let token =
            #"{\"uid\":\"ann\",\"claims\":{\"who\":\"token\",\"empty\":{},\"nil\":null,\"emoji\":\"\\ud83d\\ude00\"}}"#
        let reply = try realm.call(.signInWithCustomToken, #"{"token":"\#(token)"}"#)
        #expect(reply.body.member("isNewUser").boolean == false)
        for part in [
            #""role":"admin","none":null,"list":[],"nested":{"a":{},"b":[1.50,1e2]},"who":"token""#,
            #""empty":{},"nil":null,"emoji":"\ud83d\ude00""#,
        ] {
            #expect(reply.claimsText.contains(part))
        }
        #expect(
            reply.claims.member("firebase").member("sign_in_provider").string == "custom"
        )
        // A refreshed token has them too.
        let refreshed = try realm.call(
            .token,
            #"{"grantType":"refresh_token","refreshToken":"\#(reply["refreshToken"])"}"#
        )
        #expect(refreshed.claimsText.contains(#""who":"token","empty":{},"nil":null"#))
    }

    @Test("no claim says what the service alone says")
    func ownedClaims() throws {
        var realm = ClientRealm()
        realm.set("ann") {
            // As an import may have brought them.
            $0.customAttributes =
                #"{"sub":"bob","user_id":"bob","email":"boss@example.com","email_verified":true,"exp":9,"firebase":{"a":1},"provider_id":"x","phone_number":"+1"}"#
        }
        let reply = try realm.call(.signInWithCustomToken, #"{"token":"{\"uid\":\"ann\"}"}"#)
        #expect(reply.claims.member("sub").string == "ann")
        #expect(reply.claims.member("user_id").string == "ann")
        for name in ["email", "email_verified", "provider_id", "phone_number"] {
            #expect(reply.claims.member(name).isAbsent)
        }
        #expect(reply.claims.member("firebase").member("a").isAbsent)
        #expect(reply.claims.member("exp").integer == 1_700_003_600)
    }

    @Test(
        "a custom token makes the account that it names",
        arguments: ["u-1", "17", "true", "1.5"]
    )
    func newUser(uid: String) throws {
        var realm = ClientRealm { $0.isSignUpOpen = false }
        let value = uid == "u-1" ? #"\"u-1\""# : uid
        let reply = try realm.call(.signInWithCustomToken, #"{"token":"{\"uid\":\#(value)}"}"#)
        #expect(reply.body.member("isNewUser").boolean == true)
        #expect(realm.directory.account(uid)?.isCustomAuth == true)
        #expect(realm.directory.account(uid)?.isAnonymous == false)
    }

    @Test(
        "a signed custom token that is refused gets the reason",
        arguments: [
            (TokenErrorCase.unknownKey, "CREDENTIAL_MISMATCH"),
            (.badSignature, "CREDENTIAL_MISMATCH"),
            (.expired, "INVALID_CUSTOM_TOKEN : The token is expired."),
            (.wrongAudience, "INVALID_CUSTOM_TOKEN : The audience is not that of a custom token."),
            (.partCount, "INVALID_CUSTOM_TOKEN : Invalid assertion format"),
        ]
    )
    func refusedToken(error: TokenErrorCase, message: String) throws {
        var realm = ClientRealm()
        realm.customCheck = error.error
        let token = ClientRealm.token(#"{"uid":"u"}"#)
        let reply = try realm.call(.signInWithCustomToken, #"{"token":"\#(token)"}"#)
        #expect(reply.message == message)
    }
}
