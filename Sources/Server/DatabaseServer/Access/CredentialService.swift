import DatabaseCore
import Tokens

/// Decides what a credential is worth: at once where a comparison is enough, by the worker where a
/// signature must be checked.
struct CredentialService: Sendable {
    /// The administrator's secret; replaced when the group has another one.
    var check: CredentialCheck
    /// The tokens of others; replaced when the key file changes.
    var outside: OutsideTokens { didSet { renew() } }
    /// This server's own keys, with their `iss` and `aud`; replaced when a key comes or goes.
    var own: TrustedIssuer { didSet { renew() } }
    /// The keys of the service accounts, by their names; replaced when one comes or goes.
    var serviceAccountKeys = KeySet.empty { didSet { renew() } }
    /// The keys and policy in force.
    private(set) var verifier: TokenVerifier

    enum Outcome {
        case decided(CredentialOutcome)
        case mustVerify(TokenVerifier)
    }

    init(check: CredentialCheck, own: TrustedIssuer, outside: OutsideTokens) {
        self.check = check
        self.own = own
        self.outside = outside
        verifier = TokenVerifier(issuers: [own, outside.issuer], policy: outside.policy)
    }

    private mutating func renew() {
        let accounts = TrustedIssuer(
            .serviceAccounts,
            keys: serviceAccountKeys,
            issuer: nil,
            audience: nil
        )
        verifier = TokenVerifier(issuers: [own, outside.issuer, accounts], policy: outside.policy)
    }

    func check(_ token: String) -> Outcome {
        switch check.check(token) {
        case .admin: .decided(.admin())
        case .verify: .mustVerify(verifier)
        case .refused: .decided(.refused(.invalid("Could not parse auth token.")))
        }
    }
}
