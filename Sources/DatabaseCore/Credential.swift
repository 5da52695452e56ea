package import JSONTree
package import SecurityRules

/// What the shell found out about a credential.
package enum CredentialOutcome: Sendable {
    case admin(CredentialTerm = .unlimited)
    case user(AuthVariable, CredentialTerm = .unlimited)
    case refused(CredentialRefusal)
}

/// How long what a credential allows may go on.
package struct CredentialTerm: Sendable, Equatable {
    /// The moment from which it no longer counts; nil for never.
    package let expiry: Timestamp?
    /// Whose it is; nil for nobody that this server knows.
    package let holder: CredentialHolder?

    package static let unlimited = CredentialTerm()

    package init(expiry: Timestamp? = nil, holder: CredentialHolder? = nil) {
        self.expiry = expiry
        self.holder = holder
    }

    /// Whether it has run out.
    package func isOver(at now: Timestamp) -> Bool { expiry.map { $0 <= now } ?? false }
}

/// Whose credential it is, for when it no longer counts before its time.
package struct CredentialHolder: Sendable, Hashable {
    package let name: Name
    /// When it was issued, seconds since 1970.
    package let issuedAt: Int64

    /// Users and service accounts have names of their own: neither can be taken for the other.
    package enum Name: Sendable, Hashable {
        /// By uid.
        case user(String)
        /// By e-mail address.
        case serviceAccount(String)
    }

    package init(_ name: Name, issuedAt: Int64) {
        self.name = name
        self.issuedAt = issuedAt
    }
}

/// Why a credential does not count, with the sentence that the client is told.
package enum CredentialRefusal: Error, Sendable, Equatable {
    case invalid(String)
    case expired(String)

    /// It has run out.
    package static let overdue = CredentialRefusal.expired("Auth token is expired")
    /// Its holder is gone or disabled, or has called back what was issued to them.
    package static let revoked = CredentialRefusal.invalid("The credential no longer counts.")

    package var text: String {
        switch self {
        case .invalid(let text), .expired(let text): text
        }
    }
}

/// On whose behalf a request is done, and for how long what waits of it may go on.
struct Standing {
    let identity: Identity
    /// Whether an administrator asks, whoever the rules are to take them for.
    let isAdmin: Bool
    let term: CredentialTerm

    static let nobody = Standing(identity: .nobody, isAdmin: false)

    init(identity: Identity, isAdmin: Bool, term: CredentialTerm = .unlimited) {
        self.identity = identity
        self.isAdmin = isAdmin
        self.term = term
    }
}
