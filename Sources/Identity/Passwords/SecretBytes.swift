import COpenSSL

/// Overwrites a secret that is no longer needed, in a way that no optimizer removes.
///
/// What Swift allows: these are the bytes of this array. Copies are others' to overwrite: an array that is shared is copied
/// before it is overwritten, and the body, the texts and the JSON that a password came in are given back to
/// the allocator as they are. So this shortens the time that passwords lie about; it does not end it.
func wipe(_ secret: inout [UInt8]) {
    secret.withUnsafeMutableBytes { bytes in
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    }
    secret = []
}

/// Whether both are the same bytes; the duration reveals only their lengths.
func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count, !one.isEmpty else { return false }
    return one.withUnsafeBytes { one in
        other.withUnsafeBytes { other in
            CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0
        }
    }
}
