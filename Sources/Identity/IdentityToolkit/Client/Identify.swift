import Accounts
import JSONTree
import Tokens

extension IdentityContext {
    /// Finds the account of a request's ID token (`idToken`), and continues with its state once the token is checked.
    ///
    /// - Throws: `MISSING_ID_TOKEN`; the step refuses with `INVALID_ID_TOKEN`, `TOKEN_EXPIRED` for one that is old or
    ///   revoked, `USER_NOT_FOUND` and `USER_DISABLED`.
    func identify(
        _ fields: RequestFields,
        then:
            @escaping (Account, VerifiedToken, IdentityContext) throws(IdentityError) ->
            IdentityStep
    ) throws(IdentityError) -> IdentityStep {
        let token = try fields.required("idToken", .missingIDToken)
        return .check(.identity(token)) { outcome, context in
            .attempt { () throws(IdentityError) in
                let token: VerifiedToken
                switch outcome {
                case .success(let verified): token = verified
                case .failure(.expired): throw .code(.tokenExpired)
                case .failure: throw .code(.invalidIDToken)
                }
                return try then(try context.account(of: token), token, context)
            }
        }
    }

    /// The current account of a checked ID token: looked up again after every step.
    ///
    /// - Throws: `INVALID_ID_TOKEN`, `USER_NOT_FOUND`, `USER_DISABLED`, `TOKEN_EXPIRED` for a revoked one.
    func account(of token: VerifiedToken) throws(IdentityError) -> Account {
        guard !token.isAdmin, let uid = token.subject else { throw .code(.invalidIDToken) }
        guard let account = directory.account(uid) else { throw .code(.userNotFound) }
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
    private static let recentSignInSeconds: Int64 = 300

    /// Refuses changes that take over an account when the sign-in is not recent: a stolen token is not enough for them.
    /// Development allows them, like the official emulator.
    func requireRecentSignIn(_ token: VerifiedToken) throws(IdentityError) {
        if policy.isDevelopment { return }
        let signedInAt = token.claims.member("auth_time").integer ?? 0
        guard seconds - signedInAt <= Self.recentSignInSeconds else {
            throw .code(.credentialTooOld)
        }
    }

    /// The same for an account that can be signed in to already; one that cannot has nothing to be taken over.
    func requireRecentSignIn(
        _ token: VerifiedToken,
        toChange account: Account
    ) throws(IdentityError) {
        if account.isAnonymous { return }
        try requireRecentSignIn(token)
    }
}
