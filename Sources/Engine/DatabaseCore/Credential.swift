package import JSONTree
import WireProtocol
package import SecurityRules

/// What the shell found out about a credential.
package enum CredentialOutcome: Sendable {
    case admin(CredentialTerm = .unlimited)
    case user(AuthVariable, CredentialTerm = .unlimited)
    case refused(CredentialRefusal)
}

/// How long a credential is valid.
package struct CredentialTerm: Sendable, Equatable {
    /// The moment from which it is invalid; nil for never.
    package let expiry: Timestamp?
    /// Whose it is; nil for a holder that this server does not know.
    package let holder: CredentialHolder?
    /// Who an administrator is, for the log; nil for others, and where it is not logged.
    package let administrator: String?
    /// Whether it only lets its holder read, whatever the rules or an administrator's rights allow.
    package let isReadOnly: Bool

    package static let unlimited = CredentialTerm()

    package init(
        expiry: Timestamp? = nil,
        holder: CredentialHolder? = nil,
        administrator: String? = nil,
        isReadOnly: Bool = false,
    ) {
        self.expiry = expiry
        self.holder = holder
        self.administrator = administrator
        self.isReadOnly = isReadOnly
    }

    /// Whether it has expired.
    package func isOver(at now: Timestamp) -> Bool { expiry.map { $0 <= now } ?? false }
}

/// Whose credential it is, for revocations.
package struct CredentialHolder: Sendable, Hashable {
    package let name: Name
    /// When it was issued, seconds since 1970.
    package let issuedAt: Int64

    /// Users and service accounts have separate names.
    package enum Name: Sendable, Hashable {
        /// By uid.
        case user(String)
        /// By e-mail address.
        case serviceAccount(String)
        /// Who has signed in to the console, by the number of that session.
        case console(Int)
    }

    package init(_ name: Name, issuedAt: Int64) {
        self.name = name
        self.issuedAt = issuedAt
    }
}

/// Why a credential is invalid, with the sentence that the client receives.
package enum CredentialRefusal: Error, Sendable, Equatable {
    case invalid(String)
    case expired(String)

    /// It has expired.
    package static let overdue = CredentialRefusal.expired("Auth token is expired")
    /// Its holder is deleted or disabled, or has revoked the credentials issued before.
    package static let revoked = CredentialRefusal.invalid("The credential no longer counts.")

    package var text: String {
        switch self {
        case .invalid(let text), .expired(let text): text
        }
    }
}

/// On whose behalf a request is done, and for how long.
struct Principal {
    let identity: Identity
    /// Whether an administrator asks, also on behalf of another identity.
    let isAdmin: Bool
    let term: CredentialTerm

    static let nobody = Principal(identity: .nobody, isAdmin: false, term: .unlimited)
}

extension Principal {
    /// By a credential that was checked; `override` counts for an administrator.
    init(_ outcome: CredentialOutcome, _ override: AuthOverride?) throws(CredentialRefusal) {
        switch outcome {
        case .admin(let term): self = .admin(override, term)
        case .user(let auth, let term):
            self.init(identity: .user(auth), isAdmin: false, term: term)
        case .refused(let refusal): throw refusal
        }
    }

    /// An administrator, on behalf of another identity with an override.
    static func admin(_ override: AuthOverride?, _ term: CredentialTerm = .unlimited) -> Principal {
        let identity: Identity =
            switch override {
            case nil: .admin
            case .nobody: .nobody
            case .value(let value): .user(AuthVariable(value))
            }
        return Principal(identity: identity, isAdmin: true, term: term)
    }
}
