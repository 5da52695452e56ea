import Accounts
import JSONTree
import Tokens

extension IdentityRequest {
    /// `accounts:signInWithCustomToken`: the user that a service account names; creates the account if it is missing.
    ///
    /// Sign-up may be closed: an administrator has made the token.
    func signInWithCustomToken(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        guard context.policy.methods.contains(.custom) else {
            throw .notAllowed("Sign-in by custom token is switched off.")
        }
        let token = try fields.required("token", .missingCustomToken)
        if context.policy.isDevelopment, token.hasPrefix("{") {
            return try signIn(claims: Array(token.utf8), context)
        }
        return .check(.custom(token)) { outcome, context in
            .attempt { () throws(IdentityError) in
                guard let text = UnverifiedClaims.text(of: token) else {
                    throw .code(.invalidCustomToken, "Invalid assertion format")
                }
                if case .failure(let error) = outcome { throw refusal(error, text) }
                return try signIn(claims: text, context)
            }
        }
    }

    private func refusal(_ error: TokenError, _ text: [UInt8]) -> IdentityError {
        switch error {
        case .badClaim("uid"): return .code(.missingIdentifier)
        case .badClaim("claims"):
            let length = JSONMembers(reading: text)?.rawText("claims")?.count ?? 0
            let isTooLarge = length > TokenLimits.customClaimsByteCount
            return .code(isTooLarge ? .claimsTooLarge : .invalidClaims)
        case .reservedClaim(let name): return .code(.forbiddenClaim, name)
        case .wrongAudience:
            return .code(.invalidCustomToken, "The audience is not that of a custom token.")
        case .wrongIssuer, .unknownKey, .badSignature:
            // In the words of SDKs: the token is of another project.
            return .code(.credentialMismatch)
        case .expired: return .code(.invalidCustomToken, "The token is expired.")
        case .notYetValid: return .code(.invalidCustomToken, "The token is not valid yet.")
        case .unsigned: return .code(.invalidCustomToken, "The token is not signed.")
        default: return .code(.invalidCustomToken, "Invalid assertion format")
        }
    }

    private func signIn(
        claims text: [UInt8],
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        guard let members = JSONMembers(reading: text) else {
            throw .code(.invalidCustomToken, "Invalid assertion format")
        }
        guard let uid = members.plainText("uid") ?? members.plainText("user_id"), !uid.isEmpty
        else { throw .code(.missingIdentifier) }
        guard UserID.isValid(uid) else {
            throw .code(.invalidCustomToken, "The 'uid' is no user ID.")
        }
        if let tenant = members.plainText("tenant_id"), !tenant.isEmpty {
            throw .code(.tenantIDMismatch)
        }
        let extra = try customClaims(members)
        let old = context.directory.account(uid)
        if let old, old.isDisabled { throw .code(.userDisabled) }
        var new = old ?? context.directory.newAccount(uid, now: context.now)
        new.isCustomAuth = true
        var body = JSONMembers(kind: "VerifyCustomTokenResponse")
        body.add("isNewUser", .boolean(old == nil))
        return .answer(
            IdentityAnswer(body)
                .signingIn(old, as: new, provider: "custom", claims: extra, context)
        )
    }

    /// The text of the custom token's `claims`; nil when it has none.
    private func customClaims(_ token: JSONMembers) throws(IdentityError) -> [UInt8]? {
        guard let text = token.rawText("claims") else { return nil }
        guard let claims = JSONMembers(reading: text) else { throw .code(.invalidClaims) }
        guard text.count <= TokenLimits.customClaimsByteCount else { throw .code(.claimsTooLarge) }
        for member in claims.all where ReservedClaims.names.contains(member.name) {
            throw .code(.forbiddenClaim, member.name)
        }
        return claims.all.isEmpty ? nil : text
    }
}

extension JSONMembers {
    /// A member that was read, as a text: numbers and booleans are spelled out; nil for other values.
    fileprivate func plainText(_ name: String) -> String? {
        guard let text = rawText(name) else { return nil }
        do throws(JSONError) {
            let node = try Node.readingAnyJSON(text)
            if let flag = node.boolean { return "\(flag)" }
            if node.number != nil { return String(decoding: text, as: UTF8.self) }
            return node.string
        } catch {
            return nil
        }
    }
}
