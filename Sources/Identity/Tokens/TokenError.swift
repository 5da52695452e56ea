package import JSONTree

/// Why a token is refused.
package enum TokenError: Error, Equatable, Sendable {
    /// Longer than `TokenLimits.tokenByteCount`.
    case tooLong(byteCount: Int)
    /// Not three parts with dots between them.
    case partCount(Int)
    /// A part is not canonical base64url without padding.
    case notBase64URL(TokenPart)
    /// The header or the claims are not JSON; `offset` counts bytes of the decoded part.
    case notJSON(TokenPart, offset: Int)
    /// The header or the claims are JSON, but no object.
    case notAnObject(TokenPart)
    /// The header has no `alg` text, or a member of it has the wrong type.
    case badHeader(String)
    /// The header has something that is never accepted: `crit`, `jku`, `x5u`, a key of its own.
    case forbiddenHeader(String)
    /// An `alg` that is not one of `Algorithm`, or `HS256` where no secret is configured.
    case unsupportedAlgorithm
    /// No signature, where unsigned tokens are not accepted; or `alg` is `none` and a signature follows.
    case unsigned
    /// No key of this name (nil: none named) for the token's algorithm.
    case unknownKey(String?)
    /// The signature is not the key's.
    case badSignature
    /// A claim is missing, of the wrong type or out of range.
    case badClaim(String)
    /// A custom token claims something that only the server may say.
    case reservedClaim(String)
    /// `exp` is not after the time of the check.
    case expired(at: Timestamp)
    /// `nbf`, `iat` or `auth_time` lies further ahead than the leeway.
    case notYetValid(from: Timestamp)
    /// `iss` is not the configured issuer.
    case wrongIssuer
    /// `aud` is not the configured audience, or the token is a custom token meant for the accounts service.
    case wrongAudience
}

/// A part of a compact token.
package enum TokenPart: String, Equatable, Sendable {
    case header, claims, signature
}
