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
    /// The claim with the name of the account's key, so that revoking the key ends what it got.
    static let keyClaim = "key_id"

    /// The token for the service account with this address, whose key `keyID` asked for it.
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
        var claims: [UInt8] = []
        for (name, text) in [
            ("iss", issuer), ("aud", audience), ("sub", serviceAccount), (keyClaim, keyID),
        ] {
            claims.append(UInt8(ascii: claims.isEmpty ? "{" : ","))
            appendJSONString(name, to: &claims)
            claims.append(UInt8(ascii: ":"))
            appendJSONString(text, to: &claims)
        }
        claims += Array(",\"iat\":\(issuedAt),\"exp\":\(issuedAt + lifetime)}".utf8)
        return signer.sign(claims: String(decoding: claims, as: UTF8.self), type: headerType)
    }
}
