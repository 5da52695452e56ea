import JSONTree
package import Tokens

extension TokenError {
    /// Whether the client should simply fetch a fresh token: the status `expired_token`, else `invalid_token`.
    package var isExpiry: Bool {
        guard case .expired = self else { return false }
        return true
    }

    /// What a client is told, as the Firebase Realtime Database says it; nothing about why.
    package var wireText: String {
        isExpiry ? "Auth token is expired" : "Could not parse auth token."
    }

    /// The reason for the server's log: no part of the token is repeated but its key's name.
    package var logText: String {
        switch self {
        case .tooLong(let byteCount): "the token has \(byteCount) bytes, more than allowed"
        case .partCount(let count): "the token has \(count) parts instead of 3"
        case .notBase64URL(let part):
            "the token's \(part.rawValue) is not base64url without padding"
        case .notJSON(let part, let offset):
            "the token's \(part.rawValue) is not JSON at byte \(offset)"
        case .notAnObject(let part): "the token's \(part.rawValue) is not a JSON object"
        case .badHeader(let member): "the token's header has a missing or bad '\(member)'"
        case .forbiddenHeader(let member):
            "the token's header has '\(member)', which is never taken"
        case .unsupportedAlgorithm:
            "the token's algorithm is not taken (RS256 and ES256 are; HS256 with --hs256-secret-file)"
        case .unsigned: "the token is not signed; only --dev takes such tokens"
        case .unknownKey(nil): "the token's header names no key ('kid')"
        case .unknownKey(let keyID?):
            "there is no key '\(keyID)' for the token's algorithm"
        case .badSignature: "the token's signature is wrong"
        case .badClaim(let name): "the token's claim '\(name)' is missing or bad"
        case .reservedClaim(let name): "the token's claim '\(name)' is reserved"
        case .expired(let time): "the token expired at \(ISO8601.text(of: time.milliseconds))"
        case .notYetValid(let time):
            "the token is good from \(ISO8601.text(of: time.milliseconds)) on; is a clock wrong?"
        case .wrongIssuer: "the token's issuer is not the configured one"
        case .wrongAudience: "the token's audience is not the configured one"
        }
    }
}

extension KeySetError {
    /// The fault for people, as it follows the name of the file; indexes count from 1 in it.
    var text: String {
        switch self {
        case .tooLarge(let byteCount):
            "has \(byteCount) bytes; a JWKS file may have \(TokenLimits.keySetByteCount)"
        case .notJSON(let offset): "is not JSON at byte \(offset)"
        case .noKeyList: "has no list 'keys' with at least one key"
        case .tooManyKeys(let count):
            "has \(count) keys; a JWKS file may have \(TokenLimits.keyCount)"
        case .badKey(let index, let reason): "key \(index + 1) cannot be used: \(reason)"
        case .privateKey(let index):
            "key \(index + 1) is a private key; only public keys belong into this file"
        case .duplicateKeyID(let index): "key \(index + 1) has the 'kid' of a key before it"
        case .noUsableKey: "has no RSA or P-256 key for signatures"
        }
    }
}
