import JSONTree

/// The texts that an index keeps in key order: an index value, then the child's key.
///
///     text   := value key
///     value  := "A" absent | "B" false | "C" true
///             | "D" 9 bytes (a number below 0) | "E" 9 bytes (0 or above)
///             | "F" escaped* 00 (a string) | "F" escaped* 01 03 (the first 500 bytes of a longer one)
///             | "G" any map
///     escape := 01 01 for 00, 01 02 for 01, other bytes as they are
///     key    := 01 integer:5 length:2 bytes (a 32-bit integer) | 02 bytes
///
/// Numbers are doubles whose bits were made sortable; numbers, integers and lengths are big-endian,
/// 7 bits a byte. Texts start with one of `A` to `G`, so key order compares them by UTF-16 code unit, which
/// for bytes up to 7F is byte order; so texts are in the order of (index value, key), except that
/// strings with equal first 500 bytes are in the order of their keys: a run.
enum SortText {
    /// Bytes of a string that its text holds; children whose strings differ later form a run.
    static let stringByteCount = 500

    private enum Mark {
        static let end: UInt8 = 0
        static let escape: UInt8 = 1
        static let cut: UInt8 = 3
        static let integer: UInt8 = 1
        static let text: UInt8 = 2
        /// Above every mark a key begins with.
        static let afterKeys: UInt8 = 0x7F
    }

    /// The first byte of an index value's text.
    enum Kind {
        static let absent = UInt8(ascii: "A")
        static let no = UInt8(ascii: "B")
        static let yes = UInt8(ascii: "C")
        static let negative = UInt8(ascii: "D")
        static let positive = UInt8(ascii: "E")
        static let string = UInt8(ascii: "F")
        static let map = UInt8(ascii: "G")
    }

    private static let numberByteCount = 9
    private static let integerKeyHeader = 8

    /// The text of a child with this index value and key.
    static func of(_ value: Node, _ key: Bytes) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(32 + key.count)
        append(value, to: &text)
        append(key: key, to: &text)
        return text
    }

    /// The text at `position`; a run counts as one position.
    static func of(_ position: IndexPosition) -> [UInt8] {
        var text: [UInt8] = []
        append(position.value, to: &text)
        switch position.key {
        case .minimum: break
        case .maximum: text.append(Mark.afterKeys)
        case .key(let key): key.withBytes { append(key: $0, to: &text) }
        }
        return text
    }

    static func append(_ value: Node, to text: inout [UInt8]) {
        if let number = value.number {
            append(number: sortableBits(number), to: &text)
        } else if let boolean = value.boolean {
            text.append(boolean ? Kind.yes : Kind.no)
        } else if value.isAbsent {
            text.append(Kind.absent)
        } else if value.withText({ append(string: $0, to: &text) }) == nil {
            text.append(Kind.map)
        }
    }

    /// The bits of a number, ordered as the numbers are; both zeros are one.
    static func sortableBits(_ number: Double) -> UInt64 {
        let bits = number.bitPattern
        return number < 0 ? ~bits : bits | 1 << 63
    }

    static func append(number bits: UInt64, to text: inout [UInt8]) {
        text.append(bits >> 63 == 0 ? Kind.negative : Kind.positive)
        appendDigits(bits, count: numberByteCount, to: &text)
    }

    private static func append(string: Bytes, to text: inout [UInt8]) {
        text.append(Kind.string)
        let count = min(string.count, stringByteCount)
        var copied = 0
        var offset = 0
        while offset < count {
            let byte = string[offset]
            if byte <= Mark.escape {
                text.append(contentsOf: string.slice(copied..<offset))
                text.append(Mark.escape)
                text.append(byte + 1)
                copied = offset + 1
            }
            offset += 1
        }
        text.append(contentsOf: string.slice(copied..<count))
        if string.count > stringByteCount {
            text.append(Mark.escape)
            text.append(Mark.cut)
        } else {
            text.append(Mark.end)
        }
    }

    static func append(key: Bytes, to text: inout [UInt8]) {
        guard let integer = Key.integer(key) else {
            text.append(Mark.text)
            text.append(contentsOf: key)
            return
        }
        text.append(Mark.integer)
        appendDigits(UInt64(integer + 1 << 31), count: 5, to: &text)
        // Keys have at most 768 bytes; a bound may have more and is above them all just the same.
        appendDigits(UInt64(min(key.count, 1 << 14 - 1)), count: 2, to: &text)
        text.append(contentsOf: key)
    }

    private static func appendDigits(_ number: UInt64, count: Int, to text: inout [UInt8]) {
        for shift in stride(from: 7 * (count - 1), through: 0, by: -7) {
            text.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 0x7F)
        }
    }

    /// Where the key's text begins in the text of a child, and whether the string before it is cut.
    static func keyOffset(in text: Bytes) -> (offset: Int, isCut: Bool) {
        switch text[0] {
        case Kind.negative, Kind.positive: return (1 + numberByteCount, false)
        case Kind.string:
            var offset = 1
            while text[offset] > Mark.escape
                || (text[offset] == Mark.escape && text[offset + 1] != Mark.cut)
            {
                offset += text[offset] == Mark.escape ? 2 : 1
            }
            let isCut = text[offset] == Mark.escape
            return (offset + (isCut ? 2 : 1), isCut)
        default: return (1, false)
        }
    }

    static func key(in text: Bytes, from offset: Int) -> Bytes {
        let header = text[offset] == Mark.integer ? integerKeyHeader : 1
        return text.slice(offset + header..<text.count)
    }

    /// Whether children with this index value are in a run.
    static func isCut(_ value: Node) -> Bool {
        value.withText { $0.count > stringByteCount } ?? false
    }
}
