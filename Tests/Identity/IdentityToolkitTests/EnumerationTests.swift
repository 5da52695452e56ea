import Accounts
import JSONTree
import Testing

@testable import IdentityToolkit
@testable import Passwords

/// What a sign-in tells, in its answer and in the work that it takes, by whether there is an account.
@Suite("a sign-in with a wrong password")
struct EnumerationTests {
    private static let cost = PasswordCost(memoryKiB: 8 << 10, passes: 1)
    private static let hashing = ImportedHashing(algorithm: .pbkdf2SHA256, rounds: 100)

    /// What can be seen of one request: the work, the steps, and the answer.
    private struct Trace: Equatable {
        var efforts: [[PasswordEffort.Step]] = []
        var answer: [UInt8] = []
        var status = 0
    }

    private static func context(hasImports: Bool) throws -> IdentityContext {
        var policy = IdentityPolicy()
        policy.guardsEmails = true
        policy.cost = cost
        var directory = AccountDirectory(root: .absent)
        func add(_ name: String, _ password: StoredPassword?, _ change: (inout Account) -> Void) {
            var account = Account(uid: name, createdAt: Timestamp(milliseconds: 1))
            account.email = "\(name)@example.com"
            account.password = password
            change(&account)
            directory = AccountDirectory(
                root: directory.changes(from: nil, to: account).applied(to: directory.root)
            )
        }
        let made = PasswordHasher.perform(.hash(password: Array("chamomile".utf8), cost))
        guard case .hashed(let stored) = made else { throw NoHash() }
        add("known", stored) { _ in }
        add("disabled", stored) { $0.isDisabled = true }
        add("linked", nil) { $0.hasEmailLinkSignIn = true }
        add("damaged", StoredPassword("$argon2id$v=19$m=8192,t=1,p=1$")) { _ in }
        if hasImports {
            let kept = directory.changes(keeping: hashing)
            directory = AccountDirectory(root: kept.applied(to: directory.root))
            let hash = [UInt8](repeating: 1, count: 32)
            add("imported", StoredPassword(importedHash: hash, salt: [1], hashingID: hashing.id)) {
                _ in
            }
        }
        return IdentityContext(
            directory: directory,
            policy: policy,
            now: Timestamp(milliseconds: 1_700_000_000_000),
            address: "https://db.example.com",
            random: { [UInt8](repeating: 7, count: $0) }
        )
    }

    private struct NoHash: Error {}

    private static func trace(_ name: String, _ context: IdentityContext) throws -> Trace {
        let body = #"{"email":"\#(name)@example.com","password":"valerian"}"#
        let request = IdentityRequest(
            route: try #require(IdentityRoute(["v1", "accounts:signInWithPassword"])),
            verb: "POST",
            fields: try RequestFields(Array(body.utf8), contentType: "application/json"),
            query: ["key": "k"],
            isAdmin: false
        )
        var trace = Trace()
        var step = IdentityToolkit.begin(request, context)
        while true {
            switch step {
            case .password(let work, let then):
                var effort = PasswordEffort()
                step = then(PasswordHasher.perform(work, &effort), context)
                trace.efforts.append(effort.steps)
            case .refuse(let error):
                trace.answer = error.body.text
                trace.status = error.status
                return trace
            case .answer, .check, .away:
                Issue.record("\(name) is let in")
                return trace
            }
        }
    }

    @Test(
        "takes the same work and gets the same answer, with and without an account",
        arguments: [false, true]
    )
    func sameTrace(hasImports: Bool) throws {
        let context = try Self.context(hasImports: hasImports)
        let unknown = try Self.trace("unknown", context)
        let argon2 = PasswordEffort.Step.argon2(memoryKiB: 8 << 10, passes: 1)
        #expect(unknown.efforts == [hasImports ? [.imported(.pbkdf2SHA256), argon2] : [argon2]])
        #expect(unknown.status == 400)
        #expect(
            String(decoding: unknown.answer, as: UTF8.self).contains("INVALID_LOGIN_CREDENTIALS")
        )
        for name in ["known", "disabled", "linked", "damaged"] + (hasImports ? ["imported"] : []) {
            #expect(try Self.trace(name, context) == unknown, "\(name)")
        }
    }
}

@Suite("what counts as an attempt")
struct AttemptTests {
    private static let network = ClientNetwork([10, 0, 0, 1], text: "")

    private static func attempt(_ path: String, _ body: String) throws -> Attempt? {
        let request = IdentityRequest(
            route: try #require(IdentityRoute(path.split(separator: "/").map(String.init))),
            verb: "POST",
            fields: try RequestFields(Array(body.utf8), contentType: "application/json"),
            query: ["key": "k"],
            isAdmin: false
        )
        return Attempt(request, from: network)
    }

    @Test(
        "is known by the method and its subject",
        arguments: [
            ("v1/accounts:signInWithPassword", #"{"email":" x","password":"p"}"#, .proof, nil),
            (
                "v1/accounts:signInWithPassword", #"{"email":"ANN@example.com"}"#, .proof,
                "email ann@example.com"
            ),
            (
                "www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPassword",
                #"{"email":"ann@example.com"}"#, .proof, "email ann@example.com"
            ),
            ("v1/accounts:signInWithPassword", #"{"email":7}"#, .proof, nil),
            (
                "v1/accounts:signInWithPhoneNumber", #"{"sessionInfo":"s","code":"1"}"#, .proof,
                "session s"
            ),
            ("v1/accounts:resetPassword", #"{"oobCode":"x"}"#, .proof, nil),
            ("v1/accounts:update", #"{"oobCode":"x"}"#, .proof, nil),
            ("v1/accounts:update", #"{"idToken":"x"}"#, nil, nil),
            ("v1/accounts:signInWithEmailLink", "{}", .proof, nil),
            ("v1/accounts:signInWithCustomToken", "{}", .token, nil),
            ("v1/token", "{}", .token, nil), ("v1/accounts:signUp", "{}", .signUp, nil),
            ("v1/accounts:signUp", #"{"idToken":"x"}"#, .signUp, nil),
            ("v1/accounts:signUp", #"{"idToken":"","email":"a@b.co"}"#, .signUp, nil),
            ("v1/accounts:update", #"{"idToken":"x","email":"a@b.co"}"#, .signUp, nil),
            ("v1/accounts:update", #"{"idToken":"x","email":""}"#, nil, nil),
            ("v1/accounts:update", #"{"idToken":"x","email":7}"#, .signUp, nil),
            (
                "v1/accounts:sendOobCode",
                #"{"requestType":"PASSWORD_RESET","email":"ann@example.com","newEmail":"b@b.co"}"#,
                .message, "email ann@example.com"
            ),
            (
                "v1/accounts:sendOobCode",
                #"{"request_type":6,"email":"ann@example.com","newEmail":"b@b.co"}"#,
                .message, "email ann@example.com"
            ),
            (
                "v1/accounts:sendOobCode",
                #"{"requestType":"VERIFY_EMAIL","idToken":"x","email":"a@b.co"}"#, .message, nil
            ),
            ("v1/accounts:sendOobCode", #"{"email":"ann@example.com"}"#, .message, nil),
            (
                "v1/accounts:sendOobCode",
                #"{"requestType":7,"idToken":"x","email":"a@b.co","newEmail":"Bob@example.com"}"#,
                .message, "email bob@example.com"
            ),
            ("v1/accounts:sendVerificationCode", #"{"phoneNumber":"+1"}"#, .message, "phone +1"),
            ("v1/accounts:lookup", "{}", nil, nil), ("v1/accounts:delete", "{}", nil, nil),
        ] as [(String, String, Attempt.Kind?, String?)]
    )
    func kinds(path: String, body: String, kind: Attempt.Kind?, subject: String?) throws {
        let attempt = try Self.attempt(path, body)
        #expect(attempt?.kind == kind)
        #expect(attempt?.subject == subject)
    }

    @Test("has a subject of bounded length")
    func boundedSubject() throws {
        let long = String(repeating: "s", count: 60_000)
        let attempt = try Self.attempt(
            "v1/accounts:signInWithPhoneNumber",
            #"{"sessionInfo":"\#(long)"}"#
        )
        #expect(attempt?.subject?.utf8.count == 256)
    }

    @Test(
        "fails by errors that disprove it, and by no others",
        arguments: [
            (.code(.invalidLoginCredentials), true), (.code(.invalidPassword), true),
            (.code(.invalidOOBCode, "The code is used up."), true),
            (.code(.invalidCustomToken, "Invalid assertion format"), true),
            (.otherLinkAddress, true), (.code(.invalidEmail), false),
            (.code(.userDisabled), false), (.code(.missingPassword), false),
            (.code(.tooManyAttempts), false), (.unavailable("INVALID_PASSWORD"), false),
            (.missingKey, false), (.notFound, false),
        ] as [(IdentityError, Bool)]
    )
    func disproof(error: IdentityError, disproves: Bool) {
        #expect(error.disproves == disproves)
    }

    @Test(
        "that has to wait learns for how long",
        arguments: [
            (1, 1, "1 second."), (1000, 1, "1 second."), (1001, 2, "2 seconds."),
            (900_000, 900, "900 seconds."),
        ] as [(Int64, Int, String)]
    )
    func waiting(milliseconds: Int64, seconds: Int, text: String) {
        let error = IdentityError.tooManyAttempts(milliseconds: milliseconds)
        #expect(error.status == 400)
        #expect(error.retryAfter == seconds)
        #expect(error.message == "TOO_MANY_ATTEMPTS_TRY_LATER : Try again in \(text)")
    }
}
