import COpenSSL

/// The hashes that rules can make.
enum Digests {
    static func md5(_ bytes: [UInt8]) -> [UInt8] { unsafe digest(bytes, EVP_md5(), byteCount: 16) }

    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        unsafe digest(bytes, EVP_sha256(), byteCount: 32)
    }

    private static func digest(_ bytes: [UInt8], _ type: OpaquePointer?, byteCount: Int) -> [UInt8]
    {
        var result = [UInt8](repeating: 0, count: byteCount)
        let isDone = unsafe EVP_Digest(bytes, bytes.count, &result, nil, type, nil) == 1
        precondition(isDone, "OpenSSL makes the digest of any bytes")
        return result
    }

    /// A reflected CRC of 32 bits, its highest byte first; eight steps a byte, for texts of at most 1 MiB.
    static func crc(_ bytes: [UInt8], _ polynomial: UInt32) -> [UInt8] {
        var crc: UInt32 = .max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? polynomial : 0) }
        }
        return (0..<4).map { UInt8(truncatingIfNeeded: ~crc >> (24 - 8 * UInt32($0))) }
    }
}
