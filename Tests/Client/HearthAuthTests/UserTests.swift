import Foundation
import HearthAuth
import TestSupport
import Testing

@Suite("who is signed in", .serialized)
struct UserTests {
    private let server: RunningServer
    private let mine: TestApp
    private let user: User
    private var auth: Auth { mine.auth }

    init() async throws {
        server = try .development()
        mine = try TestApp(server.url)
        user = try await mine.auth.createUser(withEmail: "ann@example.com", password: "secret1")
            .user
    }

    private func code(_ type: String) async throws -> String {
        let email = try await server.emails().last { $0["requestType"] == type }
        return try #require(email?["oobCode"])
    }

    @Test("gets a name and a picture, and loses them")
    func profile() async throws {
        let change = user.createProfileChangeRequest()
        change.displayName = "Ann"
        change.photoURL = URL(string: "https://example.com/ann.png")
        try await change.commitChanges()
        #expect(user.displayName == "Ann")
        #expect(user.photoURL?.absoluteString == "https://example.com/ann.png")
        #expect(user.providerData.first?.displayName == "Ann")

        let reported = Record<Bool>()
        let removal = user.createProfileChangeRequest()
        removal.displayName = nil
        removal.commitChanges { error in reported.add(error == nil) }
        #expect(await reported.first(1) == [true])
        #expect(user.displayName == nil)
        #expect(user.photoURL != nil)
        try await user.createProfileChangeRequest().commitChanges()
        #expect(user.photoURL != nil)
        let end = user.createProfileChangeRequest()
        end.photoURL = nil
        try await end.commitChanges()
        #expect(user.photoURL == nil)
    }

    @Test("changes address and password, and stays signed in")
    func credentials() async throws {
        let first = try await user.getIDToken()
        try await user.updateEmail(to: "new@example.com")
        #expect(user.email == "new@example.com")
        let second = try await user.getIDToken()
        #expect(first != second)
        try await user.updatePassword(to: "secret2")
        #expect(auth.currentUser === user)
        _ = try await user.getIDToken(forcingRefresh: true)

        let other = try TestApp(server.url)
        let again = try await other.auth.signIn(withEmail: "new@example.com", password: "secret2")
        #expect(again.user.uid == user.uid)
        #expect(
            await refusal { () async throws in try await user.updatePassword(to: "abc") }
                == .weakPassword
        )
        #expect(
            await refusal { () async throws in try await user.updatePassword(to: "") }
                == .weakPassword
        )
        #expect(
            await refusal { () async throws in try await user.updateEmail(to: "no") }
                == .invalidEmail
        )
        let reported = Record<Bool>()
        user.updateEmail(to: "third@example.com") { reported.add($0 == nil) }
        user.updatePassword(to: "secret3") { reported.add($0 == nil) }
        user.reload { reported.add($0 == nil) }
        #expect(await reported.first(3) == [true, true, true])
        #expect(user.email == "third@example.com")
    }

    @Test("verifies the address by the code of an email")
    func verification() async throws {
        #expect(!user.isEmailVerified)
        try await user.sendEmailVerification()
        let code = try await code("VERIFY_EMAIL")
        #expect(try await auth.checkActionCode(code).operation == .verifyEmail)
        try await auth.applyActionCode(code)
        try await user.reload()
        #expect(user.isEmailVerified)
        let reported = Record<Bool>()
        user.sendEmailVerification { reported.add($0 == nil) }
        #expect(await reported.first(1) == [true])
    }

    @Test("changes the address by the code of an email")
    func changedAddress() async throws {
        try await user.sendEmailVerification(beforeUpdatingEmail: "new@example.com")
        let first = Record<Bool>()
        user.sendEmailVerification(beforeUpdatingEmail: "no address") { first.add($0 != nil) }
        #expect(await first.first(1) == [true])
        let code = try await code("VERIFY_AND_CHANGE_EMAIL")
        let info = try await auth.checkActionCode(code)
        #expect(info.operation == .verifyAndChangeEmail)
        #expect(info.email == "new@example.com")
        #expect(info.previousEmail == "ann@example.com")
        let reported = Record<Bool>()
        auth.checkActionCode(code) { info, error in reported.add(info != nil && error == nil) }
        auth.applyActionCode(code) { reported.add($0 == nil) }
        #expect(await reported.first(2) == [true, true])
        // The change has ended the sign-ins before it.
        #expect(
            await refusal { () async throws in try await user.reload() }
                == .userTokenExpired
        )
        #expect(auth.currentUser == nil)
        try await auth.signIn(withEmail: "new@example.com", password: "secret1")
    }

    @Test("sets a forgotten password by the code of an email, which ends the sign-in")
    func forgotten() async throws {
        try await auth.sendPasswordReset(withEmail: "ann@example.com")
        let code = try await code("PASSWORD_RESET")
        #expect(try await auth.verifyPasswordResetCode(code) == "ann@example.com")
        #expect(
            await refusal { () async throws in
                try await auth.confirmPasswordReset(withCode: code, newPassword: "abc")
            } == .weakPassword
        )
        let reported = Record<Bool>()
        auth.sendPasswordReset(withEmail: "ann@example.com") { reported.add($0 == nil) }
        auth.verifyPasswordResetCode(code) { email, _ in reported.add(email == "ann@example.com") }
        auth.confirmPasswordReset(withCode: code, newPassword: "secret9") {
            reported.add($0 == nil)
        }
        #expect(await reported.first(3) == [true, true, true])
        #expect(auth.currentUser === user)
        #expect(
            await refusal { () async throws in
                try await user.getIDToken(forcingRefresh: true)
            } == .userTokenExpired
        )
        #expect(auth.currentUser == nil)
        try await auth.signIn(withEmail: "ann@example.com", password: "secret9")
        #expect(
            await refusal { () async throws in
                try await auth.confirmPasswordReset(withCode: code, newPassword: "secret8")
            } == .invalidActionCode
        )
    }

    @Test("shows again who it is, and no one else can for it")
    func reauthentication() async throws {
        let before = try await user.getIDToken()
        let mine = EmailAuthProvider.credential(withEmail: "ann@example.com", password: "secret1")
        let result = try await user.reauthenticate(with: mine)
        #expect(result.user === user)
        #expect(try await user.getIDToken() != before || auth.currentUser === user)

        let other = try TestApp(server.url)
        try await other.auth.createUser(withEmail: "bea@example.com", password: "secret1")
        let theirs = EmailAuthProvider.credential(withEmail: "bea@example.com", password: "secret1")
        let wrong = EmailAuthProvider.credential(withEmail: "ann@example.com", password: "secret2")
        let stranger = EmailAuthProvider.credential(
            withEmail: "no@example.com",
            password: "secret1"
        )
        for (credential, code) in [
            (theirs, AuthErrorCode.userMismatch), (stranger, .userMismatch),
            (wrong, .wrongPassword),
        ] {
            #expect(
                await refusal { () async throws in
                    try await user.reauthenticate(with: credential)
                } == code
            )
        }
        #expect(auth.currentUser === user)
        let reported = Record<Bool>()
        user.reauthenticate(with: mine) { result, error in
            reported.add(result != nil && error == nil)
        }
        #expect(await reported.first(1) == [true])
    }

    @Test("loses a way to sign in, and gets it back")
    func linking() async throws {
        #expect(
            await refusal { () async throws in
                try await user.unlink(fromProvider: "phone")
            }
                == .noSuchProvider
        )
        let same = try await user.unlink(fromProvider: "password")
        #expect(same === user)
        #expect(user.providerData.isEmpty)
        let credential = EmailAuthProvider.credential(
            withEmail: "ann@example.com",
            password: "secret2"
        )
        let reported = Record<String>()
        user.link(with: credential) { result, error in
            // The next operation may be done by now, so the user's ways to sign in say nothing here.
            reported.add("linked \(result != nil) \(String(describing: error))")
        }
        user.unlink(fromProvider: "password") { user, error in
            reported.add("\(user?.providerData.count ?? -1) \(String(describing: error))")
        }
        #expect(await reported.first(2) == ["linked true nil", "0 nil"])

        let other = try TestApp(server.url)
        try await other.auth.createUser(withEmail: "bea@example.com", password: "secret1")
        let theirs = EmailAuthProvider.credential(withEmail: "bea@example.com", password: "secret1")
        #expect(
            await refusal { () async throws in try await user.link(with: theirs) }
                == .emailAlreadyInUse
        )
        #expect(try await user.link(with: credential).user.providerData.count == 1)
        #expect(auth.currentUser === user)
    }

    @Test("deletes the account, and is signed out")
    func deletion() async throws {
        try await user.delete()
        #expect(auth.currentUser == nil)
        #expect(
            await refusal { () async throws in
                try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
            } == .userNotFound
        )
        let other = try await auth.createUser(withEmail: "bea@example.com", password: "secret1")
            .user
        let reported = Record<Bool>()
        other.delete { reported.add($0 == nil) }
        #expect(await reported.first(1) == [true])
        #expect(auth.currentUser == nil)
    }

    @Test("is signed out once an administrator has disabled or deleted the account")
    func administered() async throws {
        try await server.administer(
            "accounts:update",
            "{\"localId\":\"\(user.uid)\",\"disableUser\":true}"
        )
        #expect(
            await refusal { () async throws in try await user.reload() } == .userDisabled
        )
        #expect(auth.currentUser == nil)

        let other = try await auth.createUser(withEmail: "bea@example.com", password: "secret1")
            .user
        try await server.administer("accounts:delete", "{\"localId\":\"\(other.uid)\"}")
        #expect(
            await refusal { () async throws in
                try await other.getIDToken(forcingRefresh: true)
            } != nil
        )
        #expect(auth.currentUser == nil)
    }

    @Test("has new claims with a new token, and gives tokens by completions")
    func claims() async throws {
        try await server.administer(
            "accounts:update",
            "{\"localId\":\"\(user.uid)\",\"customAttributes\":\"{\\\"team\\\":\\\"blue\\\"}\"}"
        )
        #expect(try await user.getIDTokenResult().claims["team"] == nil)
        #expect(
            try await user.getIDTokenResult(forcingRefresh: true).claims["team"] as? String
                == "blue"
        )
        let reported = Record<Bool>()
        user.getIDToken { token, error in reported.add(token != nil && error == nil) }
        user.getIDTokenForcingRefresh(true) { token, error in
            reported.add(token != nil && error == nil)
        }
        user.getIDTokenResult { token, error in reported.add(token != nil && error == nil) }
        #expect(await reported.first(3) == [true, true, true])
    }

    @Test("becomes the current one again")
    func updatedCurrentUser() async throws {
        try auth.signOut()
        try await auth.updateCurrentUser(user)
        #expect(auth.currentUser === user)
        let other = try TestApp(server.url)
        try await other.auth.updateCurrentUser(user)
        #expect(other.auth.currentUser?.uid == user.uid)
        #expect(other.auth.currentUser !== user)
        let reported = Record<Bool>()
        auth.updateCurrentUser(nil) { error in
            reported.add((error as? AuthError)?.errorCode == .nullUser)
        }
        #expect(await reported.first(1) == [true])
    }
}

@Suite("a server in production", .serialized)
struct ProductionTests {
    @Test("tells less, and offers what it was set to offer")
    func production() async throws {
        let folder = try TemporaryFolder()
        let server = try RunningServer(arguments: [
            "--data-dir", folder.path + "/data", "--password-memory", "8MiB",
            "--password-passes", "1", "--password-requires", "digit", "--sign-in", "password",
        ])
        let mine = try TestApp(server.url)
        let auth = mine.auth
        let user = try await auth.createUser(withEmail: "ann@example.com", password: "secret1").user
        try await user.updatePassword(to: "secret2")
        let token = try await user.getIDTokenResult(forcingRefresh: true)
        #expect(token.claims["email"] as? String == "ann@example.com")
        typealias Call = @Sendable () async throws -> Void
        let calls: [(String, Call, AuthErrorCode)] = [
            (
                "wrong",
                { () async throws in
                    _ = try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
                }, .invalidCredential
            ),
            (
                "no one",
                { () async throws in
                    _ = try await auth.signIn(withEmail: "bea@example.com", password: "secret1")
                }, .invalidCredential
            ),
            (
                "digit",
                { () async throws in
                    _ = try await auth.createUser(withEmail: "bea@example.com", password: "secrets")
                }, .passwordDoesNotMeetRequirements
            ),
            (
                "anonymous",
                { () async throws in _ = try await auth.signInAnonymously() },
                .operationNotAllowed
            ),
            (
                "email",
                { () async throws in
                    try await auth.sendPasswordReset(withEmail: "ann@example.com")
                }, .operationNotAllowed
            ),
        ]
        for (name, call, code) in calls { #expect(await refusal(call) == code, "\(name)") }
        #expect(try await auth.fetchSignInMethods(forEmail: "ann@example.com").isEmpty)
        #expect(auth.currentUser === user)
    }
}
