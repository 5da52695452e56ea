/// Access tokens that a service account signs itself, instead of asking for one.
///
///     header  {"alg":"RS256","typ":"JWT","kid":KEY OF THE ACCOUNT}
///     claims  {"iss":ADDRESS,"sub":ADDRESS,"iat":N,"exp":N + 3600,"scope":"... https://www.googleapis.com/auth/firebase ..."}
///
/// Google's libraries send these when the key file names a universe that is not Google's. They have scopes and no audience;
/// programs of one's own name `AccessToken.audience`. The key is known to one server alone, so that the token says nothing
/// to any other. Assertions and custom tokens have other audiences, and are not access tokens.
///
/// Source: Google, AIP-4111, "Self-signed JWT"; google-auth for Python 2.19 and later, `service_account`.
package enum SelfSignedAccess {
    /// The universe that key files name: no address below it can exist (RFC 6761, section 6.4).
    package static let universe = "hearth.invalid"

    /// Scopes of which one must be named; the first is that of all the Admin SDKs.
    ///
    /// Source: Firebase, "Authenticate REST requests"; firebase-admin for Python, `credentials.py`;
    /// google-cloud-storage for Python, `client.py`.
    package static let scopes: Set<String> = [
        "https://www.googleapis.com/auth/firebase",
        "https://www.googleapis.com/auth/firebase.database",
        "https://www.googleapis.com/auth/cloud-platform",
        "https://www.googleapis.com/auth/devstorage.full_control",
    ]

    /// Whether a token with these claims is meant for the administration of this server.
    static func isMeant(_ audiences: [String], scope: String?) -> Bool {
        if audiences == [AccessToken.audience] { return true }
        guard audiences.isEmpty, let scope else { return false }
        return scope.split(separator: " ").contains { scopes.contains(String($0)) }
    }
}
