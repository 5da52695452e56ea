package import Accounts
import JSONTree
package import Tokens

extension IdentityToolkit {
    /// Finds whose ID token a request brings (`idToken`), and goes on with the account as it is once the token is
    /// checked.
    ///
    /// - Throws: `MISSING_ID_TOKEN`; the step refuses with `INVALID_ID_TOKEN`, `TOKEN_EXPIRED` for one that is old or
    ///   revoked, `USER_NOT_FOUND` and `USER_DISABLED`.
    package static func identify(
        _ fields: RequestFields,
        _ context: IdentityContext,
        then:
            @escaping (Account, VerifiedToken, IdentityContext) throws(IdentityError) ->
            IdentityStep
    ) throws(IdentityError) -> IdentityStep {
        guard let token = try fields.givenText("idToken") else { throw .code(.missingIDToken) }
        return .check(.identity(token)) { outcome, context in
            .attempt { () throws(IdentityError) in
                let token: VerifiedToken
                switch outcome {
                case .success(let verified): token = verified
                case .failure(.expired): throw .code(.tokenExpired)
                case .failure: throw .code(.invalidIDToken)
                }
                return try then(try holder(of: token, context), token, context)
            }
        }
    }

    /// The account that a checked ID token stands for now: it is asked again after every step.
    ///
    /// - Throws: `INVALID_ID_TOKEN`, `USER_NOT_FOUND`, `USER_DISABLED`, `TOKEN_EXPIRED` for a revoked one.
    package static func holder(
        of token: VerifiedToken,
        _ context: IdentityContext
    ) throws(IdentityError) -> Account {
        guard !token.isAdmin, let uid = token.subject else { throw .code(.invalidIDToken) }
        guard let account = context.directory.account(uid) else { throw .code(.userNotFound) }
        guard let issuedAt = token.claims.member("iat").integer else {
            throw .code(.invalidIDToken)
        }
        // First: disabling revokes the tokens as well.
        guard !account.isDisabled else { throw .code(.userDisabled) }
        guard issuedAt >= account.validSince else { throw .code(.tokenExpired) }
        return account
    }

    /// Seconds since the sign-in within which a user may change or remove what they sign in with, or the account.
    ///
    /// Source: Firebase Authentication, "Re-authenticate a user": "not recently enough"; 5 minutes as it is observed.
    package static let recentSignInSeconds: Int64 = 300

    /// Refuses what takes an account over when the sign-in is not recent: a token that somebody has got hold of is
    /// not enough for it. Development does not mind, like the official emulator.
    static func requireRecentSignIn(
        _ token: VerifiedToken,
        _ context: IdentityContext
    ) throws(IdentityError) {
        if context.policy.isDevelopment { return }
        let signedInAt = token.claims.member("auth_time").integer ?? 0
        guard context.seconds - signedInAt <= recentSignInSeconds else {
            throw .code(.credentialTooOld)
        }
    }

    /// The same for an account that can be signed in to already; one that cannot has nothing to be taken over.
    static func requireRecentSignIn(
        _ token: VerifiedToken,
        toChange account: Account,
        _ context: IdentityContext
    ) throws(IdentityError) {
        if account.isAnonymous { return }
        try requireRecentSignIn(token, context)
    }
}
