import Accounts
import JSONTree
import Tokens

extension IdentityToolkit {
    /// `accounts:signInWithCustomToken`: the user that a service account names, who need not have an account yet.
    ///
    /// Sign-up may be closed: an administrator has made the token.
    static func signInWithCustomToken(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        guard context.policy.methods.contains(.custom) else {
            throw .notAllowed("Sign-in by custom token is switched off.")
        }
        guard let token = try request.fields.givenText("token") else {
            throw .code(.missingCustomToken)
        }
        if context.policy.isDevelopment, token.hasPrefix("{") {
            return try signIn(claims: Array(token.utf8), context)
        }
        return .check(.custom(token)) { outcome, context in
            .attempt { () throws(IdentityError) in
                let text = try claimsText(of: token)
                if case .failure(let error) = outcome { throw refusal(error, text) }
                return try signIn(claims: text, context)
            }
        }
    }

    /// The text of the claims in a token that has been checked: `Node` has lost what is null or empty in them.
    private static func claimsText(of token: String) throws(IdentityError) -> [UInt8] {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let text = Base64URL.decode(parts[1]) else {
            throw .code(.invalidCustomToken, "Invalid assertion format")
        }
        return text
    }

    private static func refusal(_ error: TokenError, _ text: [UInt8]) -> IdentityError {
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

    private static func signIn(
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
        let (account, grant) = signedIn(new, provider: "custom", claims: extra, context)
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#VerifyCustomTokenResponse")
        body.add("isNewUser", .boolean(old == nil))
        var answer = IdentityAnswer(body)
        answer.replace(old, by: account, in: context.directory)
        answer.grant = grant
        answer.events = [.signedIn(uid: account.uid)]
        return .answer(answer)
    }

    /// The text of the custom token's `claims`; nil when it has none.
    private static func customClaims(_ token: JSONMembers) throws(IdentityError) -> [UInt8]? {
        guard let text = token.rawText("claims") else { return nil }
        guard let claims = JSONMembers(reading: text) else { throw .code(.invalidClaims) }
        guard text.count <= TokenLimits.customClaimsByteCount else { throw .code(.claimsTooLarge) }
        for member in claims.all where CustomClaims.reservedNames.contains(member.name) {
            throw .code(.forbiddenClaim, member.name)
        }
        return claims.all.isEmpty ? nil : text
    }
}

extension JSONMembers {
    /// A member that was read, as a text: numbers and truth values stand for their spelling; nil for what is none.
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
