/// Decides what a credential is, before any slow check: of `Authorization: Bearer`, `auth=`, `access_token=`, `auth`
/// or `gauth`; each form is taken everywhere.
struct CredentialCheck: Sendable {
    var adminSecret: AdminSecret?
    private let acceptsOwner: Bool

    /// What emulator clients send to be the administrator.
    static let ownerLiteral = "owner"

    /// `adminSecret` is nil in memory, in development mode, which also takes the literal `owner`.
    init(adminSecret: AdminSecret?, mode: Configuration.Mode) {
        self.adminSecret = adminSecret
        self.acceptsOwner = mode == .development
    }

    /// What is to be done about a credential.
    enum Outcome: Equatable, Sendable {
        /// The administrator: rules do not apply.
        case admin
        /// It has the form of a token, which a worker has to check.
        case verify
        /// It is neither a secret of ours nor a token.
        case refused
    }

    /// Decides on a credential. An empty one is refused.
    func check(_ credential: String) -> Outcome {
        if adminSecret?.matches(credential) == true { return .admin }
        if credential == Self.ownerLiteral { return acceptsOwner ? .admin : .refused }
        let dotCount = credential.utf8.count { $0 == UInt8(ascii: ".") }
        return dotCount == 2 ? .verify : .refused
    }
}
