import Accounts
import JSONTree
import Tokens

extension IdentityToolkit {
    /// `accounts:signInWithIdp`: in development, with what another provider would have said of the user.
    ///
    /// Nobody is asked, and nothing is checked: the token may be the bare JSON of its claims. Production does not serve
    /// it. Source: Firebase Authentication, "Connect your app to the Authentication Emulator".
    static func signInWithIdp(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let fields = request.fields
        guard context.policy.isDevelopment else {
            throw .notAllowed("Sign-in with other providers is not served.")
        }
        for name in ["returnRefreshToken", "pendingIdToken"] where fields.has(name) {
            throw .notImplemented("'\(name)'")
        }
        let assertion = try ProviderAssertion(fields)
        // Who wants the credential back is told what is wrong beside it.
        let tellsBeside = try fields.flag("returnIdpCredential") == true
        guard try fields.givenText("idToken") != nil else {
            return try answer(assertion, tellsBeside) { () throws(IdentityError) in
                try signIn(assertion, context)
            }
        }
        return try identify(fields, context) { account, _, context throws(IdentityError) in
            try answer(assertion, tellsBeside) { () throws(IdentityError) in
                try link(assertion, to: account, context)
            }
        }
    }

    private static func answer(
        _ assertion: ProviderAssertion,
        _ tellsBeside: Bool,
        _ body: () throws(IdentityError) -> IdentityAnswer
    ) throws(IdentityError) -> IdentityStep {
        do throws(IdentityError) {
            return .answer(try body())
        } catch {
            guard tellsBeside else { throw error }
            var told = assertion.members
            told.add("errorMessage", error.message)
            return .answer(IdentityAnswer(told))
        }
    }

    private static func link(
        _ assertion: ProviderAssertion,
        to old: Account,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        guard
            context.directory.account(provider: assertion.provider, rawID: assertion.rawID) == nil
        else { throw .code(.federatedUserIDAlreadyLinked) }
        var account = old
        if let email = assertion.email {
            if let other = context.directory.account(email: email), other.uid != old.uid {
                throw .code(.emailExists)
            }
            if old.email == nil {
                account.email = email
                account.isEmailVerified = assertion.isEmailVerified
            } else if old.email == email, assertion.isEmailVerified {
                account.isEmailVerified = true
            }
        }
        return try signedIn(old, account, assertion, context)
    }

    private static func signIn(
        _ assertion: ProviderAssertion,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        let directory = context.directory
        let known = directory.account(provider: assertion.provider, rawID: assertion.rawID)
        if let known { return try signedIn(known, known, assertion, context) }
        if let old = assertion.email.flatMap({ directory.account(email: $0) }) {
            guard assertion.isEmailVerified else {
                var told = assertion.members
                told.add("needConfirmation", .boolean(true))
                told.add("localId", old.uid)
                told.add("verifiedProvider", .list(old.federated.map { .string($0.provider) }))
                return IdentityAnswer(told)
            }
            var account = old
            if !old.isEmailVerified {
                // Whoever made this account has never proved to read the address; what they sign in with goes.
                account.password = nil
                account.passwordUpdatedAt = nil
                account.phoneNumber = nil
                account.federated = []
                account.revoke(at: context.now)
            }
            account.displayName = assertion.displayName
            account.photoURL = assertion.photoURL
            account.isEmailVerified = true
            return try signedIn(old, account, assertion, context)
        }
        guard context.policy.isSignUpOpen else { throw .code(.adminOnlyOperation) }
        var account = Account(uid: context.newUID(), createdAt: context.now)
        account.displayName = assertion.displayName
        account.photoURL = assertion.photoURL
        account.email = assertion.email
        account.isEmailVerified = assertion.email != nil && assertion.isEmailVerified
        return try signedIn(nil, account, assertion, context)
    }

    private static func signedIn(
        _ old: Account?,
        _ new: Account,
        _ assertion: ProviderAssertion,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        guard !new.isDisabled else { throw .code(.userDisabled) }
        var new = new
        new.federated.removeAll { $0.provider == assertion.provider }
        guard new.federated.count < ProfileLimits.federatedCount else {
            throw .code(.invalidIDPResponse, "The account has too many providers.")
        }
        new.federated.append(assertion.identity)
        let (account, grant) = signedIn(new, provider: assertion.provider, context)
        var body = assertion.members
        body.add("localId", account.uid)
        if old == nil { body.add("isNewUser", .boolean(true)) }
        var answer = IdentityAnswer(body)
        answer.replace(old, by: account, in: context.directory)
        answer.grant = grant
        if let old, account.validSince != old.validSince {
            answer.events.append(.revoked(uid: account.uid, issuedBefore: account.validSince))
        }
        answer.events.append(.signedIn(uid: account.uid))
        return answer
    }
}

/// What another provider is said to have said of a user.
private struct ProviderAssertion {
    let provider: String
    let rawID: String
    let email: String?
    let isEmailVerified: Bool
    let displayName: String?
    let photoURL: String?
    private let claims: Node
    /// The text of the claims.
    private let text: [UInt8]
    private let idToken: String?
    private let accessToken: String?

    /// Reads `postBody`, a form, or what follows `?` in `requestUri`.
    init(_ fields: RequestFields) throws(IdentityError) {
        let uri = try fields.text("requestUri") ?? ""
        let query = uri.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let form = try fields.givenText("postBody") ?? String(query)
        let said = try RequestFields(form: Array(form.utf8))
        guard let provider = try said.givenText("providerId")?.lowercased(),
            !["password", "phone", "anonymous", "custom"].contains(provider),
            provider.utf8.count <= ProfileLimits.federatedByteCount
        else { throw .code(.invalidCredentialOrProviderID, "Invalid IdP response/credential") }
        self.provider = provider
        idToken = try said.givenText("idToken")
        accessToken = try said.givenText("accessToken")
        guard let token = idToken ?? accessToken else {
            throw .notImplemented("Sign-in with \(provider) without 'id_token'")
        }
        text = Self.claimsText(of: token)
        guard JSONMembers(reading: text) != nil else {
            throw .code(.invalidIDPResponse, "Unable to parse id_token")
        }
        do throws(JSONError) { claims = try Node.readingAnyJSON(text) } catch {
            throw .code(.invalidIDPResponse, "Unable to parse id_token")
        }
        guard let subject = claims.member("sub").string,
            (1...ProfileLimits.federatedByteCount).contains(subject.utf8.count)
        else {
            throw .code(.invalidIDPResponse, "The claim 'sub' must be a text, and not be empty.")
        }
        rawID = subject
        let claimed = RequestFields(claims)
        email = try claimed.givenText("email").flatMap { EmailAddress.normalized($0) }
        isEmailVerified = try claimed.flag("email_verified") ?? false
        displayName = try claimed.profileText("name", upTo: ProfileLimits.displayNameLength)
        photoURL = try claimed.profileText("picture", upTo: ProfileLimits.photoURLLength)
    }

    private static func claimsText(of token: String) -> [UInt8] {
        if token.hasPrefix("{") { return Array(token.utf8) }
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 3 ? Base64URL.decode(parts[1]) ?? [] : []
    }

    var identity: Account.FederatedIdentity {
        var identity = Account.FederatedIdentity(provider: provider, rawID: rawID)
        identity.email = email
        identity.displayName = displayName
        identity.photoURL = photoURL
        identity.screenName = claims.member("screen_name").string
        return identity
    }

    /// The members of every answer.
    var members: JSONMembers {
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#VerifyAssertionResponse")
        body.add("providerId", provider)
        body.add(
            "federatedId",
            provider == "google.com" ? "https://accounts.google.com/\(rawID)" : rawID
        )
        body.add("email", email)
        body.add("emailVerified", .boolean(isEmailVerified))
        body.add("displayName", displayName)
        body.add("fullName", displayName)
        body.add("firstName", claims.member("given_name").string)
        body.add("lastName", claims.member("family_name").string)
        body.add("screenName", claims.member("screen_name").string)
        body.add("photoUrl", photoURL)
        // SDKs make the credential that they give back of these.
        body.add("oauthAccessToken", accessToken ?? "HearthHasNoAccessTokenOf_\(provider)")
        body.add("oauthIdToken", idToken)
        body.add("rawUserInfo", String(decoding: text, as: UTF8.self))
        return body
    }
}
