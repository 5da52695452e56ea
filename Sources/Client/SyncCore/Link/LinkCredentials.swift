import WireProtocol

/// The credential of a link, and the requests under way for it.
struct LinkCredentials {
    /// The credential to connect with; nil when signed out.
    private(set) var token: String?

    /// The credential sent on the present connection; nil if none was sent.
    var sent: String??

    /// The request that sent it; answers to earlier requests are out of date.
    var request: Int64 = 0

    /// Whether the next token must be another than the last.
    private var forcesRefresh = false

    /// Credentials refused one after the other.
    private var refusedCount = 0

    /// A fetch under way: at most one is.
    private var fetching: Fetch?

    private struct Fetch {
        let isForcing: Bool
        /// A newer credential is known already.
        var isOutOfDate = false
    }

    /// Starts a fetch, and gives whether it must force a refresh; nil when one is under way, whose
    /// answer is to be waited for whether it is of use or not.
    mutating func fetch() -> Bool? {
        if fetching != nil { return nil }
        fetching = Fetch(isForcing: forcesRefresh)
        return forcesRefresh
    }

    /// Takes in the answer to a fetch; false when it is of no use and there must be another.
    mutating func fetched(_ answer: TokenAnswer) -> Bool {
        guard let fetch = fetching else { return false }
        fetching = nil
        if fetch.isOutOfDate || (forcesRefresh && !fetch.isForcing) { return false }
        switch answer {
        case .token(let token): self.token = token
        case .noUser: token = nil
        case .unavailable: return true
        }
        forcesRefresh = false
        return true
    }

    /// A user signed in or out, or has a new token.
    mutating func changed(to token: String?) {
        self.token = token
        forcesRefresh = false
        fetching?.isOutOfDate = true
    }

    mutating func accepted() { refusedCount = 0 }

    /// The server refused it; true when it has done so too often to try again soon.
    mutating func refused(status: String) -> Bool {
        token = nil
        forcesRefresh = true
        guard status == "invalid_token" || status == "permission_denied" else { return false }
        refusedCount += 1
        return refusedCount >= SyncLimits.refusedCredentials
    }

    /// The request that sends a credential to the server. Signed tokens have three parts. Any other text is a secret,
    /// or an administrator's token in a test.
    static func action(_ token: String?) -> ClientRequest.Action {
        guard let token else { return .unauth }
        let dotCount = token.utf8.count { $0 == UInt8(ascii: ".") }
        let credential = Credential(token: token)
        return dotCount == 2 ? .auth(credential) : .gauth(credential)
    }
}
