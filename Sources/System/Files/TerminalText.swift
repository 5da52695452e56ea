/// Makes text harmless to a terminal: control characters become the escapes that JSON has for them, `\u001b`.
///
/// Escapes characters of a server or a file that could move the cursor, change the title, type answers, or change the
/// order of other characters: C0 except tab and newline, delete, C1 (U+0080 to U+009F), the line and paragraph
/// separators, and those with the property Bidi_Control. JSON keeps its value, for it has such characters only in
/// strings. Takes UTF-8 in parts, cut anywhere.
package struct TerminalText {
    /// The first bytes of a character that may have to be escaped: one or two.
    private var held: [UInt8] = []

    package init() {}

    /// A whole text, shown.
    package static func shown(_ text: String) -> String {
        String(decoding: shown(Array(text.utf8)), as: UTF8.self)
    }

    /// A whole text, shown.
    package static func shown(_ text: [UInt8]) -> [UInt8] {
        var shown: [UInt8] = []
        var terminal = TerminalText()
        text.withUnsafeBytes { terminal.append($0, to: &shown) }
        terminal.finish(&shown)
        return shown
    }

    /// Appends a part in its escaped form.
    package mutating func append(_ bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        out.reserveCapacity(out.count + bytes.count)
        for byte in bytes {
            if !held.isEmpty {
                if held == [0xE2], byte == 0x80 || byte == 0x81 {
                    held.append(byte)
                    continue
                }
                if let scalar = harmfulScalar(endingIn: byte) {
                    held.removeAll(keepingCapacity: true)
                    Self.escape(scalar, to: &out)
                    continue
                }
                finish(&out)
            }
            switch byte {
            case 0xC2, 0xD8, 0xE2: held.append(byte)
            case 0x09, 0x0A: out.append(byte)
            case 0x00...0x1F, 0x7F: Self.escape(UInt16(byte), to: &out)
            default: out.append(byte)
            }
        }
    }

    /// Appends the held bytes, at the end.
    package mutating func finish(_ out: inout [UInt8]) {
        out += held
        held.removeAll(keepingCapacity: true)
    }

    /// The character of the held bytes and this one; nil when it is harmless.
    private func harmfulScalar(endingIn byte: UInt8) -> UInt16? {
        guard byte & 0xC0 == 0x80 else { return nil }
        let low = UInt16(byte & 0x3F)
        switch (held[0], held.count) {
        case (0xC2, 1): return byte <= 0x9F ? 0x80 | low : nil
        case (0xD8, 1): return byte == 0x9C ? 0x061C : nil
        case (0xE2, 2):
            let scalar = 0x2000 | UInt16(held[1] & 0x3F) << 6 | low
            switch scalar {
            case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: return scalar
            default: return nil
            }
        default: return nil
        }
    }

    private static func escape(_ scalar: UInt16, to out: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        out += Array("\\u".utf8)
        for shift in [12, 8, 4, 0] { out.append(digits[Int(scalar >> shift & 15)]) }
    }
}
