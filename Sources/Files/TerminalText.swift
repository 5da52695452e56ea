/// Makes text harmless to a terminal: control characters become the escapes that JSON has for them, `\u001b`.
///
/// What a server or a file says could otherwise move the cursor, change the title or type answers. Meant
/// are C0 but for tab and newline, delete, and C1 (U+0080 to U+009F). JSON stays the same value, for it has
/// such characters in strings alone. Takes UTF-8 in parts, cut anywhere.
package struct TerminalText {
    /// Whether the first byte of a character of two that may be C1 waits for the second.
    private var isWithinCharacter = false

    /// The first byte in UTF-8 of U+0080 to U+00BF.
    private static let lead: UInt8 = 0xC2

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

    /// Appends what a part is shown as.
    package mutating func append(_ bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        out.reserveCapacity(out.count + bytes.count)
        for byte in bytes {
            if isWithinCharacter {
                isWithinCharacter = false
                if (0x80...0x9F).contains(byte) {
                    Self.escape(byte, to: &out)
                    continue
                }
                out.append(Self.lead)
            }
            switch byte {
            case Self.lead: isWithinCharacter = true
            case 0x09, 0x0A: out.append(byte)
            case 0x00...0x1F, 0x7F: Self.escape(byte, to: &out)
            default: out.append(byte)
            }
        }
    }

    /// Appends what waits, at the end.
    package mutating func finish(_ out: inout [UInt8]) {
        if isWithinCharacter { out.append(Self.lead) }
        isWithinCharacter = false
    }

    private static func escape(_ byte: UInt8, to out: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        out += Array("\\u00".utf8)
        out.append(digits[Int(byte >> 4)])
        out.append(digits[Int(byte & 15)])
    }
}
