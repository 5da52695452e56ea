/// Base64 (RFC 4648): six bits to a character.
package enum Base64 {
    /// What stands for 62 and 63.
    package enum Alphabet: Sendable {
        /// `+` and `/` (section 4).
        case standard
        /// `-` and `_`, for addresses and tokens (section 5).
        case url
    }

    /// The text of `bytes`, without padding unless asked for.
    package static func encode(
        _ bytes: [UInt8],
        _ alphabet: Alphabet,
        isPadded: Bool = false
    ) -> String {
        let digits = Array(
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                + (alphabet == .url ? "-_" : "+/")).utf8
        )
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var pending: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(digits[Int(pending >> bitCount & 63)])
            }
        }
        if bitCount > 0 { text.append(digits[Int(pending << (6 - bitCount) & 63)]) }
        while isPadded, text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text for addresses; nil when it is not the one canonical text of any bytes.
    ///
    /// Padding, white space, `+`, `/` and set bits behind the last byte are refused, so that a signed text cannot be
    /// spelled in two ways.
    package static func decodeURL(_ text: some Collection<UInt8>) -> [UInt8]? {
        let digits = Array(text)
        return digits.contains { "+/".utf8.contains($0) } ? nil : decode(digits: digits[...])
    }

    /// The bytes of a text in either alphabet, padded or not; nil for anything else.
    ///
    /// Firebase's exports have the one alphabet, its tools send the other, and padding is left out by some. Bits behind
    /// the last whole byte must be zero, which detects some cut texts.
    package static func decode(_ text: String) -> [UInt8]? {
        var digits = Array(text.utf8)[...]
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        let paddingCount = text.utf8.count - digits.count
        let isPadded = paddingCount <= 2 && text.utf8.count % 4 == 0
        return paddingCount == 0 || isPadded ? decode(digits: digits) : nil
    }

    private static func decode(digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var pending: UInt32 = 0
        var bitCount: UInt32 = 0
        for character in digits {
            guard let digit = digit(character) else { return nil }
            pending = pending << 6 | UInt32(digit)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> bitCount))
            }
        }
        return pending & (1 << bitCount - 1) == 0 ? bytes : nil
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// Bytes as lower-case hexadecimal digits.
package enum Hexadecimal {
    /// Two digits for each byte.
    package static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
