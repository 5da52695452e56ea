package import SecurityRules

/// On whose behalf requests are decided.
package enum Identity: Sendable, Equatable {
    /// Rules do not apply.
    case admin
    /// Rules see this as `auth`; nil is signed out.
    case user(AuthVariable?)

    package static let nobody = Identity.user(nil)

    /// What rules see as `auth`; nil for a signed-out client.
    package var auth: AuthVariable? {
        switch self {
        case .admin: nil
        case .user(let auth): auth
        }
    }

    package var isAdmin: Bool { self == .admin }
}
