/// The signature algorithms of RFC 7518 that Hearth accepts, by their name in a token's header.
package enum Algorithm: String, Sendable, CaseIterable {
    /// RSA with PKCS #1 v1.5 padding and SHA-256.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256; the signature is r and s, 32 bytes each.
    case es256 = "ES256"
    /// HMAC with SHA-256 under a shared secret.
    case hs256 = "HS256"
    /// No signature at all: what development tools send.
    case unsigned = "none"
}
