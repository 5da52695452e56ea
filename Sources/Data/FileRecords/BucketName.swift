/// The name of a bucket: ASCII, 3 to 63 characters, with dots up to 222.
package struct BucketName: Hashable, Comparable, Sendable {
    /// ASCII alone, so equal texts have equal bytes.
    package let text: String

    /// Words that begin an address of their own beside `/BUCKET/OBJECT`. `b` and `v0` are too short to be a bucket.
    private static let reserved: Set<String> = [
        "batch", "download", "internal", "storage", "upload",
    ]

    /// Checks a name.
    package init(_ text: String) throws(NameFault) {
        let bytes = Array(text.utf8)
        let dot = UInt8(ascii: ".")
        let parts =
            bytes.contains(dot)
            ? bytes.split(separator: dot, omittingEmptySubsequences: false) : [bytes[...]]
        let longest =
            parts.count > 1
            ? FileLimits.dottedBucketByteCount : FileLimits.bucketByteCount.upperBound
        guard bytes.count >= FileLimits.bucketByteCount.lowerBound, bytes.count <= longest else {
            throw .bucketLength(byteCount: bytes.count)
        }
        for (offset, byte) in bytes.enumerated() {
            let isMark = byte == 0x2D || byte == 0x2E || byte == 0x5F
            if !isMark, !Self.isAlphanumeric(byte) {
                throw .bucketCharacter(byte, offset: offset)
            }
        }
        guard Self.isAlphanumeric(bytes[0]), Self.isAlphanumeric(bytes[bytes.count - 1]) else {
            throw .bucketEnds
        }
        let partByteCount = 1...FileLimits.bucketByteCount.upperBound
        guard parts.allSatisfy({ partByteCount.contains($0.count) }) else { throw .bucketPart }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        if parts.count == 4, parts.allSatisfy({ $0.allSatisfy(digits.contains) }) {
            throw .bucketAddress
        }
        if text.hasPrefix("goog") || Self.reserved.contains(text) { throw .bucketReserved }
        self.text = text
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// By bytes.
    package static func < (a: BucketName, b: BucketName) -> Bool { a.text < b.text }
}
