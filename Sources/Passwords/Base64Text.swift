/// Base64 in whichever way others write it.
package enum Base64Text {
    /// The bytes of a text in the alphabet of RFC 4648 section 4 or 5, padded or not; nil for anything else.
    ///
    /// Firebase's exports have the one alphabet, its tools send the other, and padding is left out by some. Letters that
    /// do not end at a byte must be zero bits, so that a text which was cut is noticed where that is possible.
    package static func decode(_ text: String) -> [UInt8]? {
        var letters = Array(text.utf8)[...]
        var paddingCount = 0
        while letters.last == UInt8(ascii: "=") {
            letters.removeLast()
            paddingCount += 1
        }
        guard paddingCount == 0 || (paddingCount <= 2 && (letters.count + paddingCount) % 4 == 0),
            letters.count % 4 != 1
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count * 3 / 4)
        var pending: UInt32 = 0
        var bitCount: UInt32 = 0
        for letter in letters {
            guard let digit = digit(letter) else { return nil }
            pending = pending << 6 | digit
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> bitCount))
            }
        }
        return pending & (1 << bitCount - 1) == 0 ? bytes : nil
    }

    /// The text of `bytes` without padding: in the standard alphabet, as hashes of Argon2 are written, or in that for
    /// addresses.
    package static func encode(_ bytes: [UInt8], forAddresses: Bool = false) -> String {
        let alphabet = Array(
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                + (forAddresses ? "-_" : "+/")).utf8
        )
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var pending: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(alphabet[Int(pending >> bitCount & 63)])
            }
        }
        if bitCount > 0 { text.append(alphabet[Int(pending << (6 - bitCount) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ letter: UInt8) -> UInt32? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a") + 26)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0") + 52)
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
