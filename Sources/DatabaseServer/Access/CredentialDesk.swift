import DatabaseCore
import JSONTree
import SecurityRules
import Tokens

/// Decides what a credential is worth: at once where a comparison is enough, by the worker where a
/// signature must be checked.
struct CredentialDesk: Sendable {
    private let check: CredentialCheck
    /// The keys and policy in force; replaced when the key file changes.
    var verifier: TokenVerifier

    enum Judgement {
        case decided(CredentialOutcome)
        case mustVerify(TokenVerifier)
    }

    init(check: CredentialCheck, verifier: TokenVerifier) {
        self.check = check
        self.verifier = verifier
    }

    func judge(_ token: String) -> Judgement {
        switch check.judge(token) {
        case .admin: .decided(.admin)
        case .verify: .mustVerify(verifier)
        case .anonymous, .refused: .decided(.refused(.invalid("Could not parse auth token.")))
        }
    }
}

extension CredentialOutcome {
    init(_ result: Result<VerifiedToken, TokenError>) {
        switch result {
        case .success(let token) where token.isAdmin: self = .admin
        case .success(let token): self = .user(AuthVariable(token.auth), expiry: token.expiry)
        case .failure(let error):
            self = .refused(error.isExpiry ? .expired(error.wireText) : .invalid(error.wireText))
        }
    }
}
