import Accounts
import JSONTree
import Testing

@testable import IdentityToolkit

@Suite("codes of emails and phones")
struct CodesTests {
    private let reset = #"{"requestType":"PASSWORD_RESET","email":"ann@example.com"}"#
    private let signIn = #"{"requestType":"EMAIL_SIGNIN","email":"ann@example.com"}"#

    private static func production() -> ClientRealm {
        ClientRefusalTests.realm {
            $0.isDevelopment = false
            $0.guardsEmails = true
            $0.continueOrigins = ["https://app.example.com"]
        }
    }

    private func apply(_ code: String, _ password: String = "secret2") -> String {
        #"{"oobCode":"\#(code)","newPassword":"\#(password)"}"#
    }

    @Test("count until their time is over, and are old for a while before they are wrong")
    func expiry() throws {
        var realm = ClientRefusalTests.realm()
        let code = try realm.send(reset)
        realm.wait(seconds: 3_599)
        #expect(try realm.call(.resetPassword, #"{"oobCode":"\#(code)"}"#).status == 200)
        realm.wait(seconds: 1)
        #expect(try realm.call(.resetPassword, apply(code)).message == "EXPIRED_OOB_CODE")
        let link = try realm.send(signIn)
        realm.wait(seconds: 21_600)
        let body = #"{"email":"ann@example.com","oobCode":"\#(link)"}"#
        #expect(try realm.call(.signInWithEmailLink, body).message == "EXPIRED_OOB_CODE")
        let phone = try realm.sendDigits()
        realm.wait(seconds: 600)
        #expect(try realm.call(.signInWithPhoneNumber, phone).message == "SESSION_EXPIRED")
        let end = realm.now.milliseconds + AccountDirectory.codeGrace
        realm.directory = AccountDirectory(
            root: realm.directory.removingExpiredCodes(
                now: Timestamp(milliseconds: end),
                limit: 100
            ).applied(to: realm.directory.root)
        )
        #expect(try realm.call(.resetPassword, apply(code)).message == "INVALID_OOB_CODE")
    }

    @Test("with the guard on, as much is done for an unknown address, and no email is sent")
    func guarded() throws {
        for kind in ["PASSWORD_RESET", "EMAIL_SIGNIN"] {
            var realm = Self.production()
            realm.policy.isSignUpOpen = false
            let known = try realm.call(
                .sendOobCode,
                #"{"requestType":"\#(kind)","email":"ann@example.com"}"#
            )
            for email in ["xyz@example.com", "bob@example.com"] {
                let other = try realm.call(
                    .sendOobCode,
                    #"{"requestType":"\#(kind)","email":"\#(email)"}"#
                )
                #expect(other.status == 200 && other.isChange)
                #expect(other.text == known.text.replacing("ann@example.com", with: email))
                #expect(other.messages.isEmpty)
            }
            #expect(known.messages.count == 1)
            #expect(realm.directory.codeCount == 3)
        }
    }

    @Test("without the guard, the answer says that an address is unknown, or an account disabled")
    func unguarded() throws {
        var realm = ClientRefusalTests.realm()
        let table = [
            ("PASSWORD_RESET", "xyz@example.com", "EMAIL_NOT_FOUND"),
            ("PASSWORD_RESET", "bob@example.com", "USER_DISABLED"),
            ("EMAIL_SIGNIN", "bob@example.com", "USER_DISABLED"),
        ]
        for (kind, email, message) in table {
            let json = #"{"requestType":"\#(kind)","email":"\#(email)"}"#
            let reply = try realm.call(.sendOobCode, json)
            #expect(reply.message == message && !reply.isChange)
        }
    }

    @Test(
        "a password that is hashed meanwhile is stored only if the code still counts then",
        arguments: [
            { $0.remove("ann") }, { $0.set("ann") { $0.isDisabled = true } },
            { $0.set("ann") { $0.email = "anna@example.com" } },
            { $0.directory = AccountDirectory(root: $0.withoutCodes) },
            { $0.wait(seconds: 3_600) },
        ] as [@Sendable (inout ClientRealm) -> Void]
    )
    func races(change: @escaping @Sendable (inout ClientRealm) -> Void) throws {
        var realm = ClientRefusalTests.realm()
        let code = try realm.send(reset)
        var before: AccountDirectory?
        realm.meanwhile = { realm in
            change(&realm)
            before = realm.directory
        }
        let reply = try realm.call(.resetPassword, apply(code))
        #expect(reply.status == 400 && !reply.isChange)
        #expect(realm.directory.account("ann") == before?.account("ann"))
    }

    @Test("two who use a code at once: the first one counts")
    func twice() throws {
        var realm = ClientRefusalTests.realm()
        let code = try realm.send(reset)
        let first = apply(code, "first 1")
        realm.meanwhile = { realm in
            do { _ = try realm.call(.resetPassword, first) } catch { Issue.record(error) }
        }
        #expect(try realm.call(.resetPassword, apply(code)).message == "INVALID_OOB_CODE")
        let password = realm.directory.account("ann")?.password
        #expect(password == ClientRealm.stored(Array("first 1".utf8)))
    }

    @Test(
        "in production, linking an address or a phone takes a recent sign-in, unless nothing identifies the account",
        arguments: [
            ("ann", 299, nil), ("ann", 301, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"),
            ("pia", 301, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"), ("guest", 301, nil),
        ] as [(String, Int64, String?)]
    )
    func linking(uid: String, age: Int64, message: String?) throws {
        for method in [IdentityMethod.signInWithEmailLink, .signInWithPhoneNumber] {
            var realm = Self.production()
            realm.set("pia") { $0.phoneNumber = "+15555550111" }
            realm.set("guest") { _ in }
            let before = realm.directory.account(uid)
            realm.wait(seconds: age)
            var body = #"{"email":"thief@example.com","oobCode":"CODE"}"#
            if method == .signInWithPhoneNumber {
                body = try realm.sendDigits()
            } else {
                let order = #"{"requestType":"EMAIL_SIGNIN","email":"thief@example.com"}"#
                body = body.replacing("CODE", with: try realm.send(order))
            }
            let token = ClientRefusalTests.token(uid)
            let reply = try realm.call(method, #"{"idToken":"\#(token)","# + body.dropFirst())
            #expect(reply.message == message, "\(method)")
            #expect((realm.directory.account(uid) == before) == (message != nil), "\(method)")
        }
    }

    @Test("a reset of an account whose address was never verified unlinks its phone")
    func resetOfUnverified() throws {
        var realm = ClientRefusalTests.realm()
        realm.set("ann") { $0.phoneNumber = "+15555550100" }
        _ = try realm.call(.resetPassword, apply(try realm.send(reset)))
        #expect(realm.directory.account("ann")?.phoneNumber == nil)
        #expect(realm.directory.account(phone: "+15555550100") == nil)
    }

    @Test("a reset verifies the address, drops other identities and ends all sign-ins")
    func reset_() throws {
        var realm = ClientRefusalTests.realm()
        realm.set("ann") {
            $0.isEmailVerified = true
            $0.federated = [.init(provider: "google.com", rawID: "1")]
            $0.phoneNumber = "+15555550100"
        }
        let before = realm.directory.account("ann")?.validSince ?? 0
        let reply = try realm.call(.resetPassword, apply(try realm.send(reset)))
        let account = try #require(realm.directory.account("ann"))
        #expect(account.isEmailVerified && account.federated.isEmpty)
        #expect(account.phoneNumber == "+15555550100")
        #expect(account.passwordUpdatedAt == realm.now && account.validSince > before)
        #expect(realm.directory.account(provider: "google.com", rawID: "1") == nil)
        guard case .revoked("ann", account.validSince) = reply.events.first else {
            Issue.record("ann's tokens are called back, not \(reply.events)")
            return
        }
    }

    @Test("a busy server resets nothing and keeps the code")
    func busy() throws {
        var realm = ClientRefusalTests.realm()
        let code = try realm.send(reset)
        realm.isBusy = true
        let reply = try realm.call(.resetPassword, apply(code))
        #expect(reply.status == 503 && !reply.isChange)
        realm.isBusy = false
        #expect(try realm.call(.resetPassword, apply(code)).status == 200)
    }

    @Test("an address that was changed is taken back by the email to the old one")
    func recovery() throws {
        var realm = ClientRefusalTests.realm()
        let body = #"{"email":"ann@example.com","password":"secret"}"#
        let token = try realm.call(.signInWithPassword, body)["idToken"]
        let stolen = try realm.call(
            .update,
            #"{"idToken":"\#(token)","email":"thief@example.com"}"#
        )
        let message = try #require(stolen.messages.first)
        #expect(message.kind == "RECOVER_EMAIL" && message.email == "ann@example.com")
        let back = try realm.call(.update, #"{"oobCode":"\#(message.code)"}"#)
        #expect(back["email"] == "ann@example.com")
        #expect(realm.directory.account(email: "ann@example.com")?.uid == "ann")
        #expect(realm.directory.account(email: "thief@example.com") == nil)
        let again = try realm.call(.update, #"{"oobCode":"\#(message.code)"}"#)
        #expect(again.message == "INVALID_OOB_CODE")
    }

    @Test("in production, ten emails within an hour go to the address of an account")
    func flood() throws {
        var realm = Self.production()
        let body =
            #"{"requestType":"VERIFY_EMAIL","idToken":"\#(ClientRefusalTests.token("ann"))"}"#
        let first = try realm.send(body)
        for _ in 1..<10 {
            realm.now.milliseconds += 1
            _ = try realm.send(body)
        }
        #expect(try realm.call(.sendOobCode, body).message == "TOO_MANY_ATTEMPTS_TRY_LATER")
        realm.wait(seconds: 3_600)
        _ = try realm.send(body)
        #expect(try realm.call(.update, #"{"oobCode":"\#(first)"}"#).message == "INVALID_OOB_CODE")
    }

    @Test(
        "a change of address that was begun, and emails to an account that is gone, end with its sign-ins",
        arguments: [true, false]
    )
    func begun(isReplaced: Bool) throws {
        var realm = Self.production()
        let token = ClientRefusalTests.token("ann")
        let change = try realm.send(
            #"{"requestType":"VERIFY_AND_CHANGE_EMAIL","idToken":"\#(token)","newEmail":"x@example.com"}"#
        )
        let verify = try realm.send(#"{"requestType":"VERIFY_EMAIL","idToken":"\#(token)"}"#)
        let other = try realm.send(reset)
        if isReplaced {
            realm.remove("ann")
            realm.wait(seconds: 1)
            realm.set("ann") { $0.email = "ann@example.com" }
        } else {
            realm.set("ann") { $0.revoke(at: Timestamp(milliseconds: 1_700_000_000_500)) }
        }
        for code in [change, verify] {
            let reply = try realm.call(.update, #"{"oobCode":"\#(code)"}"#)
            #expect(reply.message == "INVALID_OOB_CODE")
        }
        #expect(try realm.call(.resetPassword, apply(other)).message == "INVALID_OOB_CODE")
    }

    @Test(
        "in production a user who loses an address gets an email there, whatever took it away",
        arguments: [
            (.update, #""email":"thief@example.com""#),
            (.update, #""deleteAttribute":["EMAIL"]"#),
            (.update, #""oobCode":"CHANGE""#),
            (.signInWithEmailLink, #""email":"thief@example.com","oobCode":"LINK""#),
            (.signUp, #""email":"thief@example.com","password":"secret2""#),
        ] as [(IdentityMethod, String)]
    )
    func recoveryEverywhere(method: IdentityMethod, fields: String) throws {
        var realm = Self.production()
        realm.set("ann") { $0.initialEmail = "first@example.com" }
        let token = ClientRefusalTests.token("ann")
        var json = "{\(fields)"
        if fields.contains("CHANGE") {
            let order =
                #"{"requestType":7,"idToken":"\#(token)","newEmail":"thief@example.com"}"#
            json = json.replacing("CHANGE", with: try realm.send(order)) + "}"
        } else {
            json += #","idToken":"\#(token)"}"#
        }
        if fields.contains("LINK") {
            let order = #"{"requestType":"EMAIL_SIGNIN","email":"thief@example.com"}"#
            json = json.replacing("LINK", with: try realm.send(order))
        }
        let message = try #require(try realm.call(method, json).messages.first)
        #expect(message.kind == "RECOVER_EMAIL" && message.email == "ann@example.com")
        let back = try realm.call(.update, #"{"oobCode":"\#(message.code)"}"#)
        #expect(back["email"] == "ann@example.com" && back.messages.isEmpty)
    }

    @Test("an address that was taken meanwhile is not given twice")
    func taken() throws {
        var realm = ClientRefusalTests.realm()
        let body = #"{"email":"ann@example.com","password":"secret"}"#
        let token = try realm.call(.signInWithPassword, body)["idToken"]
        let json =
            #"{"requestType":"VERIFY_AND_CHANGE_EMAIL","idToken":"\#(token)","newEmail":"new@example.com"}"#
        let code = try realm.send(json)
        realm.set("dan") { $0.email = "new@example.com" }
        #expect(try realm.call(.sendOobCode, json).message == "EMAIL_EXISTS")
        let reply = try realm.call(.update, #"{"oobCode":"\#(code)"}"#)
        #expect(reply.message == "EMAIL_EXISTS")
        #expect(realm.directory.account("ann")?.email == "ann@example.com")
    }

    @Test(
        "in production, a user who signs in by an email takes over what was never proved to be owned"
    )
    func takeover() throws {
        var realm = Self.production()
        realm.set("ann") { $0.phoneNumber = "+15555550199" }
        let code = try realm.send(signIn)
        let body = #"{"email":"ann@example.com","oobCode":"\#(code)"}"#
        let reply = try realm.call(.signInWithEmailLink, body)
        #expect(reply["localId"] == "ann")
        let account = try #require(realm.directory.account("ann"))
        #expect(account.password == nil && account.isEmailVerified)
        #expect(account.phoneNumber == nil)
        // A second time there is nothing to take over.
        realm.set("ann") { $0.password = ClientRealm.stored(Array("own".utf8)) }
        let next = try realm.send(signIn)
        _ = try realm.call(
            .signInWithEmailLink,
            #"{"email":"ann@example.com","oobCode":"\#(next)"}"#
        )
        #expect(realm.directory.account("ann")?.password != nil)
    }

    @Test(
        "links lead only where the realm says",
        arguments: [
            ("https://app.example.com", nil), ("https://APP.example.com:443/a?b#c", nil),
            ("http://app.example.com", "UNAUTHORIZED_CONTINUE_URI"),
            ("https://app.example.com:8443", "UNAUTHORIZED_CONTINUE_URI"),
            ("https://app.example.com.evil.example", "UNAUTHORIZED_CONTINUE_URI"),
            ("https://app.example.com@evil.example", "INVALID_CONTINUE_URI"),
            ("https://evil.example\\@app.example.com", "INVALID_CONTINUE_URI"),
            ("javascript://app.example.com/%0aalert(1)", "UNAUTHORIZED_CONTINUE_URI"),
            ("app.example.com", "INVALID_CONTINUE_URI"), ("https://", "INVALID_CONTINUE_URI"),
            ("//app.example.com", "INVALID_CONTINUE_URI"),
            ("https://app.example.com/\u{a0}", "INVALID_CONTINUE_URI"),
        ] as [(String, String?)]
    )
    func continueURLs(url: String, code: String?) {
        var policy = IdentityPolicy()
        policy.continueOrigins = ["https://app.example.com"]
        do throws(IdentityError) {
            try ContinueURL.check(url, policy)
            #expect(code == nil)
            #expect(ContinueURL.allowed(url, policy) == url)
        } catch {
            #expect(code != nil && error.message.hasPrefix(code ?? "-"))
            #expect(ContinueURL.allowed(url, policy) == nil)
        }
    }

    @Test("a link has no domain but the server's own; in development any is passed over")
    func linkDomains() throws {
        for (domain, isProduction, error) in [
            ("127.0.0.1:9000", true, nil),
            ("links.example.com", true, "INVALID_HOSTING_LINK_DOMAIN"),
            ("127.0.0.1:9000.evil.example", true, "INVALID_HOSTING_LINK_DOMAIN"),
            ("links.example.com", false, nil),
        ] as [(String, Bool, String?)] {
            var realm = ClientRefusalTests.realm { $0.isDevelopment = !isProduction }
            for member in ["linkDomain", "link_domain"] {
                let body =
                    #"{"requestType":"PASSWORD_RESET","email":"ann@example.com","\#(member)":"\#(domain)"}"#
                let message = try realm.call(.sendOobCode, body).message
                #expect(message?.split(separator: " ").first == error.map { $0[...] }, "\(domain)")
            }
        }
    }

    @Test("a server that cannot write to anybody says so to everybody alike")
    func undeliverable() throws {
        var realm = Self.production()
        realm.policy.deliversCodes = false
        let replies = try [reset, signIn, reset.replacing("ann", with: "xyz")].map {
            try realm.call(.sendOobCode, $0).text
        }
        #expect(Set(replies).count == 1 && replies[0].contains("OPERATION_NOT_ALLOWED : "))
        let phone = try realm.call(.sendVerificationCode, #"{"phoneNumber":"+15555550100"}"#)
        #expect(phone.text == replies[0])
    }

    @Test(
        "methods that are switched off are refused before anything is looked at",
        arguments: [
            (.sendOobCode, #"{"requestType":"EMAIL_SIGNIN"}"#, "OPERATION_NOT_ALLOWED"),
            (.signInWithEmailLink, "{}", "OPERATION_NOT_ALLOWED"),
            (.sendVerificationCode, "{}", "OPERATION_NOT_ALLOWED"),
            (.signInWithPhoneNumber, "{}", "OPERATION_NOT_ALLOWED"),
            (.sendOobCode, #"{"requestType":"PASSWORD_RESET"}"#, "PASSWORD_LOGIN_DISABLED"),
            (.resetPassword, "{}", "PASSWORD_LOGIN_DISABLED"),
        ] as [(IdentityMethod, String, String)]
    )
    func switchedOff(method: IdentityMethod, json: String, message: String) throws {
        var realm = ClientRealm { $0.methods = [] }
        #expect(try realm.call(method, json).message?.hasPrefix(message) == true)
    }

    @Test("who may make no account makes none by an email or a phone")
    func closed() throws {
        var realm = ClientRealm()
        let code = try realm.send(signIn)
        let phone = try realm.sendDigits()
        realm.policy.isSignUpOpen = false
        let body = #"{"email":"ann@example.com","oobCode":"\#(code)"}"#
        #expect(try realm.call(.signInWithEmailLink, body).message == "ADMIN_ONLY_OPERATION")
        #expect(try realm.call(.signInWithPhoneNumber, phone).message == "ADMIN_ONLY_OPERATION")
        #expect(realm.directory.accountCount == 0)
    }

    @Test("a repeated proof makes no account")
    func reauthentication() throws {
        var realm = ClientRealm()
        let phone = String(try realm.sendDigits().dropLast()) + #","operation":"REAUTH"}"#
        #expect(try realm.call(.signInWithPhoneNumber, phone).message == "USER_NOT_FOUND")
    }

    @Test("digits are as likely as each other, and random bytes beyond are passed over")
    func digits() {
        let bytes: [UInt8] = [250, 255, 0, 9, 10, 249, 128, 251, 7, 8, 1, 2]
        let context = IdentityContext(
            directory: AccountDirectory(root: .absent),
            policy: IdentityPolicy(),
            now: Timestamp(milliseconds: 0),
            address: "",
            random: { Array(bytes.prefix($0)) }
        )
        #expect(context.randomText(6, of: "0123456789") == "090987")
    }
}

extension ClientRealm {
    /// The accounts without any code.
    var withoutCodes: Node {
        var root = directory.root
        for name in ["codes", "codeSubjects", "codeExpiries", "untoldCodes"] {
            root.set(.absent, at: Path([AccountDirectory.key(name)]))
        }
        return root
    }

    /// Has an email sent; its code.
    mutating func send(_ json: String) throws -> String {
        let reply = try call(.sendOobCode, json)
        return try #require(reply.messages.first, "\(reply.text)").code
    }

    /// Has digits sent; the body that signs in by them.
    mutating func sendDigits() throws -> String {
        let reply = try call(.sendVerificationCode, #"{"phoneNumber":"+15555550100"}"#)
        let digits = try #require(reply.messages.first, "\(reply.text)").code
        return #"{"sessionInfo":"\#(reply["sessionInfo"])","code":"\#(digits)"}"#
    }
}

extension ClientRealm.Reply {
    /// What is to be delivered.
    var messages: [OneTimeMessage] {
        events.compactMap { event in
            if case .deliver(let message) = event { message } else { nil }
        }
    }
}
