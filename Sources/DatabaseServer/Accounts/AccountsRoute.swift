/// The accounts' own addresses, beside those that SDKs know.
///
///     GET  /.well-known/jwks.json                  the keys that check ID tokens, for anybody
///     POST /token                                  an access token for a service account (RFC 7523)
///     GET, POST /.accounts/service-accounts.json   list them, make one: for admins, as are the next
///     DELETE /.accounts/service-accounts/NAME.json revoke one
///     GET, POST /.accounts/keys.json               the keys that sign ID tokens; begin the next one
///     GET  /.accounts/realm.json                   project, issuer, audience, ways to sign in
enum AccountsRoute: Equatable {
    case publicKeys
    case accessToken
    case serviceAccounts
    case serviceAccount(name: String)
    case keys
    case realm

    /// Reads what follows `.accounts`.
    init?(_ segments: ArraySlice<String>) {
        switch Array(segments) {
        case ["service-accounts.json"]: self = .serviceAccounts
        case ["keys.json"]: self = .keys
        case ["realm.json"]: self = .realm
        case let rest
        where rest.count == 2 && rest[0] == "service-accounts" && rest[1].hasSuffix(".json"):
            self = .serviceAccount(name: String(rest[1].dropLast(".json".count)))
        default: return nil
        }
    }

    /// Bytes of a body: an assertion in a form is the largest, and has at most `TokenLimits.tokenByteCount`.
    static let bodyByteLimit = 64 * 1024

    var isForAdmins: Bool { self != .publicKeys && self != .accessToken }

    var verbs: [String] {
        switch self {
        case .publicKeys, .realm: ["GET", "HEAD"]
        case .accessToken: ["POST"]
        case .serviceAccounts, .keys: ["GET", "POST"]
        case .serviceAccount: ["DELETE"]
        }
    }
}
