import COpenSSL

/// Encrypts texts and opens them, AES-256-GCM: only who has the secret can read one or make one.
///
///     nonce, 12 random bytes | as many bytes as the text has | tag, 16 bytes
package struct SealedBox: Sendable {
    private static let nonceByteCount = 12
    private static let tagByteCount = 16

    private let key: [UInt8]

    /// The box of a secret; `purpose` keeps boxes that have one secret apart. nil when OpenSSL is out of memory.
    package init?(secret: [UInt8], purpose: String) {
        guard let key = HashMAC.code(of: Array(purpose.utf8), secret: secret) else { return nil }
        self.key = key
    }

    /// The text, encrypted; nil when OpenSSL is out of memory.
    package func seal(_ text: [UInt8]) -> [UInt8]? {
        let nonce = (0..<Self.nonceByteCount).map { _ in UInt8.random(in: .min ... .max) }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { return nil }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var sealed = [UInt8](repeating: 0, count: text.count)
        var tag = [UInt8](repeating: 0, count: Self.tagByteCount)
        var count: Int32 = 0
        guard unsafe EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            unsafe EVP_EncryptUpdate(context, &sealed, &count, text, Int32(text.count)) == 1,
            Int(count) == text.count,
            unsafe EVP_EncryptFinal_ex(context, nil, &count) == 1,
            unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, Int32(tag.count), &tag) == 1
        else { return nil }
        return nonce + sealed + tag
    }

    /// The text of what a box with this secret and purpose sealed; nil for everything else.
    package func open(_ sealed: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.nonceByteCount + Self.tagByteCount,
            let context = unsafe EVP_CIPHER_CTX_new()
        else { return nil }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let nonce = Array(sealed.prefix(Self.nonceByteCount))
        let body = Array(sealed.dropFirst(Self.nonceByteCount).dropLast(Self.tagByteCount))
        var tag = Array(sealed.suffix(Self.tagByteCount))
        var text = [UInt8](repeating: 0, count: body.count)
        var count: Int32 = 0
        guard unsafe EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            unsafe EVP_DecryptUpdate(context, &text, &count, body, Int32(body.count)) == 1,
            Int(count) == body.count,
            unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, Int32(tag.count), &tag) == 1,
            unsafe EVP_DecryptFinal_ex(context, nil, &count) == 1
        else { return nil }
        return text
    }
}
