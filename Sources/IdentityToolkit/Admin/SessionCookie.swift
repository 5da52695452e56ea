import Accounts
import Tokens

extension IdentityToolkit {
    /// Seconds that a session cookie may count: 5 minutes to 14 days. Source: Identity Toolkit API,
    /// `projects.createSessionCookie`.
    static let cookieLifetimes: ClosedRange<Int64> = 300...1_209_600

    /// `projects/P:createSessionCookie`: the claims of an ID token under another issuer, for longer.
    static func createSessionCookie(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let fields = request.fields
        // 0 is what a client sends that does not say.
        let asked = try fields.integer("validDuration") ?? 0
        let lifetime = asked == 0 ? cookieLifetimes.upperBound : asked
        guard cookieLifetimes.contains(lifetime) else { throw .code(.invalidDuration) }
        let token = try fields.text("idToken") ?? ""
        return try identify(fields, context) { account, _, context throws(IdentityError) in
            guard var claims = claims(of: token) else { throw .code(.invalidIDToken) }
            let issuedAt = max(context.seconds, account.validSince)
            claims.put("iss", .string(context.policy.sessionIssuer))
            claims.put("iat", .integer(issuedAt))
            claims.put("exp", .integer(issuedAt + lifetime))
            var answer = IdentityAnswer()
            answer.grant = TokenGrant(claims: claims.value, refresh: nil, form: .sessionCookie)
            return .answer(answer)
        }
    }

    /// The claims of a token that was checked, each as it was written: empty lists and nulls of theirs too.
    private static func claims(of token: String) -> JSONMembers? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let text = Base64URL.decode(parts[1].utf8) else { return nil }
        return JSONMembers(reading: text)
    }
}

extension IdentityPolicy {
    /// `iss` of session cookies, which differs from that of ID tokens, so that neither is taken for the other.
    /// Source: Firebase Admin SDK, "Manage session cookies".
    var sessionIssuer: String { "https://session.firebase.google.com/\(audience)" }
}
