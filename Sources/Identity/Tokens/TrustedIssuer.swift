/// An issuer whose signature is trusted, and for which tokens.
///
/// The one issuer that has the key named by a token verifies it: a key is never valid for the `iss` or `aud` of another
/// issuer.
package struct TrustedIssuer: Sendable {
    /// What tokens of an issuer may do.
    package enum Kind: Sendable, Equatable {
        /// This server: ID tokens, and access tokens of service accounts. Header `typ` separates them, which only the
        /// server writes.
        case own
        /// Another issuer: ID tokens only.
        case outside
        /// The service accounts of this server: the access tokens that they sign themselves (`SelfSignedAccess`).
        case serviceAccounts
    }

    package let kind: Kind
    package let keys: KeySet
    /// The one valid `iss`; nil accepts any.
    package let issuer: String?
    /// The one valid `aud` of ID tokens; nil accepts any but those that are never for a database.
    package let audience: String?

    package init(_ kind: Kind, keys: KeySet, issuer: String?, audience: String?) {
        self.kind = kind
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
    }
}
