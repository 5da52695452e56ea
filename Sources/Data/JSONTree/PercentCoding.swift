/// Text as a piece of an address (RFC 3986).
package enum PercentCoding {
    /// Everything but `a-z`, `A-Z`, `0-9` and `-._~` becomes `%XX` of its UTF-8.
    package static func encode(_ text: String) -> String {
        var out: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                out.append(byte)
            default:
                appendEscape(of: byte, to: &out)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends `%XX`.
    package static func appendEscape(of byte: UInt8, to out: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// Puts the bytes back; nil when a `%` is not followed by two digits.
    package static func decode(_ text: Substring) -> String? {
        var out: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                out.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal),
                let low = rest.popFirst().flatMap(hexadecimal)
            else { return nil }
            out.append(high << 4 | low)
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Puts the bytes back; a `%` without two digits stands for itself, and in a form `+` for a space.
    package static func decodeLoosely(_ text: some Sequence<UInt8>, isForm: Bool) -> [UInt8] {
        var out: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(hexadecimal)
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                out.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            } else {
                out.append(isForm && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return out
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
