/// The pieces of texts to hash.
extension Scratch {
    mutating func append(_ byte: UInt8) {
        reserve(to: used + 1)
        base[used] = byte
        used += 1
    }

    mutating func append(_ bytes: Bytes) {
        reserve(to: used + bytes.count)
        append(bytes.pointer, bytes.count)
    }

    mutating func append(_ word: StaticString) {
        unsafe append(Bytes(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    /// Appends 16 lower-case hex digits, the most significant first.
    mutating func appendHex(_ bits: UInt64) {
        for shift in stride(from: 60, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: bits >> UInt64(shift)) & 15
            append(digit < 10 ? 48 + digit : 87 + digit)
        }
    }

    /// Appends the base64 of `bytes`, in the standard alphabet, with padding.
    ///
    /// `bytes` may lie in this memory if it need not grow.
    mutating func appendBase64(_ bytes: Bytes) {
        let alphabet = base64Alphabet
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var bits: UInt32 = 0
            for offset in 0..<3 {
                bits = bits << 8 | (offset < count ? UInt32(bytes[start + offset]) : 0)
            }
            for offset in 0..<4 {
                let digit = alphabet[Int(bits >> UInt32(18 - 6 * offset)) & 63]
                append(offset <= count ? digit : 0x3D)
            }
        }
    }
}

private let base64Alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
)
