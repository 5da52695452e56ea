package import JSONTree

/// What a token that passed every check says.
package struct VerifiedToken: Sendable, Equatable {
    /// All claims, with members of any name.
    package let claims: Node
    /// Who it is about: `sub`; of a database-secret token the `uid` of its data, of a custom token its `uid`.
    package let subject: String?
    /// How the subject signed in: `password`, `anonymous`, `custom`, `google.com`, ...
    package internal(set) var provider: String?
    /// When it expires; nil for an unsigned token, whose times are not checked.
    package internal(set) var expiry: Timestamp?
    /// The value of the rules variable `auth`: `{uid, provider, token}`; the data of a database-secret token.
    ///
    /// Absent means an empty object (a database-secret token with `"d":{}`): signed in all the same.
    package internal(set) var auth = Node.absent
    /// Whether rules do not apply: a database-secret token with `"admin":true`, or a service account's access token, of
    /// any signer.
    package internal(set) var isAdmin = false
    /// Whose word it is.
    package let source: Source
    /// `iat`, seconds since 1970; nil where an unsigned token has none.
    package internal(set) var issuedAt: Int64?
    /// `auth_time`, seconds since 1970.
    package internal(set) var signedInAt: Int64?
    /// The address of the service account that signed it, or that its access token was given to; nil for people.
    package internal(set) var serviceAccount: String?
    /// The name of the service account's key that it was signed with, or that got the access token.
    package internal(set) var serviceAccountKeyID: String?

    /// Whose word a token is.
    package enum Source: Sendable, Equatable {
        /// Signed by a key of this server.
        case own
        /// Signed by a key of the configured JWKS, or with the configured `HS256` secret.
        case outside
        /// Unsigned.
        case unsigned
        /// Signed with the secret of a database, in its own form: `{"v":0,"d":{...}}`.
        case databaseSecret
        /// Signed by a service account itself: valid for data only with `isAdmin`, not as an assertion or a custom
        /// token.
        case serviceAccount
    }
}
