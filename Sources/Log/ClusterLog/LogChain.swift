import COpenSSL

/// What a valid entry and all valid entries before it hash to, with SHA-256.
///
///     start ──► claim ──► batch ──► batch     c3 = SHA-256 of (c2, bytes 0..<64 of the batch, payload)
///     zeros      c1        c2        c3
///
/// Two nodes with equal chains have read the same valid entries.
package struct LogChain: Hashable, Sendable, CustomStringConvertible {
    /// Bytes of a chain.
    package static let byteCount = 32

    /// The chain before the first entry: zeros.
    package static let start = LogChain(words: SIMD4())

    /// The bytes, eight in each word, the first byte lowest.
    private let words: SIMD4<UInt64>

    private init(words: SIMD4<UInt64>) { self.words = words }

    /// Takes 32 bytes.
    package init(_ bytes: ArraySlice<UInt8>) {
        precondition(bytes.count == Self.byteCount, "a chain has 32 bytes")
        var words = SIMD4<UInt64>()
        for (index, byte) in bytes.enumerated() {
            words[index / 8] |= UInt64(byte) << (index % 8 * 8)
        }
        self.words = words
    }

    /// The chain after an entry: its bytes before its chain, and its payload.
    func extended(by head: ArraySlice<UInt8>, _ payload: ArraySlice<UInt8>) -> LogChain {
        var input: [UInt8] = []
        input.reserveCapacity(Self.byteCount + head.count + payload.count)
        input += bytes
        input += head
        input += payload
        var digest = [UInt8](repeating: 0, count: Self.byteCount)
        let isDone = unsafe SHA256(input, input.count, &digest) != nil
        precondition(isDone, "OpenSSL has SHA-256")
        return LogChain(digest[...])
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        (0..<Self.byteCount).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> ($0 % 8 * 8)) }
    }

    /// The first eight bytes as a number.
    package var prefix: UInt64 { words[0] }

    /// The first eight bytes in hexadecimal, as they stand.
    package var description: String {
        bytes.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
