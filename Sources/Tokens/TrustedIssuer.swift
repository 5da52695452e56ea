/// Somebody whose signature counts, and for what.
///
/// A token is judged by the one issuer that has the key it names: a key never vouches for the `iss` or `aud` of
/// another issuer.
package struct TrustedIssuer: Sendable {
    /// What tokens of an issuer may do.
    package enum Kind: Sendable, Equatable {
        /// This server: ID tokens, and access tokens of service accounts. Header `typ` tells them apart, which nobody
        /// but the server writes.
        case own
        /// Somebody else: ID tokens alone.
        case outside
        /// The service accounts of this server: the access tokens that they sign themselves (`SelfSignedAccess`).
        case serviceAccounts
    }

    package let kind: Kind
    package let keys: KeySet
    /// The one good `iss`; nil takes any.
    package let issuer: String?
    /// The one good `aud` of ID tokens; nil takes any but those that are never for a database.
    package let audience: String?

    package init(_ kind: Kind, keys: KeySet, issuer: String?, audience: String?) {
        self.kind = kind
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
    }
}
