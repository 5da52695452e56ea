/// Claims that only the issuer of an ID token may make.
package enum ReservedClaims {
    /// Names that neither a custom token's `claims` nor a user's custom claims may have, sorted.
    ///
    /// Source: Firebase Authentication, "Control access with custom claims", and OpenID Connect Core.
    package static let names = [
        "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "firebase",
        "iat", "iss", "jti", "nbf", "nonce", "sub",
    ]
}
