import Accounts

extension IdentityToolkit {
    /// `accounts:createAuthUri`: how the account with an address can sign in; where addresses are guarded, only that
    /// the question was heard.
    static func createAuthURI(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let fields = request.fields
        guard try fields.givenText("providerId") == nil else {
            throw .notImplemented("Sign-in with other providers")
        }
        guard let identifier = try fields.givenText("identifier") else {
            throw .code(.missingIdentifier)
        }
        guard let continueURI = try fields.givenText("continueUri") else {
            throw .code(.missingContinueURI)
        }
        guard let email = EmailAddress.normalized(identifier) else {
            throw .code(.invalidIdentifier)
        }
        guard isAbsolute(continueURI) else { throw .code(.invalidContinueURI) }
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#CreateAuthUriResponse")
        body.add("sessionId", try fields.givenText("sessionId") ?? context.randomName(27))
        guard !context.policy.guardsEmails else { return .answer(IdentityAnswer(body)) }

        let account = context.directory.account(email: email)
        var providers: [String] = []
        var methods: [String] = []
        if let account {
            if account.password != nil { methods.append("password") }
            if account.hasEmailLinkSignIn { methods.append("emailLink") }
            if !methods.isEmpty { providers.append("password") }
            providers += account.federated.map(\.provider)
            methods += account.federated.map(\.provider)
        }
        body.add("registered", .boolean(account != nil))
        body.add("allProviders", .list(providers.map { .string($0) }))
        body.add("signinMethods", .list(methods.map { .string($0) }))
        return .answer(IdentityAnswer(body))
    }

    /// Whether an address begins with a scheme (RFC 3986 section 3.1) and goes on.
    private static func isAbsolute(_ uri: String) -> Bool {
        let parts = uri.utf8.split(
            separator: UInt8(ascii: ":"),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        guard parts.count == 2, !parts[1].isEmpty, let first = parts[0].first else { return false }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return letters.contains(first | 32)
            && parts[0].allSatisfy { byte in
                letters.contains(byte | 32) || "0123456789+-.".utf8.contains(byte)
            } && !uri.utf8.contains { $0 <= 32 || $0 == 127 }
    }
}
