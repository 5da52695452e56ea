import COpenSSL
import JSONTree

/// Whether a password is the one of an imported hash.
///
/// What Firebase leaves open is taken as its Admin SDKs test it (`firebase-admin-node`, test/integration/auth.spec.ts):
///
///     MD5, SHA*       digest(salt password), the digest of that, ... `rounds` times
///     HMAC_*          HMAC(signer key, password salt)
///     PBKDF*          PBKDF2 with as many bytes as the stored hash has
///
/// A digest may be stored as its bytes or as their text in hexadecimal, in which MD5 usually comes.
extension ImportedHashing {
    /// Whether `password` fits; nil when there is no memory to find out. False where `fault` is not nil.
    func matches(_ password: [UInt8], salt: [UInt8], hash: [UInt8]) -> Bool? {
        guard fault == nil, fault(hash: hash, salt: salt) == nil, !password.isEmpty,
            password.count <= Self.passwordByteLimit
        else { return false }
        guard var derived = derive(password, salt: salt + saltSeparator, byteCount: hash.count)
        else { return nil }
        defer { wipe(&derived) }
        if digestByteCount != nil, hash.count == 2 * derived.count {
            var text = Array(Hexadecimal.encode(derived).utf8)
            defer { wipe(&text) }
            // Digits of hexadecimal do not change by it.
            return isEqual(text, hash.map { $0 | 0x20 })
        }
        return isEqual(derived, hash)
    }

    /// Does the same work with a hash that no password fits, for accounts without one.
    func pretend(_ password: [UInt8]) {
        let salt = [UInt8](repeating: 0, count: 16)
        let byteCount = [digestByteCount, derivedKeyLength, 32].compactMap { $0 }.first { $0 > 0 }
        let hash = [UInt8](
            repeating: 0,
            count: algorithm == .scrypt ? signerKey.count : byteCount ?? 32
        )
        _ = matches(password, salt: salt, hash: hash)
    }

    /// Bytes of a password: 4,096 characters of 4 bytes. Also keeps counts within what OpenSSL's interfaces can say.
    static let passwordByteLimit = 16_384

    private func derive(_ password: [UInt8], salt: [UInt8], byteCount: Int) -> [UInt8]? {
        switch algorithm {
        case .scrypt:
            let n = UInt64(1) << UInt64(memoryCost)
            guard
                var key = Self.scrypt(password, salt, n: n, r: rounds, p: 1, byteCount: 64)
            else { return nil }
            defer { wipe(&key) }
            return Self.encrypt(signerKey, key: Array(key[..<32]))
        case .standardScrypt:
            return Self.scrypt(
                password,
                salt,
                n: UInt64(memoryCost),
                r: blockSize,
                p: parallelization,
                byteCount: byteCount
            )
        case .hmacSHA512: return code(EVP_sha512(), password, salt)
        case .hmacSHA256: return code(EVP_sha256(), password, salt)
        case .hmacSHA1: return code(EVP_sha1(), password, salt)
        case .hmacMD5: return code(EVP_md5(), password, salt)
        case .md5: return digest(EVP_md5(), password, salt)
        case .sha1: return digest(EVP_sha1(), password, salt)
        case .sha256: return digest(EVP_sha256(), password, salt)
        case .sha512: return digest(EVP_sha512(), password, salt)
        case .pbkdfSHA1: return pbkdf2(EVP_sha1(), password, salt, byteCount)
        case .pbkdf2SHA256: return pbkdf2(EVP_sha256(), password, salt, byteCount)
        case .argon2: return argon2.hash(password, salt: salt, byteCount: byteCount)
        }
    }

    private func joined(_ password: [UInt8], _ salt: [UInt8], _ usual: Order) -> [UInt8] {
        switch order ?? usual {
        case .saltFirst: salt + password
        case .passwordFirst: password + salt
        }
    }

    private func digest(_ kind: OpaquePointer?, _ password: [UInt8], _ salt: [UInt8]) -> [UInt8]? {
        var text = joined(password, salt, .saltFirst)
        defer { wipe(&text) }
        for _ in 0..<max(1, rounds) {
            var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            let made = EVP_Digest(text, text.count, &digest, &count, kind, nil)
            guard made == 1 else { return nil }
            wipe(&text)
            text = Array(digest[..<Int(count)])
        }
        return text
    }

    private func code(_ kind: OpaquePointer?, _ password: [UInt8], _ salt: [UInt8]) -> [UInt8]? {
        var text = joined(password, salt, .passwordFirst)
        defer { wipe(&text) }
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let made = HMAC(kind, signerKey, Int32(signerKey.count), text, text.count, &code, &count)
        return made == nil ? nil : Array(code[..<Int(count)])
    }

    private func pbkdf2(
        _ kind: OpaquePointer?,
        _ password: [UInt8],
        _ salt: [UInt8],
        _ byteCount: Int
    ) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: byteCount)
        let made = password.withUnsafeBytes { password in
            PKCS5_PBKDF2_HMAC(
                password.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(password.count),
                salt,
                Int32(salt.count),
                Int32(max(1, rounds)),
                kind,
                Int32(byteCount),
                &key
            )
        }
        return made == 1 ? key : nil
    }

    /// Source: RFC 7914.
    private static func scrypt(
        _ password: [UInt8],
        _ salt: [UInt8],
        n: UInt64,
        r: Int,
        p: Int,
        byteCount: Int
    ) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: byteCount)
        let made = password.withUnsafeBytes { password in
            EVP_PBE_scrypt(
                password.baseAddress?.assumingMemoryBound(to: CChar.self),
                password.count,
                salt,
                salt.count,
                n,
                UInt64(r),
                UInt64(p),
                // Beside the big table OpenSSL counts the blocks under way.
                UInt64(2 * ImportLimits.scryptByteCount),
                &key,
                byteCount
            )
        }
        return made == 1 ? key : nil
    }

    /// AES-256-CTR from a counter of zero, as Firebase hides its signer key with it.
    ///
    /// Source: github.com/firebase/scrypt, README.md.
    private static func encrypt(_ text: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let counter = [UInt8](repeating: 0, count: 16)
        var out = [UInt8](repeating: 0, count: text.count)
        var count: Int32 = 0
        guard EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nil, key, counter) == 1,
            EVP_EncryptUpdate(context, &out, &count, text, Int32(text.count)) == 1,
            Int(count) == text.count
        else { return nil }
        return out
    }
}
