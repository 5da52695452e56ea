import Accounts
import JSONTree
import Testing

@testable import IdentityToolkit

@Suite("requests of clients that are refused")
struct ClientRefusalTests {
    struct Case: CustomTestStringConvertible {
        let method: IdentityMethod
        let json: String
        let message: String
        let status: Int

        init(_ method: IdentityMethod, _ json: String, _ message: String, _ status: Int = 400) {
            self.method = method
            self.json = json
            self.message = message
            self.status = status
        }

        var testDescription: String { "\(method) \(json.prefix(80)): \(message)" }
    }

    /// `ann` has a password, `bob` is disabled, `cas` has an address and no password.
    static func realm(_ change: (inout IdentityPolicy) -> Void = { _ in }) -> ClientRealm {
        var realm = ClientRealm(change)
        realm.set("ann") {
            $0.email = "ann@example.com"
            $0.password = ClientRealm.stored(Array("secret".utf8))
        }
        realm.set("bob") {
            $0.email = "bob@example.com"
            $0.password = ClientRealm.stored(Array("secret".utf8))
            $0.isDisabled = true
        }
        realm.set("cas") { $0.email = "cas@example.com" }
        return realm
    }

    /// An ID token of `uid`, issued at `time`: 0 is the second of the realm's start.
    static func token(_ uid: String, at time: Int64 = 0) -> String {
        let seconds = 1_700_000_000 + time
        return ClientRealm.token(
            #"{"sub":"\#(uid)","user_id":"\#(uid)","iat":\#(seconds),"auth_time":\#(seconds)}"#
        )
    }

    @Test(
        "say why in the words of the service, and change nothing",
        arguments: signingUp + signingIn + customTokens + withIDToken + updating + others
    )
    func refused(refusal: Case) throws {
        var realm = Self.realm()
        let before = realm.directory.root
        let json = refusal.json
            .replacing("ANN", with: Self.token("ann"))
            .replacing("BOB", with: Self.token("bob"))
            .replacing("GONE", with: Self.token("gone"))
            .replacing("OLD", with: Self.token("ann", at: -1))
        let reply = try realm.call(refusal.method, json)
        #expect(reply.message == refusal.message)
        #expect(reply.status == refusal.status)
        #expect(reply.events.isEmpty)
        #expect(realm.directory.root == before)
    }

    static let signingUp: [Case] = [
        Case(.signUp, #"{"localId":"me"}"#, "UNEXPECTED_PARAMETER : User ID"),
        Case(.signUp, #"{"password":"secret"}"#, "MISSING_EMAIL"),
        Case(.signUp, #"{"idToken":"x"}"#, "MISSING_EMAIL"),
        Case(.signUp, #"{"email":"a@b.c"}"#, "MISSING_PASSWORD"),
        Case(.signUp, #"{"email":"a@b.c","password":""}"#, "MISSING_PASSWORD"),
        Case(.signUp, #"{"email":"","password":""}"#, "INVALID_EMAIL"),
        Case(.signUp, #"{"email":"a","password":"secret"}"#, "INVALID_EMAIL"),
        Case(.signUp, #"{"email":"a@b@c","password":"secret"}"#, "INVALID_EMAIL"),
        Case(.signUp, #"{"email":17,"password":"secret"}"#, "INVALID_EMAIL"),
        Case(
            .signUp,
            #"{"email":"ann@example.com","password":"x"}"#,
            "WEAK_PASSWORD : Password should be at least 6 characters"
        ),
        Case(
            .signUp,
            #"{"idToken":"x","email":"ann@example.com","password":"secret"}"#,
            "INVALID_ID_TOKEN"
        ),
        Case(
            .update,
            #"{"idToken":"ANN","email":"bob@example.com","password":"x"}"#,
            "WEAK_PASSWORD : Password should be at least 6 characters"
        ),
        Case(.signUp, #"{"email":"Ann@Example.COM","password":"secret"}"#, "EMAIL_EXISTS"),
        Case(
            .signUp,
            #"{"email":"a@b.c","password":"12345"}"#,
            "WEAK_PASSWORD : Password should be at least 6 characters"
        ),
        Case(
            .signUp,
            #"{"email":"a@b.c","password":12345}"#,
            "WEAK_PASSWORD : Password should be at least 6 characters"
        ),
        Case(
            .signUp,
            #"{"email":"a@b.c","password":"sec\u0000ret"}"#,
            "Invalid JSON payload received. Invalid value at 'password': it has a NUL character in it."
        ),
        Case(
            .signUp,
            #"{"email":["a@b.c"],"password":"secret"}"#,
            "Invalid JSON payload received. Invalid value at 'email' (TYPE_STRING)."
        ),
        Case(
            .signUp,
            #"{"email":true,"password":"secret"}"#,
            "Invalid JSON payload received. Invalid value at 'email' (TYPE_STRING)."
        ),
        Case(
            .signUp,
            #"{"email":"a@b.c","password":"secret","idToken":"no.token.x"}"#,
            "INVALID_ID_TOKEN"
        ),
        Case(
            .signUp,
            #"{"email":"a@b.c","password":"secret","idToken":"GONE"}"#,
            "USER_NOT_FOUND"
        ),
        Case(
            .signUp,
            #"{"email":"a@b.c","password":"secret","displayName":"\#(String(repeating: "n", count: 257))"}"#,
            "INVALID_PROFILE_ATTRIBUTE : displayName has more than 256 characters."
        ),
        Case(.signUp, #"{"tenantId":"t"}"#, "TENANT_NOT_FOUND"),
        Case(.signUp, #"{"tenant_id":"t"}"#, "TENANT_NOT_FOUND"),
    ]

    static let signingIn: [Case] = [
        Case(.signInWithPassword, "{}", "MISSING_EMAIL"),
        Case(.signInWithPassword, "", "MISSING_EMAIL"),
        Case(.signInWithPassword, #"{"email":null}"#, "MISSING_EMAIL"),
        Case(.signInWithPassword, #"{"email":""}"#, "INVALID_EMAIL"),
        Case(.signInWithPassword, #"{"email":"ann"}"#, "INVALID_EMAIL"),
        Case(.signInWithPassword, #"{"email":"ann@example.com"}"#, "MISSING_PASSWORD"),
        Case(
            .signInWithPassword,
            #"{"email":"ann@example.com","password":""}"#,
            "MISSING_PASSWORD"
        ),
        Case(.signInWithPassword, #"{"email":"x@example.com","password":"s"}"#, "EMAIL_NOT_FOUND"),
        Case(
            .signInWithPassword,
            #"{"email":"ann@example.com","password":"s"}"#,
            "INVALID_PASSWORD"
        ),
        Case(
            .signInWithPassword,
            #"{"email":"cas@example.com","password":"s"}"#,
            "INVALID_PASSWORD"
        ),
        Case(
            .signInWithPassword,
            #"{"email":"bob@example.com","password":"s"}"#,
            "INVALID_PASSWORD"
        ),
        Case(
            .signInWithPassword,
            #"{"email":"bob@example.com","password":"secret"}"#,
            "USER_DISABLED"
        ),
        Case(
            .signInWithPassword,
            #"{"email":"ann@example.com","password":"secret","pendingIdToken":"x"}"#,
            "Signing in with 'pendingIdToken' is not implemented.",
            501
        ),
        Case(.token, "{}", "MISSING_GRANT_TYPE"),
        Case(.token, #"{"grantType":"authorization_code"}"#, "INVALID_GRANT_TYPE"),
        Case(.token, #"{"grantType":"refresh_token"}"#, "MISSING_REFRESH_TOKEN"),
        Case(
            .token,
            #"{"grant_type":"refresh_token","refresh_token":""}"#,
            "MISSING_REFRESH_TOKEN"
        ),
        Case(.token, #"{"grantType":"refresh_token","refreshToken":"x"}"#, "INVALID_REFRESH_TOKEN"),
    ]

    static let customTokens: [Case] = [
        Case(.signInWithCustomToken, "{}", "MISSING_CUSTOM_TOKEN"),
        Case(.signInWithCustomToken, #"{"token":""}"#, "MISSING_CUSTOM_TOKEN"),
        Case(
            .signInWithCustomToken,
            #"{"token":"{no JSON"}"#,
            "INVALID_CUSTOM_TOKEN : Invalid assertion format"
        ),
        Case(.signInWithCustomToken, #"{"token":"{}"}"#, "MISSING_IDENTIFIER"),
        Case(.signInWithCustomToken, #"{"token":"{\"uid\":\"\"}"}"#, "MISSING_IDENTIFIER"),
        Case(.signInWithCustomToken, #"{"token":"{\"uid\":[1]}"}"#, "MISSING_IDENTIFIER"),
        Case(
            .signInWithCustomToken,
            #"{"token":"{\"uid\":\"\#(String(repeating: "u", count: 129))\"}"}"#,
            "INVALID_CUSTOM_TOKEN : The 'uid' is no user ID."
        ),
        Case(
            .signInWithCustomToken,
            #"{"token":"{\"uid\":\"u\",\"claims\":null}"}"#,
            "INVALID_CLAIMS"
        ),
        Case(
            .signInWithCustomToken,
            #"{"token":"{\"uid\":\"u\",\"claims\":[]}"}"#,
            "INVALID_CLAIMS"
        ),
        Case(
            .signInWithCustomToken,
            #"{"token":"{\"uid\":\"u\",\"claims\":{\"a\":1,\"firebase\":{}}}"}"#,
            "FORBIDDEN_CLAIM : firebase"
        ),
        Case(
            .signInWithCustomToken,
            #"{"token":"{\"uid\":\"u\",\"claims\":{\"a\":\"\#(String(repeating: "x", count: 4096))\"}}"}"#,
            "CLAIMS_TOO_LARGE"
        ),
        Case(.signInWithCustomToken, #"{"token":"{\"uid\":\"bob\"}"}"#, "USER_DISABLED"),
        Case(
            .signInWithCustomToken,
            #"{"token":"{\"uid\":\"u\",\"tenant_id\":\"t\"}"}"#,
            "TENANT_ID_MISMATCH"
        ),
    ]

    static let withIDToken: [Case] = [IdentityMethod.lookup, .delete].flatMap { method in
        [
            Case(method, "{}", "MISSING_ID_TOKEN"),
            Case(method, #"{"idToken":""}"#, "MISSING_ID_TOKEN"),
            Case(method, #"{"localId":"ann"}"#, "MISSING_ID_TOKEN"),
            Case(method, #"{"idToken":"x"}"#, "INVALID_ID_TOKEN"),
            Case(method, #"{"idToken":"e30.e30."}"#, "INVALID_ID_TOKEN"),
            Case(method, #"{"idToken":"GONE"}"#, "USER_NOT_FOUND"),
            Case(method, #"{"idToken":"OLD"}"#, "TOKEN_EXPIRED"),
            Case(method, #"{"idToken":"BOB"}"#, "USER_DISABLED"),
        ]
    }

    static let updating: [Case] = [
        Case(.update, "{}", "INVALID_REQ_TYPE : Unsupported request parameters."),
        Case(.update, #"{"localId":"ann"}"#, "INVALID_REQ_TYPE : Unsupported request parameters."),
        Case(.update, #"{"idToken":"ANN","customAttributes":"{}"}"#, "INSUFFICIENT_PERMISSION"),
        Case(
            .update,
            #"{"idToken":"ANN","provider":["x"]}"#,
            "'provider' is not implemented.",
            501
        ),
        Case(
            .update,
            #"{"idToken":"ANN","deleteAttribute":["PROVIDER"]}"#,
            "Deleting the attribute PROVIDER is not implemented.",
            501
        ),
        Case(
            .update,
            #"{"idToken":"ANN","deleteAttribute":["SHOE_SIZE"]}"#,
            "Invalid JSON payload received. Invalid value at 'deleteAttribute' (TYPE_ENUM)."
        ),
        Case(
            .update,
            #"{"idToken":"ANN","deleteAttribute":[7]}"#,
            "Invalid JSON payload received. Invalid value at 'deleteAttribute' (TYPE_ENUM)."
        ),
        Case(
            .update,
            #"{"idToken":"ANN","disableUser":false}"#,
            "OPERATION_NOT_ALLOWED : A user cannot change this."
        ),
        Case(
            .update,
            #"{"idToken":"ANN","linkProviderUserInfo":{"providerId":"a.com","rawId":"1"}}"#,
            "OPERATION_NOT_ALLOWED : A user cannot change this."
        ),
        Case(.update, #"{"idToken":"ANN","email":"ann"}"#, "INVALID_EMAIL"),
        Case(.update, #"{"idToken":"ANN","email":"Bob@Example.com"}"#, "EMAIL_EXISTS"),
        Case(
            .update,
            #"{"idToken":"ANN","password":"1"}"#,
            "WEAK_PASSWORD : Password should be at least 6 characters"
        ),
        Case(
            .update,
            #"{"idToken":"ANN","photoUrl":"\#(String(repeating: "p", count: 2049))"}"#,
            "INVALID_PROFILE_ATTRIBUTE : photoUrl has more than 2048 characters."
        ),
        Case(.update, #"{"idToken":"BOB","displayName":"x"}"#, "USER_DISABLED"),
    ]

    static let others: [Case] = [
        Case(.createAuthUri, "{}", "MISSING_IDENTIFIER"),
        Case(.createAuthUri, #"{"identifier":"a@b.c"}"#, "MISSING_CONTINUE_URI"),
        Case(.createAuthUri, #"{"identifier":"a","continueUri":"http://x"}"#, "INVALID_IDENTIFIER"),
        Case(.createAuthUri, #"{"identifier":"a@b.c","continueUri":"x"}"#, "INVALID_CONTINUE_URI"),
        Case(
            .createAuthUri,
            #"{"identifier":"a@b.c","continueUri":"1a:x"}"#,
            "INVALID_CONTINUE_URI"
        ),
        Case(
            .createAuthUri,
            #"{"providerId":"google.com"}"#,
            "Sign-in with other providers is not implemented.",
            501
        ),
        Case(
            .signInWithIdp,
            #"{"postBody":"id_token=x"}"#,
            "INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential"
        ),
        Case(.lookup, "[]", "Invalid JSON payload received. The body must be an object."),
        Case(.lookup, "null", "Invalid JSON payload received. The body must be an object."),
        Case(.lookup, "{", "Invalid JSON payload received. Unexpected token at byte 1."),
    ]

    // MARK: - Policies

    @Test(
        "what the realm does not allow is said",
        arguments: [
            Case(.signInWithPassword, #"{"email":"ann@example.com"}"#, "PASSWORD_LOGIN_DISABLED"),
            Case(
                .signUp,
                #"{"email":"a@b.c","password":"secret"}"#,
                "OPERATION_NOT_ALLOWED : Sign-in by password is switched off."
            ),
            Case(.signUp, "{}", "OPERATION_NOT_ALLOWED : Anonymous sign-in is switched off."),
            Case(
                .signInWithCustomToken,
                #"{"token":"{}"}"#,
                "OPERATION_NOT_ALLOWED : Sign-in by custom token is switched off."
            ),
            Case(
                .update,
                #"{"idToken":"ANN","password":"secret"}"#,
                "OPERATION_NOT_ALLOWED : Sign-in by password is switched off."
            ),
        ]
    )
    func switchedOff(refusal: Case) throws {
        var realm = Self.realm { $0.methods = [] }
        let json = refusal.json.replacing("ANN", with: Self.token("ann"))
        #expect(try realm.call(refusal.method, json).message == refusal.message)
    }

    @Test(
        "with sign-up closed no client makes an account",
        arguments: ["{}", #"{"email":"a@b.c","password":"secret"}"#]
    )
    func closed(json: String) throws {
        var realm = Self.realm { $0.isSignUpOpen = false }
        #expect(try realm.call(.signUp, json).message == "ADMIN_ONLY_OPERATION")
    }

    @Test(
        "where addresses are guarded, every failed sign-in is the same, and as much is done for it",
        arguments: ["ann", "bob", "cas", "unknown"]
    )
    func guarded(name: String) throws {
        var realm = Self.realm { $0.guardsEmails = true }
        let reply = try realm.call(
            .signInWithPassword,
            #"{"email":"\#(name)@example.com","password":"wrong"}"#
        )
        #expect(reply.message == "INVALID_LOGIN_CREDENTIALS")
        #expect(realm.workCount == 1)
    }

    @Test(
        "where addresses are guarded, the answer says nothing of one",
        arguments: ["ann", "unknown"]
    )
    func hidden(name: String) throws {
        var realm = Self.realm { $0.guardsEmails = true }
        let reply = try realm.call(
            .createAuthUri,
            #"{"identifier":"\#(name)@example.com","continueUri":"http://localhost"}"#
        )
        #expect(reply.status == 200)
        #expect(!reply["sessionId"].isEmpty)
        #expect(reply.body.member("registered").isAbsent)
        #expect(reply.body.member("signinMethods").isAbsent)
    }

    @Test("when the password thread has no room, that is said", arguments: ["ann", "unknown"])
    func busy(name: String) throws {
        var realm = Self.realm { $0.guardsEmails = true }
        realm.isBusy = true
        let json = #"{"email":"\#(name)@example.com","password":"secret"}"#
        #expect(try realm.call(.signInWithPassword, json).status == 503)
        let other = #"{"email":"new@example.com","password":"secret"}"#
        #expect(try realm.call(.signUp, other).status == 503)
    }
}
