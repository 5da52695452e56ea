import Accounts
import Tokens

extension IdentityRequest {
    /// `token`: a new ID token for a refresh token.
    ///
    /// Source: Identity Platform, "Exchange a refresh token for an ID token".
    func refresh(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        let type = try fields.required("grantType", .missingGrantType)
        guard type == "refresh_token" else { throw .code(.invalidGrantType) }
        let token = try fields.required("refreshToken", .missingRefreshToken)
        guard let ticket = context.openTicket(token) else { throw .code(.invalidRefreshToken) }
        guard let old = context.directory.account(ticket.uid) else { throw .code(.userNotFound) }
        // First: disabling revokes the tokens as well.
        guard !old.isDisabled else { throw .code(.userDisabled) }
        guard ticket.signedInAt >= old.validSince else { throw .code(.tokenExpired) }
        var account = old
        account.lastRefreshAt = context.now
        var answer = IdentityAnswer()
        answer.replace(old, by: account, in: context.directory)
        let issuedAt = max(context.seconds, account.validSince)
        answer.grant = TokenGrant(
            claims: TokenGrant.idToken(account, ticket, issuedAt: issuedAt, context),
            refresh: ticket,
            form: .refresh(uid: account.uid)
        )
        return .answer(answer)
    }
}
