import COpenSSL
import JSONTree

/// SHA-256 (FIPS 180-4).
package enum SHA256Digest {
    /// Bytes of a digest.
    package static let byteCount = 32

    /// The digest of `bytes`.
    package static func of(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        let isDone = unsafe SHA256(bytes, bytes.count, &digest) != nil
        precondition(isDone, "OpenSSL has SHA-256")
        return digest
    }

    /// The digest of a text in UTF-8, as 64 hexadecimal digits.
    package static func hex(_ text: String) -> String {
        Hexadecimal.encode(of(Array(text.utf8)))
    }
}
