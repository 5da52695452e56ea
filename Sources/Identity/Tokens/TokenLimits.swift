/// Hard limits of tokens and key files.
package enum TokenLimits {
    /// Bytes in one compact token.
    ///
    /// An ID token is about 1 KB; custom claims may add 1,000 bytes. The limit keeps a hostile one cheap.
    package static let tokenByteCount = 16 * 1024

    /// Unicode scalars in a token's subject. Source: Firebase Authentication, "Verify ID tokens".
    package static let subjectLength = 1...128

    /// Unicode scalars in a key's name.
    package static let keyIDLength = 1...256

    /// Bytes in one JWKS file.
    package static let keySetByteCount = 1024 * 1024

    /// Keys in one JWKS file.
    package static let keyCount = 100

    /// Bits in an RSA modulus: below is too weak, above makes each check slow for everybody.
    package static let modulusBitCount = 2048...8192

    /// Bytes in an HMAC secret: RFC 7518 section 3.2 asks for at least the size of the hash.
    package static let secretByteCount = 32...4096

    /// Seconds since 1970 that a time claim may name: up to the end of the year 9999.
    package static let claimedSeconds: ClosedRange<Int64> = 0...253_402_300_799

    /// Seconds a database-secret token without `exp` lives after `iat`.
    ///
    /// Source: Firebase Realtime Database, legacy token generator: "24 hours by default".
    package static let legacyLifetimeSeconds: Int64 = 24 * 60 * 60

    /// Seconds that what a service account signs, and its access token, may live.
    ///
    /// Source: Google, "Using OAuth 2.0 for Server to Server Applications", and Firebase, "Create custom tokens".
    package static let selfSignedLifetimeSeconds: Int64 = 3600

    /// Unicode scalars in the address of a service account.
    package static let serviceAccountLength = 3...320

    /// Bytes of the JSON text of a custom token's `claims`: an ID token that has them and the account's own, 1,000
    /// bytes, is far below `tokenByteCount`.
    package static let customClaimsByteCount = 4096

    /// Bytes in one refresh token.
    package static let refreshTokenByteCount = 12 * 1024

    /// Bytes in the key that seals refresh tokens.
    package static let sealKeyByteCount = 32

    /// Bytes in the PEM text of one key.
    package static let pemByteCount = 16 * 1024
}
