import Accounts
import DatabaseCore
import JSONTree
import SecurityRules
import Tokens

extension CredentialOutcome {
    /// What a token is worth, its signature having been checked, as accounts are at this moment.
    ///
    /// `accounts` are those of this moment, durable or not: an account that is shut out stays so after a crash, unless
    /// its removal was never answered. `issuer` is the `iss` of this realm.
    init(
        _ result: Result<VerifiedToken, TokenError>,
        _ accounts: AccountDirectory,
        issuer: String
    ) {
        switch result {
        case .failure(let error):
            self = .refused(error.isExpiry ? .expired(error.wireText) : .invalid(error.wireText))
        case .success(let token):
            do throws(CredentialRefusal) {
                let holder = try accounts.holder(of: token, issuer: issuer)
                let term = CredentialTerm(expiry: token.expiry, holder: holder)
                self = token.isAdmin ? .admin(term) : .user(AuthVariable(token.auth), term)
            } catch {
                self = .refused(error)
            }
        }
    }
}

extension AccountDirectory {
    /// The holder of a token; nil for one without an account here.
    ///
    /// Tokens of this server's keys have an account, of a user or of a service account, and count as long as that
    /// says so. Of unsigned ones, which development takes, those that the accounts service may have given out do: they
    /// name this realm's issuer and a time of signing in. Tests make up others, for people without accounts. Tokens of
    /// other issuers, and those made with a secret, have no account here.
    ///
    /// - Throws: the refusal, when the account is gone or disabled, or has called the token back.
    fileprivate func holder(
        of token: VerifiedToken,
        issuer: String
    ) throws(CredentialRefusal) -> CredentialHolder? {
        switch token.source {
        case .outside, .databaseSecret: return nil
        case .unsigned:
            let isOurs = token.claims.member("iss").string == issuer && (token.signedInAt ?? 0) > 0
            return isOurs ? try user(token) : nil
        case .own:
            guard let email = token.serviceAccount else { return try user(token) }
            return try serviceAccount(email, token)
        case .serviceAccount:
            guard token.isAdmin, let email = token.serviceAccount else {
                // Assertions and custom tokens are for the accounts service, never for data.
                throw .invalid(TokenError.wrongAudience.wireText)
            }
            return try selfSigning(email, token)
        }
    }

    /// Whether what goes on for this term may still do so, as accounts are now. A session of the console is none of an
    /// account's own: `IdentityService.stillCounts` looks at it.
    func stillCounts(_ term: CredentialTerm) -> Bool {
        guard let holder = term.holder else { return true }
        switch holder.name {
        case .user(let uid): return tokenStart(uid).map { holder.issuedAt >= $0 } ?? false
        case .serviceAccount(let email):
            let account = serviceAccount(email: email)
            return account?.counts(issuedAt: holder.issuedAt, keyID: nil) ?? false
        case .console: return true
        }
    }

    private func user(_ token: VerifiedToken) throws(CredentialRefusal) -> CredentialHolder {
        guard let uid = token.subject, let issuedAt = token.issuedAt, let start = tokenStart(uid),
            issuedAt >= start
        else { throw .revoked }
        return CredentialHolder(.user(uid), issuedAt: issuedAt)
    }

    private func serviceAccount(
        _ email: String,
        _ token: VerifiedToken
    ) throws(CredentialRefusal) -> CredentialHolder {
        guard let issuedAt = token.issuedAt, let account = serviceAccount(email: email),
            account.counts(issuedAt: issuedAt, keyID: token.serviceAccountKeyID)
        else { throw .revoked }
        return CredentialHolder(.serviceAccount(email), issuedAt: issuedAt)
    }

    /// The holder of an access token that a service account has signed itself.
    ///
    /// Its key counts or it does not, whenever it signed: clocks of programs differ. What begins with it is as old as the
    /// last time that a key of the account was revoked, so that the next time ends it.
    private func selfSigning(
        _ email: String,
        _ token: VerifiedToken
    ) throws(CredentialRefusal) -> CredentialHolder {
        guard let account = serviceAccount(email: email), !account.isDisabled,
            let keyID = token.serviceAccountKeyID, account.key(keyID) != nil
        else { throw .revoked }
        return CredentialHolder(.serviceAccount(email), issuedAt: account.validSince)
    }
}
