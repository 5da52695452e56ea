import COpenSSL

/// One OpenSSL key and the calls made on it.
///
/// Unchecked: the key is filled before `init` and never changed after; OpenSSL allows any number of threads to sign and
/// check with one `EVP_PKEY` as long as each has its own digest context, as every call here does. The handle owns its
/// memory and frees it in `deinit`.
@safe final class KeyHandle: @unchecked Sendable {
    private let key: OpaquePointer

    /// Takes over `key`, an `EVP_PKEY *` no other code frees.
    init(owning key: OpaquePointer) {
        unsafe self.key = key
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// A public RSA key from big-endian numbers; nil when OpenSSL refuses them.
    static func rsa(modulus: [UInt8], exponent: [UInt8]) -> KeyHandle? {
        let n = unsafe BN_bin2bn(modulus, Int32(modulus.count), nil)
        let e = unsafe BN_bin2bn(exponent, Int32(exponent.count), nil)
        defer {
            unsafe BN_free(n)
            unsafe BN_free(e)
        }
        guard unsafe n != nil, unsafe e != nil else { return nil }
        return unsafe make(type: "RSA") { parameters in
            unsafe OSSL_PARAM_BLD_push_BN(parameters, lasting("n"), n) == 1
                && OSSL_PARAM_BLD_push_BN(parameters, lasting("e"), e) == 1
        }
    }

    /// A public P-256 key from its uncompressed point; nil when that is not on the curve.
    static func p256(point: [UInt8]) -> KeyHandle? {
        // The builder keeps pointers to what is pushed, so the whole build stays inside the closure.
        unsafe point.withUnsafeBytes { bytes in
            unsafe make(type: "EC") { parameters in
                unsafe OSSL_PARAM_BLD_push_utf8_string(
                    parameters,
                    lasting("group"),
                    lasting("P-256"),
                    0
                ) == 1
                    && OSSL_PARAM_BLD_push_octet_string(
                        parameters,
                        lasting("pub"),
                        bytes.baseAddress,
                        bytes.count
                    ) == 1
            }
        }
    }

    /// The address of a text that lives as long as the program: the builder keeps addresses of names, where a
    /// `String` lends one for a single call. The names are those of openssl/core_names.h.
    private static func lasting(_ text: StaticString) -> UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// The signature of `message` with SHA-256; nil when OpenSSL refuses (no private half, no memory).
    func sign(_ message: [UInt8]) -> [UInt8]? {
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer { unsafe EVP_MD_CTX_free(context) }
        var byteCount = 0
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, nil, &byteCount, message, message.count) == 1
        else { return nil }
        var signature = [UInt8](repeating: 0, count: byteCount)
        guard
            unsafe EVP_DigestSign(context, &signature, &byteCount, message, message.count) == 1
        else { return nil }
        signature.removeLast(signature.count - byteCount)
        return signature
    }

    /// Whether `signature` is this key's for `message` with SHA-256.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        // A failed check leaves a note in this thread's error queue, which would otherwise only grow.
        defer { ERR_clear_error() }
        return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// The big-endian bytes of one number of the key, zero-padded to `byteCount` when that is given.
    func number(_ name: String, byteCount: Int?) -> [UInt8]? {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(key, name, &number) == 1 else { return nil }
        defer { unsafe BN_free(number) }
        let size = byteCount ?? Int((unsafe BN_num_bits(number) + 7) / 8)
        var bytes = [UInt8](repeating: 0, count: size)
        guard unsafe BN_bn2binpad(number, &bytes, Int32(size)) == Int32(size) else { return nil }
        return bytes
    }

    /// What the key is for; nil when it is no RSA key of an allowed size and no P-256 key.
    var algorithm: Algorithm? {
        if unsafe EVP_PKEY_is_a(key, "RSA") == 1 {
            let bitCount = unsafe Int(EVP_PKEY_get_bits(key))
            return TokenLimits.modulusBitCount.contains(bitCount) ? .rs256 : nil
        }
        guard unsafe EVP_PKEY_is_a(key, "EC") == 1 else { return nil }
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else {
            return nil
        }
        let text = String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text == "prime256v1" ? .es256 : nil
    }

    /// Writes the key as PEM text to `sink`, a `BIO *` that the caller owns; whether that worked.
    func write(_ half: Half, to sink: OpaquePointer) -> Bool {
        switch half {
        case .privateKey:
            unsafe PEM_write_bio_PKCS8PrivateKey(sink, key, nil, nil, 0, nil, nil) == 1
        case .publicKey: unsafe PEM_write_bio_PUBKEY(sink, key) == 1
        }
    }

    /// `EVP_PKEY_PUBLIC_KEY` of openssl/evp.h, whose definition Swift cannot read: the public key (0x02) with the
    /// domain (0x04) and other (0x80) parameters.
    private static let publicKeySelection: Int32 = 0x86

    private static func make(type: String, push: (OpaquePointer) -> Bool) -> KeyHandle? {
        defer { ERR_clear_error() }
        guard let builder = unsafe OSSL_PARAM_BLD_new() else { return nil }
        defer { unsafe OSSL_PARAM_BLD_free(builder) }
        guard unsafe push(builder), let parameters = unsafe OSSL_PARAM_BLD_to_param(builder)
        else { return nil }
        defer { unsafe OSSL_PARAM_free(parameters) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_fromdata_init(context) == 1,
            unsafe EVP_PKEY_fromdata(context, &key, publicKeySelection, parameters) == 1,
            let key = unsafe key
        else { return nil }
        let handle = unsafe KeyHandle(owning: key)
        return handle.isSound ? handle : nil
    }

    /// OpenSSL's own check of a public key: for P-256, that the point is on the curve.
    private var isSound: Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe EVP_PKEY_public_check(context) == 1
    }
}
