import COpenSSL

/// HMAC with SHA-256 (RFC 2104), the signature of `HS256`.
package enum HashMAC {
    /// Bytes in one code.
    static let byteCount = 32

    /// The code of `message` under `secret`, `byteCount` bytes; nil only when OpenSSL is out of memory.
    package static func code(of message: [UInt8], secret: [UInt8]) -> [UInt8]? {
        var code = [UInt8](repeating: 0, count: byteCount)
        var writtenCount: UInt32 = 0
        let made = unsafe HMAC(
            EVP_sha256(),
            secret,
            Int32(secret.count),
            message,
            message.count,
            &code,
            &writtenCount,
        )
        guard unsafe made != nil, writtenCount == byteCount else { return nil }
        return code
    }
}
