import Foundation
import HearthAuth
import HearthCore
import Testing

@Suite("answers")
struct AnswerTests {
    @Test(
        "that are refusals become the error of their code",
        arguments: [
            ("EMAIL_EXISTS", .emailAlreadyInUse), ("INVALID_EMAIL", .invalidEmail),
            ("MISSING_EMAIL", .missingEmail), ("MISSING_PASSWORD", .weakPassword),
            ("WEAK_PASSWORD : Password should be at least 6 characters", .weakPassword),
            ("PASSWORD_DOES_NOT_MEET_REQUIREMENTS : [digit]", .passwordDoesNotMeetRequirements),
            ("EMAIL_NOT_FOUND", .userNotFound), ("INVALID_PASSWORD", .wrongPassword),
            ("INVALID_LOGIN_CREDENTIALS", .invalidCredential), ("USER_DISABLED", .userDisabled),
            ("OPERATION_NOT_ALLOWED", .operationNotAllowed),
            ("PASSWORD_LOGIN_DISABLED", .operationNotAllowed),
            ("ADMIN_ONLY_OPERATION", .adminRestrictedOperation),
            ("TOO_MANY_ATTEMPTS_TRY_LATER", .tooManyRequests),
            ("TOO_MANY_ATTEMPTS_TRY_LATER : Wait.", .tooManyRequests),
            ("INVALID_ID_TOKEN", .invalidUserToken), ("TOKEN_EXPIRED", .userTokenExpired),
            ("USER_NOT_FOUND", .userNotFound),
            ("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", .requiresRecentLogin),
            ("INVALID_CUSTOM_TOKEN : expired", .invalidCustomToken),
            ("CREDENTIAL_MISMATCH", .customTokenMismatch),
            ("EXPIRED_OOB_CODE", .expiredActionCode), ("INVALID_OOB_CODE", .invalidActionCode),
            ("UNAUTHORIZED_CONTINUE_URI", .unauthorizedDomain),
            ("INVALID_CONTINUE_URI", .invalidContinueURI),
            ("INVALID_PHONE_NUMBER : Invalid format.", .invalidPhoneNumber),
            ("INVALID_CODE", .invalidVerificationCode), ("SESSION_EXPIRED", .sessionExpired),
            ("PHONE_NUMBER_EXISTS", .credentialAlreadyInUse), ("QUOTA_EXCEEDED", .quotaExceeded),
            ("SOMETHING_NEW", .internalError), ("", .internalError),
        ] as [(String, AuthErrorCode)]
    )
    func codes(message: String, expected: AuthErrorCode) async throws {
        let server = try ScriptedServer { _ in ScriptedAccounts.error(message) }
        let mine = try TestApp(server.url)
        do {
            try await mine.auth.signIn(withEmail: "ann@example.com", password: "secret1")
            Issue.record("signed in")
        } catch let error as AuthError {
            #expect(error.errorCode == expected)
            #expect(error.code == expected.rawValue)
            #expect(error.domain == AuthErrorDomain)
            #expect(!error.localizedDescription.isEmpty)
            if !message.isEmpty {
                #expect(error.serverCode == message.split(separator: " ").first.map { String($0) })
            }
            let bridged = error as NSError
            #expect(AuthErrorCode(rawValue: bridged.code) == expected)
        }
    }

    @Test("name each code as the hosted service's SDK does")
    func names() async throws {
        for (code, name) in [
            ("USER_DISABLED", "ERROR_USER_DISABLED"),
            ("INVALID_CODE", "ERROR_INVALID_VERIFICATION_CODE"),
            ("MISSING_CONTINUE_URI", "ERROR_MISSING_CONTINUE_URI"),
            ("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "ERROR_REQUIRES_RECENT_LOGIN"),
        ] {
            let server = try ScriptedServer { _ in ScriptedAccounts.error(code) }
            let mine = try TestApp(server.url)
            do {
                try await mine.auth.signInAnonymously()
                Issue.record("signed in")
            } catch let error as AuthError {
                #expect(error.userInfo[AuthError.nameKey] as? String == name)
            }
        }
    }

    @Test("that want a key are distinguished")
    func key() async throws {
        let server = try ScriptedServer { _ in
            ScriptedAccounts.error("The request is missing a valid API key.", status: 403)
        }
        let mine = try TestApp(server.url)
        #expect(
            await refusal { () async throws in try await mine.auth.signInAnonymously() }
                == .invalidAPIKey
        )
    }

    @Test(
        "of emails have links that are read, also where another link has them in it",
        arguments: [
            ("https://x/?mode=signIn&oobCode=c", true), ("x?mode=signIn&oobCode=c", false),
            ("https://x/?mode=signIn", false), ("https://x/?mode=resetPassword&oobCode=c", false),
            ("https://y/?link=https%3A%2F%2Fx%2F%3Fmode%3DsignIn%26oobCode%3Dc", true),
            ("https://y/?deep_link_id=https%3A%2F%2Fx%2F%3Fmode%3DsignIn%26oobCode%3Dc", true),
            ("https://y/?link=https%3A%2F%2Fx%2F", false), ("", false), ("not a link", false),
        ]
    )
    func links(link: String, isSignIn: Bool) throws {
        let mine = try TestApp("http://127.0.0.1:1")
        #expect(mine.auth.isSignIn(withEmailLink: link) == isSignIn)
    }

    @Test("that succeed may be refusals of what a provider said")
    func provided() async throws {
        for (body, expected) in [
            (#"{"needConfirmation":true}"#, AuthErrorCode.accountExistsWithDifferentCredential),
            (#"{"errorMessage":"FEDERATED_USER_ID_ALREADY_LINKED"}"#, .credentialAlreadyInUse),
        ] {
            let server = try ScriptedServer { _ in .answer(200, body) }
            let mine = try TestApp(server.url)
            let credential = OAuthProvider.credential(providerID: .google, accessToken: "a")
            #expect(
                await refusal { () async throws in
                    try await mine.auth.signIn(with: credential)
                } == expected
            )
        }
    }

    @Test("have the detail of the server in the error's words, and the name of the code")
    func detail() async throws {
        let server = try ScriptedServer { _ in
            ScriptedAccounts.error("WEAK_PASSWORD : At least 12 characters")
        }
        let mine = try TestApp(server.url)
        do {
            try await mine.auth.createUser(withEmail: "ann@example.com", password: "secret1")
        } catch let error as AuthError {
            #expect(error.localizedDescription == "At least 12 characters")
            #expect(error.userInfo[AuthError.nameKey] as? String == "ERROR_WEAK_PASSWORD")
            #expect("\(error)" == "weakPassword (17026): At least 12 characters")
        }
    }

    @Test(
        "that make no sense are internal errors, and sign no one in",
        arguments: [
            .answer(200, ""), .answer(200, "{"), .answer(200, "[]"), .answer(200, "null"),
            .answer(200, "{}"), .answer(200, #"{"idToken":7,"refreshToken":"r"}"#),
            .answer(200, #"{"idToken":"","refreshToken":""}"#), .answer(200, #"{"users":[]}"#),
            .answer(200, #"{"idToken":"a","refreshToken":"r","users":[{"localId":""}]}"#),
            .answer(
                200,
                #"{"idToken":"a","refreshToken":"r","users":[{"localId":"a"},{"localId":"b"}]}"#
            ),
            .answer(400, "<html>"), .answer(400, #"{"error":"no"}"#), .answer(404, "{}"),
            .answer(500, "{"), .answer(302, "{}"),
        ] as [ScriptedServer.Reply]
    )
    func garbage(reply: ScriptedServer.Reply) async throws {
        let server = try ScriptedServer { _ in reply }
        let mine = try TestApp(server.url)
        #expect(
            await refusal { () async throws in
                try await mine.auth.signIn(withEmail: "ann@example.com", password: "secret1")
            } == .internalError
        )
        #expect(mine.auth.currentUser == nil)
    }

    @Test(
        "that do not come whole are network errors",
        arguments: [
            .hangUp, .raw("nonsense\r\n\r\n"),
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"idToken\":"),
        ] as [ScriptedServer.Reply]
    )
    func cut(reply: ScriptedServer.Reply) async throws {
        let server = try ScriptedServer { _ in reply }
        let mine = try TestApp(server.url)
        #expect(
            await refusal { () async throws in try await mine.auth.signInAnonymously() }
                == .networkError
        )
    }

    @Test("do not come from a server that is down, which is reported with its address")
    func down() async throws {
        let mine = try TestApp("http://127.0.0.1:1")
        do {
            try await mine.auth.signIn(withEmail: "ann@example.com", password: "secret1")
            Issue.record("signed in")
        } catch let error as AuthError {
            #expect(error.errorCode == .networkError)
            #expect(error.localizedDescription.hasPrefix("http://127.0.0.1:1 cannot be reached"))
            #expect(!"\(error)".contains("secret1"))
        }
        let reported = Record<Int?>()
        mine.auth.signInAnonymously { result, error in
            reported.add(result == nil ? (error as NSError?)?.code : nil)
        }
        #expect(await reported.first(1) == [17020])
    }

    @Test("may each be the last of their connection")
    func closed() async throws {
        let accounts = ScriptedAccounts()
        let server = try ScriptedServer { request in
            guard case .answer(_, let body) = accounts.reply(request) else { return .hangUp }
            return .raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\(body)")
        }
        let mine = try TestApp(server.url)
        for _ in 0..<20 { try await mine.auth.signIn(withEmail: "a@b.c", password: "secret1") }
        _ = try await mine.auth.currentUser?.getIDToken(forcingRefresh: true)
        #expect(server.requests.count == 41)
    }

    @Test("follow requests with the key, the language and the agent of the app")
    func requests() async throws {
        let accounts = ScriptedAccounts()
        let server = try ScriptedServer { accounts.reply($0) }
        var options = HearthOptions(databaseURL: "http://127.0.0.1:1?ns=chat")
        options.accountsURL = server.url + "/"
        options.apiKey = "a b&c"
        options.agent = "chat/1"
        options.persistsUser = false
        let app = try HearthApp.make(name: "requests", options: options)
        let auth = Auth.auth(app: app)
        auth.useAppLanguage()
        auth.languageCode = "de"
        #expect(auth.languageCode == "de")
        try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
        auth.languageCode = "de\r\nX-Other: 1"
        try await auth.currentUser?.reload()
        let first = try #require(server.requests.first)
        #expect(
            first.head.hasPrefix(
                "POST /identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=a%20b%26c "
            )
        )
        #expect(first.head.contains("\r\nX-Firebase-Locale: de\r\n"))
        #expect(first.head.contains("\r\nUser-Agent: chat/1"))
        #expect(server.requests.last?.head.contains("X-Other") == false)
        await app.delete()
    }

    @Test("and what is made of them show no secret when they are printed")
    func secrets() async throws {
        let accounts = ScriptedAccounts()
        let server = try ScriptedServer { accounts.reply($0) }
        let mine = try TestApp(server.url)
        let credential = EmailAuthProvider.credential(
            withEmail: "ann@example.com",
            password: "secret1"
        )
        let result = try await mine.auth.signIn(with: credential)
        let token = try await result.user.getIDTokenResult()
        let link = EmailAuthProvider.credential(withEmail: "a@example.com", link: "https://secret1")
        let digits = PhoneAuthProvider.provider(auth: mine.auth)
            .credential(withVerificationID: "secret1", verificationCode: "secret1")
        let things: [Any] = [credential, link, digits, result, result.user, token]
        for thing in things {
            var text = "\(thing) \(String(reflecting: thing))"
            dump(thing, to: &text)
            for secret in ["secret1", "refresh-1", "e30."] {
                #expect(!text.contains(secret), "\(type(of: thing))")
            }
        }
    }
}
