import JSONTree

/// The SHA-256 of a blob's bytes, which names it.
package struct BlobHash: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The 32 bytes, eight in each word, the first byte highest.
    private let words: SIMD4<UInt64>

    /// Takes 32 bytes.
    package init(_ bytes: [UInt8]) {
        precondition(bytes.count == 32, "a SHA-256 has 32 bytes")
        var words = SIMD4<UInt64>()
        for (index, byte) in bytes.enumerated() {
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
        }
        self.words = words
    }

    /// Reads 64 lower-case hexadecimal digits; nil for another text.
    package init?(hex: String) {
        guard hex.utf8.count == 64 else { return nil }
        var words = SIMD4<UInt64>()
        for (index, digit) in hex.utf8.enumerated() {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            words[index / 16] = words[index / 16] << 4 | UInt64(value)
        }
        self.words = words
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> (56 - 8 * UInt64($0 % 8))) }
    }

    /// 64 lower-case hexadecimal digits.
    package var hex: String { Hexadecimal.encode(bytes) }

    package var description: String { hex }

    /// By their bytes, so as by their digits.
    package static func < (a: BlobHash, b: BlobHash) -> Bool {
        for index in 0..<4 where a.words[index] != b.words[index] {
            return a.words[index] < b.words[index]
        }
        return false
    }
}
