import COpenSSL

/// An asymmetric key that signs: RSA for `RS256` or P-256 for `ES256`.
package final class KeyPair: Sendable {
    /// What signatures of this key are made with: `.rs256` or `.es256`.
    package let algorithm: Algorithm

    private let handle: KeyHandle

    private init(_ algorithm: Algorithm, _ handle: KeyHandle) {
        self.algorithm = algorithm
        self.handle = handle
    }

    /// A new RSA key with a modulus of `bitCount` bits, within `TokenLimits.modulusBitCount`.
    ///
    /// Takes some 100 ms at 2048 bits, seconds at 4096; nil only when OpenSSL refuses (no memory, no randomness).
    package static func generateRSA(bitCount: Int = 2048) -> KeyPair? {
        precondition(TokenLimits.modulusBitCount.contains(bitCount), "the modulus size is allowed")
        return unsafe generate(.rs256, type: "RSA") { context in
            unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bitCount)) == 1
        }
    }

    /// A new P-256 key; nil only when OpenSSL refuses (no memory, no randomness).
    package static func generateP256() -> KeyPair? {
        unsafe generate(.es256, type: "EC") { context in
            unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1
        }
    }

    /// The public half.
    package var publicKey: PublicKey { PublicKey(algorithm, handle) }

    /// The signature of `message`, as JWS carries it; nil only when OpenSSL refuses.
    package func sign(_ message: [UInt8]) -> [UInt8]? {
        guard let signature = handle.sign(message) else { return nil }
        return algorithm == .es256 ? ECSignature.raw(fromDER: signature) : signature
    }

    /// The public half as one JSON object of a JWKS `keys` list.
    ///
    /// `keyID` is the `kid` that tokens of this key carry: plain ASCII without quotes.
    package func publicJWK(keyID: String) -> String? {
        switch algorithm {
        case .rs256:
            guard let modulus = handle.number(OSSL_PKEY_PARAM_RSA_N, byteCount: nil),
                let exponent = handle.number(OSSL_PKEY_PARAM_RSA_E, byteCount: nil)
            else { return nil }
            return """
                {"kty":"RSA","use":"sig","alg":"RS256","kid":"\(keyID)",\
                "n":"\(Base64URL.encode(modulus))","e":"\(Base64URL.encode(exponent))"}
                """
        case .es256:
            guard let x = handle.number(OSSL_PKEY_PARAM_EC_PUB_X, byteCount: 32),
                let y = handle.number(OSSL_PKEY_PARAM_EC_PUB_Y, byteCount: 32)
            else { return nil }
            return """
                {"kty":"EC","use":"sig","alg":"ES256","crv":"P-256","kid":"\(keyID)",\
                "x":"\(Base64URL.encode(x))","y":"\(Base64URL.encode(y))"}
                """
        case .hs256, .unsigned:
            preconditionFailure("a key pair is RSA or P-256")
        }
    }

    private static func generate(
        _ algorithm: Algorithm,
        type: String,
        configure: (OpaquePointer) -> Bool,
    ) -> KeyPair? {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe configure(context),
            unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key
        else { return nil }
        return unsafe KeyPair(algorithm, KeyHandle(owning: key))
    }
}
