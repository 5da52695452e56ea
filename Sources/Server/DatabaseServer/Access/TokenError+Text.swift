import Tokens

extension TokenError {
    /// Whether the client should simply fetch a fresh token: the status `expired_token`, else `invalid_token`.
    var isExpiry: Bool {
        if case .expired = self { true } else { false }
    }

    /// The text for a client, as the Firebase Realtime Database has it: without the reason.
    var wireText: String {
        isExpiry ? "Auth token is expired" : "Could not parse auth token."
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
