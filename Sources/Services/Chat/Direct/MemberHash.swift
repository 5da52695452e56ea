#if canImport(CommonCrypto)
    internal import CommonCrypto
#else
    internal import COpenSSL
#endif

/// Identifies two people in any order: the same in every process and on every platform.
///
/// The SHA-256 (FIPS 180-4), as 64 hexadecimal digits, of the UTF-8 of both uids, sorted by their code points, each
/// after its count of code points and a colon: `3:ann3:bob`. The counts distinguish `a` and `bc` from `ab` and `c`.
/// It is the `memberHash` of a direct chat.
public enum MemberHash {
    /// Keys tried for a chat of two people, if strangers have taken earlier ones.
    static let keyCount = 16

    /// The digest of two uids.
    public static func of(_ first: String, _ second: String) -> String { hex(parts(first, second)) }

    /// The keys that a chat of the two may have, in the order of use. The first one is their digest. Rules cannot
    /// compute it, so strangers may have claimed that key; the others are digests of the same text with the number of
    /// the try, from 1 on, as a third part. Both people try the same keys, and a key that strangers have claimed is
    /// never free again: the two end at one key.
    static func keys(of first: String, _ second: String) -> [String] {
        let text = parts(first, second)
        return (0..<keyCount).map { hex($0 == 0 ? text : text + part("\($0)")) }
    }

    private static func parts(_ first: String, _ second: String) -> String {
        // The order of UTF-8 is that of code points; the order of Swift's strings is another one.
        let isSorted = !second.utf8.lexicographicallyPrecedes(first.utf8)
        return isSorted ? part(first) + part(second) : part(second) + part(first)
    }

    private static func part(_ uid: String) -> String { "\(uid.unicodeScalars.count):\(uid)" }

    private static func hex(_ text: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let bytes = digest(Array(text.utf8))
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self,
        )
    }

    #if canImport(CommonCrypto)
        // This half, for Apple's platforms, which have no OpenSSL, was never built or run.
        private static func digest(_ bytes: [UInt8]) -> [UInt8] {
            var digest = [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH))
            _ = CC_SHA256(bytes, CC_LONG(bytes.count), &digest)
            return digest
        }
    #else
        private static func digest(_ bytes: [UInt8]) -> [UInt8] {
            var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
            let isDone = SHA256(bytes, bytes.count, &digest) != nil
            precondition(isDone, "OpenSSL has SHA-256")
            return digest
        }
    #endif
}
