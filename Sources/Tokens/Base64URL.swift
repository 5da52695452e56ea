/// The base64 alphabet of RFC 4648 section 5, without padding, as JWS uses it.
package enum Base64URL {
    /// The text of `bytes`.
    package static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
        )
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var pending: UInt32 = 0
        var bitCount = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(alphabet[Int(pending >> UInt32(bitCount) & 63)])
            }
        }
        if bitCount > 0 {
            text.append(alphabet[Int(pending << UInt32(6 - bitCount) & 63)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of `text`, or nil when it is not the one canonical text of any bytes.
    ///
    /// Padding, white space, the `+/` alphabet and set bits behind the last byte are refused, so that
    /// a signed text cannot be spelled in two ways.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var pending: UInt32 = 0
        var bitCount = 0
        for character in text {
            guard let digit = digit(character) else { return nil }
            pending = pending << 6 | UInt32(digit)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bitCount)))
            }
        }
        guard pending & (1 << UInt32(bitCount) - 1) == 0 else { return nil }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
