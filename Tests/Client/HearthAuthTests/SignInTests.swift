import Foundation
import HearthAuth
import TestSupport
import Testing

@Suite("a user", .serialized)
struct SignInTests {
    private let server: RunningServer
    private let mine: TestApp
    private var auth: Auth { mine.auth }

    init() throws {
        server = try .development()
        mine = try TestApp(server.url)
    }

    @Test("signs up with address, password and name, in one call")
    func signUp() async throws {
        let result = try await auth.createUser(
            withEmail: "Ann@Example.com",
            password: "secret1",
            displayName: "Ann"
        )
        let user = result.user
        #expect(user === auth.currentUser)
        #expect(user.email == "ann@example.com")
        #expect(user.displayName == "Ann")
        #expect(!user.uid.isEmpty)
        #expect(!user.isAnonymous)
        #expect(!user.isEmailVerified)
        #expect(user.providerID == "Firebase")
        #expect(user.providerData.map { $0.providerID } == ["password"])
        #expect(user.providerData.first?.uid == "ann@example.com")
        #expect(user.metadata.creationDate != nil)
        #expect(user.metadata.lastSignInDate != nil)
        #expect(result.additionalUserInfo?.isNewUser == true)
        #expect(result.additionalUserInfo?.providerID == "password")
        let token = try await user.getIDTokenResult()
        #expect(token.claims["name"] as? String == "Ann")
        #expect(token.signInProvider == "password")
        #expect(token.expirationDate.timeIntervalSince(token.issuedAtDate) == 3600)
    }

    @Test("signs up and in by completions")
    func completions() async throws {
        let reported = Record<String>()
        auth.createUser(withEmail: "bea@example.com", password: "secret1") { result, error in
            reported.add("up \(result?.user.email ?? "no one") \(error == nil)")
        }
        auth.signIn(withEmail: "bea@example.com", password: "wrong-1") { result, error in
            let code = (error as NSError?).flatMap { AuthErrorCode(rawValue: $0.code) }
            reported.add("in \(result == nil) \(code == .wrongPassword)")
        }
        auth.signIn(withEmail: "bea@example.com", password: "secret1") { result, error in
            reported.add("in \(result?.additionalUserInfo?.isNewUser == false) \(error == nil)")
        }
        auth.createUser(withEmail: "cleo@example.com", password: "secret1", displayName: "Cleo") {
            result,
            _ in reported.add("named \(result?.user.displayName ?? "no one")")
        }
        auth.signInAnonymously { result, _ in
            reported.add("anonymous \(result?.user.isAnonymous == true)")
        }
        auth.signIn(withCustomToken: #"{"uid":"zoe"}"#) { result, _ in
            reported.add("custom \(result?.user.uid ?? "no one")")
        }
        #expect(
            await reported.first(6) == [
                "up bea@example.com true", "in true true", "in true true", "named Cleo",
                "anonymous true", "custom zoe",
            ]
        )
        #expect(auth.currentUser?.uid == "zoe")
    }

    @Test("is asked for nothing when signing in without a name, and keeps the uid with a password")
    func anonymous() async throws {
        let guest = try await auth.signInAnonymously()
        #expect(guest.user.isAnonymous)
        #expect(guest.user.providerData.isEmpty)
        #expect(guest.additionalUserInfo?.isNewUser == true)
        let again = try await auth.signInAnonymously()
        #expect(again.user === guest.user)
        #expect(again.additionalUserInfo?.isNewUser == false)

        let uid = guest.user.uid
        let credential = EmailAuthProvider.credential(
            withEmail: "dan@example.com",
            password: "secret1"
        )
        let linked = try await guest.user.link(with: credential)
        #expect(linked.user.uid == uid)
        #expect(!linked.user.isAnonymous)
        #expect(linked.user.email == "dan@example.com")
        #expect(
            await refusal { () async throws in
                try await guest.user.link(with: credential)
            }
                == .providerAlreadyLinked
        )

        try auth.signOut()
        let back = try await auth.signIn(with: credential)
        #expect(back.user.uid == uid)
        #expect(back.user !== guest.user)
    }

    @Test("signs in by a custom token, with its claims")
    func customToken() async throws {
        let result = try await auth.signIn(
            withCustomToken: #"{"uid":"zoe","claims":{"team":"blue","level":7}}"#
        )
        #expect(result.user.uid == "zoe")
        #expect(!result.user.isAnonymous)
        #expect(result.additionalUserInfo?.isNewUser == true)
        let claims = try await result.user.getIDTokenResult(forcingRefresh: true).claims
        #expect(claims["team"] as? String == "blue")
        #expect(claims["level"] as? Int == 7)
    }

    @Test("signs in by a link, which verifies the address")
    func link() async throws {
        let settings = ActionCodeSettings()
        settings.url = URL(string: "http://localhost:3000/done")
        settings.handleCodeInApp = true
        try await auth.sendSignInLink(toEmail: "eve@example.com", actionCodeSettings: settings)
        let link = try #require(try await server.emails().last?["oobLink"])
        #expect(auth.isSignIn(withEmailLink: link))
        #expect(ActionCodeURL(link: link)?.continueURL?.path == "/done")
        let result = try await auth.signIn(withEmail: "eve@example.com", link: link)
        #expect(result.user.isEmailVerified)
        #expect(result.additionalUserInfo?.isNewUser == true)
        #expect(
            await refusal { () async throws in
                try await auth.signIn(withEmail: "eve@example.com", link: link)
            } == .invalidActionCode
        )
        let reported = Record<Bool>()
        auth.sendSignInLink(toEmail: "eve@example.com", actionCodeSettings: settings) {
            reported.add($0 == nil)
        }
        #expect(await reported.first(1) == [true])
        let second = try #require(try await server.emails().last?["oobLink"])
        auth.signIn(withEmail: "eve@example.com", link: second) { result, _ in
            reported.add(
                result?.user == result?.user && result?.additionalUserInfo?.isNewUser == false
            )
        }
        #expect(await reported.first(1) == [true])
    }

    @Test("signs in by the digits that a phone is sent")
    func phone() async throws {
        let provider = PhoneAuthProvider.provider(auth: auth)
        let session = try await provider.verifyPhoneNumber("+49 151 12345678")
        let digits = try #require(try await server.digits().last?["code"])
        let reported = Record<Bool>()
        provider.verifyPhoneNumber("+1") { session, error in
            reported.add(session == nil && error != nil)
        }
        #expect(await reported.first(1) == [true])
        let wrong = provider.credential(withVerificationID: session, verificationCode: "x")
        #expect(
            await refusal { () async throws in try await auth.signIn(with: wrong) }
                == .invalidVerificationCode
        )
        let right = provider.credential(withVerificationID: session, verificationCode: digits)
        let result = try await auth.signIn(with: right)
        #expect(result.user.phoneNumber == "+4915112345678")
        #expect(result.user.providerData.map { $0.providerID } == ["phone"])
    }

    @Test("signs in by what another provider says, in development")
    func identity() async throws {
        let google = GoogleAuthProvider.credential(
            withIDToken: #"{"sub":"g & 1","email":"gil@example.com","email_verified":true}"#,
            accessToken: "a"
        )
        #expect(google.provider == "google.com")
        let result = try await auth.signIn(with: google)
        #expect(result.additionalUserInfo?.isNewUser == true)
        #expect(result.user.email == "gil@example.com")
        #expect(result.user.isEmailVerified)
        #expect(result.user.providerData.map { $0.uid } == ["g & 1"])
        try await result.user.unlink(fromProvider: GoogleAuthProvider.id)
        #expect(result.user.providerData.isEmpty)
        let stranger = OAuthProvider.credential(providerID: .apple, idToken: "{}")
        #expect(
            await refusal { () async throws in try await auth.signIn(with: stranger) }
                == .invalidCredential
        )
    }

    @Test("takes a link, a phone and another provider under the uid of an anonymous account")
    func linking() async throws {
        let guest = try await auth.signInAnonymously().user
        let uid = guest.uid
        let settings = ActionCodeSettings()
        settings.url = URL(string: "http://localhost:3000")
        try await auth.sendSignInLink(toEmail: "eve@example.com", actionCodeSettings: settings)
        let link = try #require(try await server.emails().last?["oobLink"])
        try await guest.link(
            with: EmailAuthProvider.credential(withEmail: "eve@example.com", link: link)
        )
        let provider = PhoneAuthProvider.provider(auth: auth)
        let session = try await provider.verifyPhoneNumber("+4915112345678")
        let digits = try #require(try await server.digits().last?["code"])
        let phone = provider.credential(withVerificationID: session, verificationCode: digits)
        try await guest.link(with: phone)
        let git = OAuthProvider.credential(providerID: .gitHub, idToken: #"{"sub":"1"}"#)
        try await guest.link(with: git)
        #expect(guest.uid == uid)
        #expect(!guest.isAnonymous)
        #expect(guest.email == "eve@example.com")
        #expect(guest.phoneNumber == "+4915112345678")
        #expect(
            Set(guest.providerData.map { $0.providerID }) == ["password", "phone", "github.com"]
        )
        #expect(auth.currentUser === guest)

        let other = try await auth.signInAnonymously().user
        #expect(
            await refusal { () async throws in try await other.link(with: git) }
                == .credentialAlreadyInUse
        )
    }

    @Test("is no one after signing out, and can sign in as another")
    func signOut() async throws {
        try await auth.createUser(withEmail: "fay@example.com", password: "secret1")
        try auth.signOut()
        #expect(auth.currentUser == nil)
        try auth.signOut()
        try await auth.createUser(withEmail: "gus@example.com", password: "secret1")
        #expect(auth.currentUser?.email == "gus@example.com")
    }

    @Test("is another one in each app of the process")
    func fiveAccounts() async throws {
        let apps = try (0..<5).map { _ in try TestApp(server.url) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, one) in apps.enumerated() {
                group.addTask {
                    try await one.auth.createUser(
                        withEmail: "user\(number)@example.com",
                        password: "secret1"
                    )
                }
            }
            try await group.waitForAll()
        }
        #expect(apps.map { $0.auth.currentUser?.email } == (0..<5).map { "user\($0)@example.com" })
        #expect(Set(apps.compactMap { $0.auth.currentUser?.uid }).count == 5)
        #expect(Auth.auth(app: apps[0].app) === apps[0].auth)
        #expect(apps[0].auth.app === apps[0].app)
    }

    @Test("gets the ways to sign in with an address")
    func methods() async throws {
        try await auth.createUser(withEmail: "hal@example.com", password: "secret1")
        #expect(try await auth.fetchSignInMethods(forEmail: "hal@example.com") == ["password"])
        #expect(try await auth.fetchSignInMethods(forEmail: "stranger@example.com").isEmpty)
    }

    @Test("is refused with the code of the reason")
    func refusals() async throws {
        let auth = auth
        try await auth.createUser(withEmail: "ida@example.com", password: "secret1")
        try await server.administer(
            "accounts",
            #"{"email":"off@example.com","password":"secret1","disabled":true}"#
        )
        try auth.signOut()
        typealias Call = @Sendable () async throws -> Void
        func up(_ email: String, _ password: String) -> Call {
            { () async throws in
                _ = try await auth.createUser(withEmail: email, password: password)
            }
        }
        func into(_ email: String, _ password: String) -> Call {
            { () async throws in
                _ = try await auth.signIn(withEmail: email, password: password)
            }
        }
        let calls: [(String, Call, AuthErrorCode)] = [
            ("taken", up("ida@example.com", "secret1"), .emailAlreadyInUse),
            ("no address", up("ida", "secret1"), .invalidEmail),
            ("empty address", up("", "secret1"), .missingEmail),
            ("short", up("jim@example.com", "abc"), .weakPassword),
            ("empty", up("jim@example.com", ""), .weakPassword),
            ("wrong", into("ida@example.com", "secret2"), .wrongPassword),
            ("none", into("ida@example.com", ""), .wrongPassword),
            ("no one", into("kim@example.com", "secret1"), .userNotFound),
            ("bad address", into("kim", "secret1"), .invalidEmail),
            ("disabled", into("off@example.com", "secret1"), .userDisabled),
            (
                "custom",
                { () async throws in
                    _ = try await auth.signIn(withCustomToken: "nonsense")
                }, .invalidCustomToken
            ),
            (
                "no link",
                { () async throws in
                    _ = try await auth.signIn(
                        withEmail: "a@example.com",
                        link: "http://x/?mode=signIn"
                    )
                }, .invalidActionCode
            ),
            (
                "code",
                { () async throws in try await auth.applyActionCode("nonsense") },
                .invalidActionCode
            ),
            (
                "reset",
                { () async throws in
                    try await auth.sendPasswordReset(withEmail: "kim@example.com")
                }, .userNotFound
            ),
            (
                "number",
                { () async throws in
                    _ = try await PhoneAuthProvider.provider(auth: auth).verifyPhoneNumber("1")
                }, .invalidPhoneNumber
            ),
        ]
        for (name, call, code) in calls { #expect(await refusal(call) == code, "\(name)") }
        #expect(auth.currentUser == nil)
    }
}
