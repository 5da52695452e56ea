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

    /// Whether the public half verifies what the private half signs: false for halves of two keys.
    package var isSound: Bool {
        let probe = Array("probe".utf8)
        return sign(probe).map { publicKey.verifies($0, of: probe) } ?? false
    }

    /// The pair of the first private key in a PEM text without a passphrase, PKCS #8 or the older forms.
    ///
    /// - Returns: nil when there is none, or it is neither RSA of an allowed size nor P-256.
    package convenience init?(pem: [UInt8]) {
        guard let (algorithm, handle) = KeyHandle.reading(pem: pem, .privateKey) else { return nil }
        self.init(algorithm, handle)
    }

    /// Both halves as PEM text, PKCS #8 without a passphrase; nil only when OpenSSL refuses (no memory).
    package var pem: [UInt8]? { handle.pem(.privateKey) }

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
