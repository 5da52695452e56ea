import Accounts
import JSONTree
import Tokens

extension IdentityRequest {
    /// `accounts:signInWithIdp`: in development, with the claims that another provider would have made about the user.
    ///
    /// No provider is asked and nothing is checked: the token may be the bare JSON of its claims. Production does not
    /// serve it. Source: Firebase Authentication, "Connect your app to the Authentication Emulator".
    func signInWithIdp(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        guard context.policy.isDevelopment else {
            throw .notAllowed("Sign-in with other providers is not served.")
        }
        for name in ["returnRefreshToken", "pendingIdToken"] where fields.has(name) {
            throw .notImplemented("'\(name)'")
        }
        let assertion = try ProviderAssertion(fields)
        // A client that wants the credential back gets the error beside it.
        let returnsCredential = try fields.flag("returnIdpCredential") == true
        guard try fields.givenText("idToken") != nil else {
            return try answer(assertion, returnsCredential) { () throws(IdentityError) in
                try signIn(assertion, context)
            }
        }
        return try context.identify(fields) { account, _, context throws(IdentityError) in
            try answer(assertion, returnsCredential) { () throws(IdentityError) in
                try link(assertion, to: account, context)
            }
        }
    }

    private func answer(
        _ assertion: ProviderAssertion,
        _ returnsCredential: Bool,
        _ body: () throws(IdentityError) -> IdentityAnswer
    ) throws(IdentityError) -> IdentityStep {
        do throws(IdentityError) {
            return .answer(try body())
        } catch {
            guard returnsCredential else { throw error }
            var members = assertion.members
            members.add("errorMessage", error.message)
            return .answer(IdentityAnswer(members))
        }
    }

    private func link(
        _ assertion: ProviderAssertion,
        to old: Account,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        guard
            context.directory.account(provider: assertion.provider, rawID: assertion.rawID) == nil
        else { throw .code(.federatedUserIDAlreadyLinked) }
        var account = old
        if let email = assertion.email {
            try context.requireFree(email, for: old.uid)
            if old.email == nil {
                account.email = email
                account.isEmailVerified = assertion.isEmailVerified
            } else if old.email == email, assertion.isEmailVerified {
                account.isEmailVerified = true
            }
        }
        return try signedIn(old, account, assertion, context)
    }

    private func signIn(
        _ assertion: ProviderAssertion,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        let directory = context.directory
        let known = directory.account(provider: assertion.provider, rawID: assertion.rawID)
        if let known { return try signedIn(known, known, assertion, context) }
        if let old = assertion.email.flatMap({ directory.account(email: $0) }) {
            guard assertion.isEmailVerified else {
                var members = assertion.members
                members.add("needConfirmation", .boolean(true))
                members.add("localId", old.uid)
                members.add("verifiedProvider", .list(old.federated.map { .string($0.provider) }))
                return IdentityAnswer(members)
            }
            var account = old
            if !old.isEmailVerified { account.shutOutMaker(at: context.now) }
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

    private func signedIn(
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
        var body = assertion.members
        body.add("localId", new.uid)
        if old == nil { body.add("isNewUser", .boolean(true)) }
        var answer = IdentityAnswer(body)
        if let old, new.validSince != old.validSince {
            answer.events.append(.revoked(uid: new.uid, issuedBefore: new.validSince))
        }
        return answer.signingIn(old, as: new, provider: assertion.provider, context)
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
        text = token.hasPrefix("{") ? Array(token.utf8) : UnverifiedClaims.text(of: token) ?? []
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
        let isGoogle = provider == "google.com"
        return JSONMembers(
            kind: "VerifyAssertionResponse",
            [
                "providerId": .string(provider),
                "federatedId": .string(isGoogle ? "https://accounts.google.com/\(rawID)" : rawID),
                "email": .text(email), "emailVerified": .boolean(isEmailVerified),
                "displayName": .text(displayName), "fullName": .text(displayName),
                "firstName": .text(claims.member("given_name").string),
                "lastName": .text(claims.member("family_name").string),
                "screenName": .text(claims.member("screen_name").string),
                "photoUrl": .text(photoURL),
                // SDKs make the returned credential of these.
                "oauthAccessToken": .text(accessToken ?? "HearthHasNoAccessTokenOf_\(provider)"),
                "oauthIdToken": .text(idToken),
                "rawUserInfo": .string(String(decoding: text, as: UTF8.self)),
            ]
        )
    }
}
