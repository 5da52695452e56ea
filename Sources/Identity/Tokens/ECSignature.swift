import COpenSSL

/// The two spellings of an ECDSA signature on P-256.
///
///     JWS  r (32 bytes, big-endian) s (32 bytes)       RFC 7518 section 3.4
///     DER  SEQUENCE { INTEGER r, INTEGER s }           what OpenSSL takes and makes
enum ECSignature {
    /// Bytes of r and s together.
    static let rawByteCount = 64

    /// The DER form of `raw`; nil when it is not exactly 64 bytes.
    static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == rawByteCount, let signature = unsafe ECDSA_SIG_new() else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        let r = unsafe BN_bin2bn(Array(raw[..<32]), 32, nil)
        let s = unsafe BN_bin2bn(Array(raw[32...]), 32, nil)
        // On success the signature owns both numbers.
        guard unsafe r != nil, unsafe s != nil, unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            return nil
        }
        let byteCount = unsafe i2d_ECDSA_SIG(signature, nil)
        guard byteCount > 0 else { return nil }
        var encoded = [UInt8](repeating: 0, count: Int(byteCount))
        let writtenCount = unsafe encoded.withUnsafeMutableBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return unsafe i2d_ECDSA_SIG(signature, &cursor)
        }
        return writtenCount == byteCount ? encoded : nil
    }

    /// The 64-byte form of what OpenSSL made; nil only when OpenSSL cannot read its own output.
    static func raw(fromDER encoded: [UInt8]) -> [UInt8]? {
        let signature = unsafe encoded.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &cursor, bytes.count)
        }
        guard let signature = unsafe signature else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: rawByteCount)
        let isWritten = unsafe raw.withUnsafeMutableBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + 32, 32) == 32
        }
        return isWritten ? raw : nil
    }
}
