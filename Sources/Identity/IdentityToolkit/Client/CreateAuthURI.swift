import Accounts
import JSONTree

extension IdentityRequest {
    /// `accounts:createAuthUri`: how the account with an address can sign in; where addresses are guarded, only that
    /// the question was heard.
    func createAuthURI(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        guard try fields.givenText("providerId") == nil else {
            throw .notImplemented("Sign-in with other providers")
        }
        let identifier = try fields.required("identifier", .missingIdentifier)
        let continueURI = try fields.required("continueUri", .missingContinueURI)
        guard let email = EmailAddress.normalized(identifier) else {
            throw .code(.invalidIdentifier)
        }
        guard isAbsolute(continueURI) else { throw .code(.invalidContinueURI) }
        var body = JSONMembers(kind: "CreateAuthUriResponse")
        body.add("sessionId", try fields.givenText("sessionId") ?? context.randomName(27))
        guard !context.policy.guardsEmails else { return .answer(body) }

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
        body.add([
            "registered": .boolean(account != nil),
            "allProviders": .list(providers.map { .string($0) }),
            "signinMethods": .list(methods.map { .string($0) }),
        ])
        return .answer(body)
    }

    /// Whether an address begins with a scheme (RFC 3986 section 3.1) and has a rest.
    private func isAbsolute(_ uri: String) -> Bool {
        let parts = uri.utf8.split(
            separator: UInt8(ascii: ":"),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        guard parts.count == 2, !parts[1].isEmpty, let first = parts[0].first else { return false }
        let lowercase = UInt8(ascii: "a")...UInt8(ascii: "z")
        return lowercase.contains(first | 32)
            && parts[0].allSatisfy { byte in
                lowercase.contains(byte | 32) || "0123456789+-.".utf8.contains(byte)
            } && !uri.utf8.contains { $0 <= 32 || $0 == 127 }
    }
}
