import Foundation
import HearthCore
import Synchronization
import Testing

@testable import HearthAuth

@Suite("tokens", .serialized)
struct TokenTests {
    private func signedIn(
        _ url: String
    ) async throws -> (TestApp, User) {
        let mine = try TestApp(url)
        let user = try await mine.auth.signIn(withEmail: "ann@example.com", password: "secret1")
            .user
        return (mine, user)
    }

    @Test("are asked for once by all who want one at the same time")
    func shared() async throws {
        let accounts = ScriptedAccounts()
        let gate = Gate()
        let server = try ScriptedServer { request in
            if request.method == "token" { gate.pass() }
            return accounts.reply(request)
        }
        let (mine, user) = try await signedIn(server.url)
        let reported = Record<String>()
        for _ in 0..<10 {
            user.getIDTokenForcingRefresh(true) { token, _ in reported.add(token ?? "none") }
        }
        let source = try #require(mine.app.tokenSource)
        source.fetchToken(forcingRefresh: true) { result in
            reported.add((try? result.get()) ?? "none")
        }
        gate.open()
        let tokens = await reported.first(11)
        #expect(tokens == Array(repeating: ScriptedAccounts.token(2), count: 11))
        #expect(server.count("token") == 1)
        #expect(try await user.getIDToken() == ScriptedAccounts.token(2))
        #expect(server.count("token") == 1)
        #expect(server.requests.last?.body.contains("refresh-1") == true)
    }

    @Test("are kept while they are good for more than five minutes")
    func kept() async throws {
        let accounts = ScriptedAccounts(seconds: 3600)
        let server = try ScriptedServer { accounts.reply($0) }
        let (_, user) = try await signedIn(server.url)
        _ = try await user.getIDToken()
        #expect(server.count("token") == 0)
        _ = try await user.getIDToken(forcingRefresh: true)
        #expect(server.count("token") == 1)
    }

    @Test("are refreshed when the server or they themselves say that they are about to end")
    func short() async throws {
        // Half of the lifetime is the head start of short ones; without a lifetime nothing counts as good.
        for (seconds, own) in [("0", 3600), ("-1e300", 3600), ("3600", 0), ("nan", -5)] {
            let server = try ScriptedServer { request in
                guard request.method != "lookup" else {
                    return .answer(200, ScriptedAccounts.account)
                }
                let token = ScriptedAccounts.token(1, lifetime: own)
                return .answer(
                    200,
                    """
                    {"idToken":"\(token)","id_token":"\(token)","refreshToken":"r","refresh_token":"r",\
                    "expiresIn":"\(seconds)","expires_in":"\(seconds)","user_id":"ann"}
                    """
                )
            }
            let (_, user) = try await signedIn(server.url)
            _ = try await user.getIDToken()
            _ = try await user.getIDToken()
            #expect(server.count("token") == 2)
        }
    }

    @Test("of a server that tells an absurd lifetime count for as long as they say themselves")
    func absurd() async throws {
        let server = try ScriptedServer { request in
            guard request.method != "lookup" else { return .answer(200, ScriptedAccounts.account) }
            let token = request.method == "signUp" ? "no.token" : ScriptedAccounts.token(1)
            return .answer(
                200,
                "{\"idToken\":\"\(token)\",\"refreshToken\":\"r\",\"expiresIn\":\"1e300\"}"
            )
        }
        let (mine, user) = try await signedIn(server.url)
        #expect(try await user.getIDToken() == ScriptedAccounts.token(1))
        let other = try await mine.auth.signInAnonymously().user
        #expect(try await other.getIDToken() == "no.token")
        #expect(
            await refusal { () async throws in try await other.getIDTokenResult() }
                == .malformedJWT
        )
        #expect(server.count("token") == 0)
    }

    @Test("are refreshed by themselves while a person listens")
    func byThemselves() async throws {
        let accounts = ScriptedAccounts(seconds: 2)
        let server = try ScriptedServer { accounts.reply($0) }
        let (mine, user) = try await signedIn(server.url)
        let reported = Record<String?>()
        mine.auth.addIDTokenDidChangeListener { _, user in reported.add(user?.uid) }
        #expect(await reported.first(3) == ["ann", "ann", "ann"])
        #expect(server.count("token") >= 2)
        #expect(mine.auth.currentUser === user)
        try mine.auth.signOut()
    }

    @Test("are tried again by themselves after the server was away")
    func retried() async throws {
        let accounts = ScriptedAccounts(seconds: 2)
        let count = Atomic(0)
        let server = try ScriptedServer { request in
            if request.method == "token", count.add(1, ordering: .relaxed).newValue <= 1 {
                return .hangUp
            }
            return accounts.reply(request)
        }
        let (mine, _) = try await signedIn(server.url)
        let reported = Record<String>()
        let source = try #require(mine.app.tokenSource)
        source.onCredentialChange { token, _ in reported.add(token ?? "none") }
        mine.auth.addIDTokenDidChangeListener { _, _ in }
        let tokens = await reported.first(2)
        #expect(tokens == [ScriptedAccounts.token(1), ScriptedAccounts.token(2)])
        #expect(server.count("token") >= 2)
    }

    @Test(
        "that are refused for good sign the user out, and passing failures do not",
        arguments: [
            ("TOKEN_EXPIRED", 400, .userTokenExpired, true),
            ("USER_DISABLED", 400, .userDisabled, true),
            ("USER_NOT_FOUND", 400, .userNotFound, true),
            ("INVALID_REFRESH_TOKEN", 400, .invalidUserToken, true),
            ("TOO_MANY_ATTEMPTS_TRY_LATER", 400, .tooManyRequests, false),
            ("UNAVAILABLE", 503, .tooManyRequests, false),
            ("INTERNAL", 500, .internalError, false),
        ] as [(String, Int, AuthErrorCode, Bool)]
    )
    func refused(code: String, status: Int, expected: AuthErrorCode, signsOut: Bool) async throws {
        let accounts = ScriptedAccounts()
        let server = try ScriptedServer { request in
            request.method == "token"
                ? ScriptedAccounts.error(code, status: status) : accounts.reply(request)
        }
        let (mine, user) = try await signedIn(server.url)
        let reported = Record<String?>()
        mine.auth.addStateDidChangeListener { _, user in reported.add(user?.uid) }
        let credentials = Record<String?>()
        let source = try #require(mine.app.tokenSource)
        source.onCredentialChange { _, account in credentials.add(account) }
        #expect(
            await refusal { () async throws in
                try await user.getIDToken(forcingRefresh: true)
            } == expected
        )
        #expect((mine.auth.currentUser == nil) == signsOut)
        #expect(credentials.values == (signsOut ? ["ann", nil] : ["ann"]))
        #expect(await reported.first(signsOut ? 2 : 1) == (signsOut ? ["ann", nil] : ["ann"]))
        let asked = Record<String>()
        source.fetchToken(forcingRefresh: false) { result in
            switch result {
            case .success(let token): asked.add(token == nil ? "no one" : "token")
            case .failure: asked.add("failed")
            }
        }
        #expect(await asked.first(1) == [signsOut ? "no one" : "token"])
    }

    @Test("of an earlier sign-in do not replace those of a later one")
    func overtaken() async throws {
        let accounts = ScriptedAccounts()
        let gate = Gate()
        let server = try ScriptedServer { request in
            guard request.method == "token" else { return accounts.reply(request) }
            gate.pass()
            return ScriptedAccounts.error("TOKEN_EXPIRED")
        }
        let (mine, user) = try await signedIn(server.url)
        let reported = Record<String>()
        user.getIDTokenForcingRefresh(true) { token, error in
            reported.add(token ?? "\(String(describing: error))")
        }
        while server.count("token") == 0 { await Task.yield() }
        // Ends the refresh token that is being shown, and gets tokens 2.
        try await user.reauthenticate(
            with: EmailAuthProvider.credential(withEmail: "ann@example.com", password: "secret1")
        )
        gate.open()
        #expect(await reported.first(1) == [ScriptedAccounts.token(2)])
        #expect(mine.auth.currentUser === user)
    }

    /// In a process of its own: what is logged is a setting of the process.
    @Test("that are refused for good sign no one out who has signed in since")
    func refusedLate() async {
        await #expect(processExitsWith: .success) {
            let accounts = ScriptedAccounts()
            let server = try ScriptedServer { request in
                request.method == "token"
                    ? ScriptedAccounts.error("TOKEN_EXPIRED") : accounts.reply(request)
            }
            let mine = try TestApp(server.url)
            let auth = mine.auth
            let first = try await auth.signInAnonymously().user
            let second = try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
                .user
            try await auth.updateCurrentUser(first)
            // Between the look at who is signed in and the sign-out the reason is logged.
            let isCurrent = Mutex(false)
            HearthConfiguration.shared.setLogger { _, text in
                guard text.contains("the sign-in has ended") else { return }
                do {
                    try auth.become(second)
                } catch {
                    Issue.record(error)
                }
                isCurrent.withLock { $0 = auth.currentUser === second }
            }
            let code = await refusal { () async throws in
                try await first.getIDToken(forcingRefresh: true)
            }
            #expect(code == .userTokenExpired)
            #expect(isCurrent.withLock { $0 })
            #expect(mine.auth.currentUser === second)
        }
    }

    @Test("of another user are not taken")
    func otherUser() async throws {
        let accounts = ScriptedAccounts()
        let server = try ScriptedServer { request in
            guard request.method == "token" else { return accounts.reply(request) }
            return .answer(200, #"{"id_token":"a.b.c","refresh_token":"r","user_id":"bea"}"#)
        }
        let (_, user) = try await signedIn(server.url)
        #expect(
            await refusal { () async throws in
                try await user.getIDToken(forcingRefresh: true)
            } == .internalError
        )
        #expect(try await user.getIDToken() == ScriptedAccounts.token(1))
    }

    @Test("that a request does not get through with are refreshed for one more try")
    func secondTry() async throws {
        let accounts = ScriptedAccounts()
        let server = try ScriptedServer { request in
            if request.method == "delete", request.body.contains(ScriptedAccounts.token(1)) {
                return ScriptedAccounts.error("TOKEN_EXPIRED")
            }
            return accounts.reply(request)
        }
        let (mine, user) = try await signedIn(server.url)
        try await user.delete()
        #expect(server.count("delete") == 2)
        #expect(mine.auth.currentUser == nil)
    }

    @Test("that do not count after a refresh either end the sign-in")
    func noThirdTry() async throws {
        let accounts = ScriptedAccounts()
        let server = try ScriptedServer { request in
            request.method == "update"
                ? ScriptedAccounts.error("INVALID_ID_TOKEN") : accounts.reply(request)
        }
        let (mine, user) = try await signedIn(server.url)
        #expect(
            await refusal { () async throws in try await user.updateEmail(to: "a@b.c") }
                == .invalidUserToken
        )
        #expect(server.count("update") == 2)
        #expect(server.count("token") == 1)
        #expect(mine.auth.currentUser == nil)
    }

    @Test("say what is in them")
    func result() async throws {
        let accounts = ScriptedAccounts()
        let server = try ScriptedServer { accounts.reply($0) }
        let (_, user) = try await signedIn(server.url)
        let result = try await user.getIDTokenResult()
        #expect(result.token == ScriptedAccounts.token(1))
        #expect(result.issuedAtDate == Date(timeIntervalSince1970: 1000))
        #expect(result.authDate == Date(timeIntervalSince1970: 1000))
        #expect(result.expirationDate == Date(timeIntervalSince1970: 4600))
        #expect(result.signInProvider == "password")
        #expect(result.claims["team"] as? String == "blue")
        let levels = try #require(result.claims["levels"] as? [any Sendable])
        #expect(levels[0] as? Int == 1)
        #expect(levels[1] as? Double == 2.5)
        #expect(levels[2] is NSNull)
        #expect(levels[3] as? Bool == true)
    }

    @Test("of a refresh are reported to who listens for tokens and to the database alone")
    func tellsRefresh() async throws {
        let accounts = ScriptedAccounts()
        let server = try ScriptedServer { accounts.reply($0) }
        let (mine, user) = try await signedIn(server.url)
        let reported = Record<String>()
        mine.auth.addStateDidChangeListener { _, user in reported.add("state \(user?.uid ?? "")") }
        mine.auth.addIDTokenDidChangeListener { _, user in reported.add("token \(user?.uid ?? "")")
        }
        let credentials = Record<String>()
        mine.app.credentials.onCredentialChange { token, account in
            credentials.add("\(account ?? "") \(token == ScriptedAccounts.token(2))")
        }
        #expect(await reported.first(2) == ["state ann", "token ann"])
        _ = try await user.getIDToken(forcingRefresh: true)
        mine.queue.sync {}
        #expect(reported.values == ["state ann", "token ann", "token ann"])
        #expect(credentials.values == ["ann false", "ann true"])
    }
}
