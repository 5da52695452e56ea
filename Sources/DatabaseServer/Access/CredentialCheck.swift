/// Decides what a credential is, before any slow check: of `Authorization: Bearer`, `auth=`, `access_token=`, `auth`
/// or `gauth`; each form is taken everywhere.
package struct CredentialCheck: Sendable {
    private let adminSecret: AdminSecret?
    private let acceptsOwner: Bool

    /// What emulator clients send to be the administrator.
    package static let ownerLiteral = "owner"

    /// - Parameters:
    ///   - adminSecret: Nil where there is none: in memory, in development mode.
    ///   - mode: Development mode also takes the literal `owner`.
    package init(adminSecret: AdminSecret?, mode: Configuration.Mode) {
        self.adminSecret = adminSecret
        self.acceptsOwner = mode == .development
    }

    /// What is to be done about a credential.
    package enum Verdict: Equatable, Sendable {
        /// No credential: rules see nobody.
        case anonymous
        /// The administrator: rules do not apply.
        case admin
        /// It has the form of a token, which a worker has to check.
        case verify(token: String)
        /// It is neither a secret of ours nor a token.
        case refused
    }

    /// Judges one credential; nil when none was sent. An empty one was sent and is refused.
    package func judge(_ credential: String?) -> Verdict {
        guard let credential else { return .anonymous }
        if adminSecret?.matches(credential) == true { return .admin }
        if credential == Self.ownerLiteral { return acceptsOwner ? .admin : .refused }
        let dotCount = credential.utf8.count { $0 == UInt8(ascii: ".") }
        return dotCount == 2 ? .verify(token: credential) : .refused
    }
}
