import Accounts
import JSONTree
import Testing

@testable import IdentityToolkit

@Suite("accounts in their users' hands")
struct ClientFlowTests {
    private let form = #"{"email":"Ann@Example.com","password":"secret"}"#

    @Test("an account is made with a password, and signed in to with it")
    func passwordAccount() throws {
        var realm = ClientRealm()
        let made = try realm.call(
            .signUp,
            #"{"email":"Ann@Example.com","password":"secret","displayName":"Ann","returnSecureToken":true}"#
        )
        #expect(made["kind"] == "identitytoolkit#SignupNewUserResponse")
        #expect(made["email"] == "ann@example.com")
        #expect(made["displayName"] == "Ann")
        let uid = made["localId"]
        #expect(uid.count == 28)
        let account = try #require(realm.directory.account(email: "ann@example.com"))
        #expect(account.uid == uid)
        #expect(account.lastLoginAt == realm.now)
        #expect(account.passwordUpdatedAt == realm.now)
        #expect(!account.isEmailVerified)

        realm.wait(seconds: 5)
        let signedIn = try realm.call(.signInWithPassword, form)
        #expect(signedIn["localId"] == uid)
        #expect(signedIn.body.member("registered").boolean == true)
        #expect(signedIn["displayName"] == "Ann")
        #expect(signedIn.claims.member("auth_time").integer == 1_700_000_005)
        #expect(realm.directory.account(uid)?.lastLoginAt == realm.now)
        guard case .signedIn(uid) = signedIn.events.first else {
            Issue.record("the sign-in is an event")
            return
        }
    }

    @Test("an anonymous account becomes one with a password, and keeps its uid")
    func linking() throws {
        var realm = ClientRealm()
        let made = try realm.call(.signUp, #"{"returnSecureToken":true}"#)
        #expect(made.claims.member("provider_id").string == "anonymous")
        realm.wait(seconds: 7)
        let linked = try realm.call(
            .signUp,
            #"{"idToken":"\#(made["idToken"])","email":"ann@example.com","password":"secret"}"#
        )
        #expect(linked["localId"] == made["localId"])
        #expect(linked.claims.member("provider_id").isAbsent)
        let firebase = linked.claims.member("firebase")
        #expect(firebase.member("sign_in_provider").string == "password")
        #expect(try realm.call(.lookup, #"{"idToken":"\#(linked["idToken"])"}"#).status == 200)
        // What was signed in before the password no longer counts.
        let old = try realm.call(.lookup, #"{"idToken":"\#(made["idToken"])"}"#)
        #expect(old.message == "TOKEN_EXPIRED")
        #expect(try realm.call(.signInWithPassword, form)["localId"] == made["localId"])
    }

    @Test(
        "a new password ends all sign-ins of before, also of the same second, and brings tokens that count"
    )
    func newPassword() throws {
        var realm = ClientRealm()
        let made = try realm.call(.signUp, form)
        let changed = try realm.call(
            .update,
            #"{"idToken":"\#(made["idToken"])","password":"secret2","returnSecureToken":true}"#
        )
        #expect(changed["kind"] == "identitytoolkit#SetAccountInfoResponse")
        #expect(changed["passwordHash"] == Account.hiddenPasswordHash)
        let uid = made["localId"]
        guard case .revoked(uid, let second)? = changed.events.first else {
            Issue.record("the revocation is an event")
            return
        }
        #expect(changed.claims.member("iat").integer == second)
        #expect(try realm.call(.lookup, #"{"idToken":"\#(made["idToken"])"}"#).status == 400)
        #expect(try realm.call(.lookup, #"{"idToken":"\#(changed["idToken"])"}"#).status == 200)
        let refreshed = try realm.call(
            .token,
            #"{"grantType":"refresh_token","refreshToken":"\#(made["refreshToken"])"}"#
        )
        #expect(refreshed.message == "TOKEN_EXPIRED")
        #expect(try realm.call(.signInWithPassword, form).message == "INVALID_PASSWORD")
    }

    @Test("a new address is not verified, and the first one is remembered")
    func newAddress() throws {
        var realm = ClientRealm()
        let made = try realm.call(.signUp, form)
        realm.set(made["localId"]) { $0.isEmailVerified = true }
        let changed = try realm.call(
            .update,
            #"{"idToken":"\#(made["idToken"])","email":"NEW@example.com"}"#
        )
        #expect(changed["email"] == "new@example.com")
        #expect(changed["newEmail"] == "new@example.com")
        #expect(changed.body.member("emailVerified").boolean == false)
        #expect(!changed["idToken"].isEmpty)
        let account = try #require(realm.directory.account(made["localId"]))
        #expect(account.initialEmail == "ann@example.com")
        #expect(realm.directory.account(email: "ann@example.com") == nil)
        #expect(realm.directory.account(email: "new@example.com")?.uid == account.uid)
    }

    @Test("a profile changes and what is empty goes, without new tokens")
    func profile() throws {
        var realm = ClientRealm()
        let made = try realm.call(.signUp, form)
        let token = made["idToken"]
        var reply = try realm.call(
            .update,
            #"{"idToken":"\#(token)","displayName":"Ann","photoUrl":"http://p"}"#
        )
        #expect(reply["displayName"] == "Ann")
        #expect(reply["photoUrl"] == "http://p")
        #expect(reply["idToken"].isEmpty)
        reply = try realm.call(.update, #"{"idToken":"\#(token)","displayName":null}"#)
        #expect(reply["displayName"] == "Ann")
        reply = try realm.call(
            .update,
            #"{"idToken":"\#(token)","displayName":"","deleteAttribute":[4]}"#
        )
        #expect(reply.body.member("displayName").isAbsent)
        #expect(reply.body.member("photoUrl").isAbsent)
    }

    @Test("providers are unlinked, and the list of what is left comes also when it is empty")
    func unlinking() throws {
        var realm = ClientRealm()
        let made = try realm.call(.signUp, form)
        let uid = made["localId"]
        realm.set(uid) {
            $0.phoneNumber = "+4930123"
            $0.federated = [Account.FederatedIdentity(provider: "a.com", rawID: "1")]
        }
        let token = made["idToken"]
        let all = try realm.call(
            .update,
            #"{"idToken":"\#(token)","deleteProvider":["password","phone","a.com"]}"#
        )
        #expect(all.text.contains(#""providerUserInfo":[]"#))
        #expect(all["idToken"].isEmpty)
        let account = try #require(realm.directory.account(uid))
        #expect(account.isAnonymous)
        #expect(realm.directory.account(phone: "+4930123") == nil)
        #expect(realm.directory.account(provider: "a.com", rawID: "1") == nil)
        #expect(try realm.call(.lookup, #"{"idToken":"\#(token)"}"#).status == 200)
    }

    @Test("a deleted account is gone, and so is what was signed in to it")
    func deletion() throws {
        var realm = ClientRealm()
        let made = try realm.call(.signUp, form)
        let deleted = try realm.call(.delete, #"{"idToken":"\#(made["idToken"])","localId":"x"}"#)
        #expect(deleted["kind"] == "identitytoolkit#DeleteAccountResponse")
        let uid = made["localId"]
        guard case .shutOut(uid)? = deleted.events.first else {
            Issue.record("the end is an event")
            return
        }
        #expect(realm.directory.accountCount == 0)
        #expect(realm.directory.account(email: "ann@example.com") == nil)
        let refreshed = try realm.call(
            .token,
            #"{"grantType":"refresh_token","refreshToken":"\#(made["refreshToken"])"}"#
        )
        #expect(refreshed.message == "USER_NOT_FOUND")
    }

    @Test("a refresh token gives a token of the same sign-in with the account as it is now")
    func refresh() throws {
        var realm = ClientRealm()
        let made = try realm.call(.signUp, form)
        let uid = made["localId"]
        realm.wait(seconds: 4000)
        realm.set(uid) { $0.displayName = "Ann" }
        for body in [
            #"{"grantType":"refresh_token","refreshToken":"\#(made["refreshToken"])"}"#,
            #"{"grant_type":"refresh_token","refresh_token":\#(made["refreshToken"])}"#,
            "grant_type=refresh_token&refresh_token=\(made["refreshToken"])",
        ] {
            let reply = try realm.call(
                .token,
                body: Array(body.utf8),
                contentType: "application/x-www-form-urlencoded"
            )
            #expect(reply.claims.member("auth_time").integer == 1_700_000_000)
            #expect(reply.claims.member("iat").integer == 1_700_004_000)
            #expect(reply.claims.member("exp").integer == 1_700_007_600)
            #expect(reply.claims.member("name").string == "Ann")
        }
        // As when an administrator does it, which revokes the tokens too.
        let now = realm.now
        realm.set(uid) {
            $0.isDisabled = true
            $0.revoke(at: now)
        }
        let refused = try realm.call(
            .token,
            #"{"grantType":"refresh_token","refreshToken":"\#(made["refreshToken"])"}"#
        )
        #expect(refused.message == "USER_DISABLED")
        let unseen = try realm.call(.lookup, #"{"idToken":"\#(made["idToken"])"}"#)
        #expect(unseen.message == "USER_DISABLED")
    }

    @Test("tokens of a deleted account are void for the one that its next custom token makes")
    func returning() throws {
        var realm = ClientRealm()
        let custom = #"{"token":"\#(ClientRealm.token(#"{"uid":"ann"}"#))"}"#
        var old = try realm.call(.signInWithCustomToken, custom)
        for _ in 0..<3 {
            old = try realm.call(.update, #"{"idToken":"\#(old["idToken"])","validSince":"1"}"#)
        }
        _ = try realm.call(.delete, #"{"idToken":"\#(old["idToken"])"}"#)
        let new = try realm.call(.signInWithCustomToken, custom)
        #expect(
            try realm.call(.lookup, #"{"idToken":"\#(old["idToken"])"}"#).message == "TOKEN_EXPIRED"
        )
        let form = #"{"grantType":"refresh_token","refreshToken":"TICKET"}"#
        let stale = form.replacing("TICKET", with: old["refreshToken"])
        #expect(try realm.call(.token, stale).message == "TOKEN_EXPIRED")
        #expect(try realm.call(.lookup, #"{"idToken":"\#(new["idToken"])"}"#).status == 200)
        let fresh = form.replacing("TICKET", with: new["refreshToken"])
        #expect(try realm.call(.token, fresh).status == 200)
        // What was kept for it goes once it is past.
        #expect(realm.directory.forgettingRemovals(now: realm.now, limit: 9).isEmpty)
        realm.wait(seconds: 5)
        let changes = realm.directory.forgettingRemovals(now: realm.now, limit: 9)
        #expect(changes.applied(to: realm.directory.root).member("removals").isAbsent)
    }

    @Test(
        "in production what an account is signed in to with changes for 5 minutes after a sign-in only"
    )
    func recentSignIn() throws {
        let requests = [
            (IdentityMethod.update, #""password":"secret2""#),
            (.update, #""email":"new@example.com""#),
            (.update, #""deleteAttribute":["PASSWORD"]"#),
            (.update, #""deleteProvider":["password"]"#),
            (.delete, #""localId":"x""#),
            (.signUp, #""email":"new@example.com","password":"secret2""#),
        ]
        for (method, fields) in requests {
            for isDevelopment in [true, false] {
                for seconds in [Int64(300), 301] {
                    var realm = ClientRealm { $0.isDevelopment = isDevelopment }
                    let made = try realm.call(.signUp, form)
                    realm.wait(seconds: seconds)
                    let reply = try realm.call(
                        method,
                        #"{"idToken":"\#(made["idToken"])",\#(fields)}"#
                    )
                    let isTooOld = !isDevelopment && seconds > 300
                    #expect(
                        reply.message == (isTooOld ? "CREDENTIAL_TOO_OLD_LOGIN_AGAIN" : nil)
                    )
                }
            }
        }
        // A profile may change at any time, and who has nothing to sign in with may get it.
        var realm = ClientRealm { $0.isDevelopment = false }
        let made = try realm.call(.signUp)
        realm.wait(seconds: 1000)
        let token = made["idToken"]
        #expect(
            try realm.call(.update, #"{"idToken":"\#(token)","displayName":"x"}"#).status == 200
        )
        let linked = try realm.call(
            .signUp,
            #"{"idToken":"\#(token)","email":"ann@example.com","password":"secret"}"#
        )
        #expect(linked.status == 200)
    }

    @Test("the answer says how an address can sign in where addresses are not guarded")
    func methods() throws {
        var realm = ClientRealm()
        let question = #"{"identifier":"ANN@example.com","continueUri":"http://localhost/a"}"#
        var reply = try realm.call(.createAuthUri, question)
        #expect(reply.text.contains(#""registered":false,"allProviders":[],"signinMethods":[]"#))
        let made = try realm.call(.signUp, form)
        realm.set(made["localId"]) {
            $0.hasEmailLinkSignIn = true
            $0.federated = [Account.FederatedIdentity(provider: "a.com", rawID: "1")]
        }
        reply = try realm.call(.createAuthUri, question)
        #expect(
            reply.text.hasSuffix(
                #""registered":true,"allProviders":["password","a.com"],"signinMethods":["password","emailLink","a.com"]}"#
            )
        )
    }

    @Test("the settings that clients ask for are there")
    func settings() throws {
        var realm = ClientRealm { $0.passwords.required = [.digit] }
        let policy = try realm.call(.passwordPolicy)
        let options = policy.body.member("customStrengthOptions")
        #expect(options.member("minPasswordLength").integer == 6)
        #expect(options.member("containsNumericCharacter").boolean == true)
        #expect(policy["enforcementState"] == "ENFORCE")
        #expect(try realm.call(.recaptchaConfig).text.contains(#""recaptchaEnforcementState":[]"#))
        #expect(try !realm.call(.recaptchaParams)["recaptchaSiteKey"].isEmpty)
        let config = try realm.call(.projectConfig)
        #expect(
            config.text == #"{"projectId":"hearth","authorizedDomains":["localhost","127.0.0.1"]}"#
        )
        #expect(try realm.call(.mfa).status == 501)
    }
}
