package import Accounts

extension IdentityToolkit {
    /// What becomes of `account` when somebody has proved to be its user, and the tokens they are given.
    ///
    /// Every sign-in goes through here. The caller puts the account into its answer, with `.signedIn(uid:)` as event.
    /// `claims` are those of a custom token, the JSON text of an object.
    package static func signedIn(
        _ account: Account,
        provider: String,
        claims: [UInt8]? = nil,
        _ context: IdentityContext
    ) -> (account: Account, grant: TokenGrant) {
        var account = account
        account.lastLoginAt = context.now
        account.lastRefreshAt = context.now
        return (account, .signIn(account, provider: provider, claims: claims, context))
    }
}
