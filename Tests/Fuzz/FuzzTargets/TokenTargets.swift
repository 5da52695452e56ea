import JSONTree
import Tokens

extension FuzzTarget {
    /// Tokens and keys as text: nothing traps, and no token passes that is not spelled as it was signed.
    static let tokens = FuzzTarget(name: "tokens") { bytes in
        var input = FuzzInput(bytes)
        switch input.choice(4) {
        case 0: try checkToken(shown(input.rest))
        case 1: try checkSigned(input)
        case 2: try checkKeySet(input.rest)
        default: try checkPEM(input.rest)
        }
    }

    private static let secret = [UInt8](repeating: 0x61, count: 32)
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)
    private static let verifier = TokenVerifier(
        keys: .empty,
        policy: TokenPolicy(hmacSecret: secret)
    )

    private static func isAccepted(_ token: String) -> Bool {
        if case .success = verifier.verify(token, now: now) { return true }
        return false
    }

    /// A text without a right signature.
    private static func checkToken(_ text: String) throws {
        _ = UnverifiedClaims.subject(of: text)
        _ = UnverifiedClaims.text(of: text)
        _ = ServiceAccountToken.readCustomUnverified(text)
        _ = RefreshSeal(key: secret).open(text)
        try check(!isAccepted(text) || text.utf8.count > 40, "it passes unsigned: \(text)")
        let open = TokenVerifier(keys: .empty, policy: TokenPolicy(acceptsUnsigned: true))
        if case .success(let token) = open.verify(text, now: now) {
            try check(text.hasSuffix("."), "an unsigned token has a signature: \(text)")
            let again = try Node.readingAnyJSON(token.auth.json())
            try check(again == token.auth, "its variable changes when it is printed")
        }
    }

    /// Header and claims, a line each, with a right signature: no other spelling of what passes may pass.
    private static func checkSigned(_ input: FuzzInput) throws {
        var input = input
        let place = Int(input.byte()) << 8 | Int(input.byte())
        let change = input.byte()
        let lines = shown(input.rest).split(separator: "\n", maxSplits: 1)
        guard lines.count == 2,
            let token = TokenSigner(.hmac(secret)).sign(
                header: String(lines[0]),
                claims: String(lines[1])
            )
        else { return }
        guard case .success(let verified) = verifier.verify(token, now: now) else { return }
        try check(verified.source != .own, "a secret signs as this server")
        var text = Array(token.utf8)
        text[place % text.count] ^= change
        let other = shown(text)
        try check(change == 0 || !isAccepted(other), "two spellings pass: \(token) and \(other)")
    }

    private static func checkKeySet(_ text: [UInt8]) throws {
        do {
            let keys = try KeySet(jwks: text)
            try check(keys.count > 0, "a set without keys")
        } catch is KeySetError {
            // Refused.
        }
    }

    /// A key that is read prints as a text that is the same key.
    private static func checkPEM(_ text: [UInt8]) throws {
        if let key = PublicKey(pem: text), let printed = key.pem {
            try check(PublicKey(pem: printed)?.pem == printed, "a public key changes")
            _ = (key.thumbprint, key.jwk(keyID: "k"))
        }
        if let pair = KeyPair(pem: text), let printed = pair.pem {
            try check(KeyPair(pem: printed)?.pem == printed, "a pair of keys changes")
        }
    }
}
