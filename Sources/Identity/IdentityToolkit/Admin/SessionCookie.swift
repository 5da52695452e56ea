import Accounts
import JSONTree
import Tokens

extension IdentityRequest {
    /// Seconds that a session cookie may count: 5 minutes to 14 days. Source: Identity Toolkit API,
    /// `projects.createSessionCookie`.
    static let cookieLifetimes: ClosedRange<Int64> = 300...1_209_600

    /// `projects/P:createSessionCookie`: the claims of an ID token under another issuer, for longer.
    func createSessionCookie(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        // 0 is what a client sends that does not say.
        let asked = try fields.integer("validDuration") ?? 0
        let lifetime = asked == 0 ? Self.cookieLifetimes.upperBound : asked
        guard Self.cookieLifetimes.contains(lifetime) else { throw .code(.invalidDuration) }
        let token = try fields.text("idToken") ?? ""
        return try context.identify(fields) { account, _, context throws(IdentityError) in
            // Each claim unchanged, with empty lists and nulls.
            guard var claims = UnverifiedClaims.text(of: token).flatMap(JSONMembers.init(reading:))
            else { throw .code(.invalidIDToken) }
            let issuedAt = max(context.seconds, account.validSince)
            claims.put("iss", .string(context.policy.sessionIssuer))
            claims.put("iat", .integer(issuedAt))
            claims.put("exp", .integer(issuedAt + lifetime))
            var answer = IdentityAnswer()
            answer.grant = TokenGrant(claims: claims.value, refresh: nil, form: .sessionCookie)
            return .answer(answer)
        }
    }
}

extension IdentityPolicy {
    /// `iss` of session cookies, which differs from that of ID tokens, so that neither is taken for the other.
    /// Source: Firebase Admin SDK, "Manage session cookies".
    var sessionIssuer: String { "https://session.firebase.google.com/\(audience)" }
}
