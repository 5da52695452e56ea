import JSONTree
import SecurityRules

/// Rules that stand in a request or a file of cases: the text of a rules file as a string, or the object
/// that a rules file is.
///
/// Places in them count within the rules, as in a file of their own; `offset(ofLine:column:)` finds them
/// in the text around.
struct RulesMember {
    /// The rules as a rules file would hold them.
    let text: String
    private let value: RawValue

    /// - Throws: `InputFault` when it is neither.
    init(_ value: RawValue) throws(InputFault) {
        self.value = value
        switch value.kind {
        case .string: text = try value.string("rules")
        case .object: text = value.bytes.string
        case .array, .number, .boolean, .null:
            throw InputFault(
                offset: value.offset,
                message: "'rules' must be the text of a rules file, or the object that it holds."
            )
        }
    }

    /// Where a place of the rules stands in the text around; lines and columns as in `RulesFault`.
    func offset(ofLine line: Int, column: Int) -> Int {
        var cursor = RulesCursor(bytes: value.bytes, isQuoted: value.kind == .string)
        while cursor.line < line || cursor.column < column {
            if !cursor.advance() { break }
        }
        return value.offset + cursor.offset
    }
}

/// Walks rules scalar by scalar, in a string with its escapes resolved, and counts lines and columns.
private struct RulesCursor {
    private let bytes: Bytes
    private let isQuoted: Bool
    /// Of the scalar to come.
    private(set) var offset: Int
    private(set) var line = 1
    private(set) var column = 1

    init(bytes: Bytes, isQuoted: Bool) {
        self.bytes = bytes
        self.isQuoted = isQuoted
        offset = isQuoted ? 1 : 0
    }

    /// Passes one scalar; false at the end.
    mutating func advance() -> Bool {
        let end = isQuoted ? bytes.count - 1 : bytes.count
        if offset >= end { return false }
        let (byte, length) = scalar(at: offset)
        let (next, _) = offset + length < end ? scalar(at: offset + length) : (0, 0)
        offset += length
        // A byte order mark is no column.
        if line == 1, column == 1, byte == 0xEF, length == 3 { return true }
        if byte == 0x0A || (byte == 0x0D && next != 0x0A) {
            line += 1
            column = 1
        } else {
            column += 1
        }
        return true
    }

    /// The first byte of a scalar, of an escape what it stands for if that is an end of line, and its
    /// bytes in the text.
    private func scalar(at offset: Int) -> (byte: UInt8, length: Int) {
        let byte = bytes[offset]
        guard isQuoted, byte == 0x5C, offset + 1 < bytes.count else {
            switch byte {
            case 0xC0...0xDF: return (byte, 2)
            case 0xE0...0xEF: return (byte, 3)
            case 0xF0...0xFF: return (byte, 4)
            default: return (byte, 1)
            }
        }
        switch bytes[offset + 1] {
        case UInt8(ascii: "n"): return (0x0A, 2)
        case UInt8(ascii: "r"): return (0x0D, 2)
        case UInt8(ascii: "u"):
            let unit = codeUnit(at: offset)
            let isPair =
                (0xD800..<0xDC00).contains(unit)
                && (0xDC00..<0xE000).contains(codeUnit(at: offset + 6))
            return (unit < 0x80 ? UInt8(unit) : 0x20, isPair ? 12 : 6)
        default: return (0x20, 2)
        }
    }

    /// The code unit of the `\uXXXX` at an offset; 0 when none stands there.
    private func codeUnit(at offset: Int) -> UInt32 {
        guard offset + 6 <= bytes.count, bytes[offset] == 0x5C, bytes[offset + 1] == 0x75 else {
            return 0
        }
        return UInt32(bytes.slice(offset + 2..<offset + 6).string, radix: 16) ?? 0
    }
}
