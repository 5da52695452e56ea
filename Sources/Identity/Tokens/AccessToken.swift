import JSONTree

/// Short-lived tokens that make a service account an administrator.
///
///     header  {"alg":"RS256","typ":"at+jwt","kid":KEY OF THE SERVER}
///     claims  {"iss":ISSUER,"aud":"hearth-admin","sub":ADDRESS,"key_id":KEY OF THE ACCOUNT,"iat":N,"exp":N + 3600}
///
/// The form is that of RFC 9068. An ID token has another `typ`, and no claim of a user's can change that.
package enum AccessToken {
    /// The header's `typ`.
    package static let headerType = "at+jwt"
    /// `aud`.
    package static let audience = "hearth-admin"
    /// Seconds that one counts.
    package static let lifetime = TokenLimits.selfSignedLifetimeSeconds
    /// The claim with the name of the account's key, so that revoking the key ends its tokens.
    static let keyClaim = "key_id"

    /// The token for the service account with this address, whose key `keyID` requested it.
    ///
    /// `issuedAt` counts seconds since 1970.
    ///
    /// - Returns: nil only when OpenSSL refuses to sign.
    package static func make(
        _ signer: TokenSigner,
        issuer: String,
        serviceAccount: String,
        keyID: String,
        issuedAt: Int64
    ) -> String? {
        let claims: JSONValue = [
            "iss": .string(issuer), "aud": .string(audience), "sub": .string(serviceAccount),
            keyClaim: .string(keyID), "iat": .integer(issuedAt),
            "exp": .integer(issuedAt + lifetime),
        ]
        let text = String(decoding: claims.text, as: UTF8.self)
        return signer.sign(claims: text, type: headerType)
    }
}
