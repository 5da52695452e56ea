package import JSONTree
package import SecurityRules

/// On whose behalf requests are judged.
package enum Identity: Sendable, Equatable {
    /// Rules do not apply.
    case admin
    /// Rules see this as `auth`; nil is signed out.
    case user(AuthVariable?)

    package static let nobody = Identity.user(nil)

    /// What rules see as `auth`; nil for nobody.
    package var auth: AuthVariable? {
        switch self {
        case .admin: nil
        case .user(let auth): auth
        }
    }

    package var isAdmin: Bool { self == .admin }
}

/// What the shell found out about a credential.
package enum CredentialOutcome: Sendable {
    case admin
    /// `expiry` is the moment from which the credential no longer counts; nil for never.
    case user(AuthVariable, expiry: Timestamp?)
    case refused(CredentialRefusal)
}

/// Why a credential does not count, with the sentence that the client is told.
package enum CredentialRefusal: Error, Sendable, Equatable {
    case invalid(String)
    case expired(String)
}
