import JSONTree

/// Finds out whether bytes that come in parts are one whole JSON value, in constant memory.
///
/// RFC 8259, except for the validity of UTF-8. White space around the value is an error. Every byte of an export
/// passes it, so it checks eight bytes of a text at a time.
struct JSONValidator {
    private enum State: UInt8 {
        case value
        /// Behind `[`.
        case valueOrEnd
        /// Behind `{`.
        case nameOrEnd
        /// Behind a comma in an object.
        case name
        case colon
        case string
        case escape
        /// In the hexadecimal digits of an escape.
        case digits
        /// In `true`, `false` or `null`.
        case word
        /// In a number, behind its sign, a first 0, another digit, its point, a digit behind that, its `e`, the
        /// sign behind that, and a digit of the exponent.
        case minus, zero, integer, point, fraction, exponent, exponentSign, exponentDigit
        case afterValue
        case bad
    }

    private var state = State.value
    /// The open brackets: whether each is that of an object.
    private var isObject: [Bool] = []
    private var isName = false
    /// Bytes that the escape or word still lacks, and the word.
    private var lackingByteCount = 0
    private var word: StaticString = ""

    /// Whether the bytes so far are a whole value.
    var isWhole: Bool {
        switch state {
        case .afterValue, .zero, .integer, .fraction, .exponentDigit: isObject.isEmpty
        default: false
        }
    }

    /// Whether bytes are one whole value.
    static func accepts(_ bytes: [UInt8]) -> Bool {
        var validator = JSONValidator()
        return bytes.withUnsafeBytes { validator.read($0) } && validator.isWhole
    }

    /// Takes the next bytes; false when no value can begin like this.
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            if state == .string {
                index = Self.endOfPlain(bytes, from: index)
                if index == bytes.count { break }
            }
            take(bytes[index])
            index += 1
        }
        return state != .bad
    }

    /// The offset of the next byte of a text that is not plain: a quote, a backslash or a control character.
    private static func endOfPlain(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if word.escapeMarks != 0 { break }
            index += 8
        }
        while index < bytes.count, bytes[index] >= 0x20, bytes[index] != 0x22, bytes[index] != 0x5C
        {
            index += 1
        }
        return index
    }

    private mutating func take(_ byte: UInt8) {
        switch state {
        case .bad: break
        case .string:
            state = byte == 0x22 ? (isName ? .colon : .afterValue) : byte == 0x5C ? .escape : .bad
        case .escape, .digits, .word: takeWithin(byte)
        case .minus, .zero, .integer, .point, .fraction, .exponent, .exponentSign, .exponentDigit:
            takeNumber(byte)
        case .value, .valueOrEnd, .nameOrEnd, .name, .colon, .afterValue: takeBetween(byte)
        }
    }

    /// Takes a byte of an escape or a word.
    private mutating func takeWithin(_ byte: UInt8) {
        if state == .escape {
            switch byte {
            case UInt8(ascii: "u"):
                lackingByteCount = 4
                state = .digits
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
                UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                state = .string
            default: state = .bad
            }
            return
        }
        let isGood =
            state == .word
            ? word.utf8Start[word.utf8CodeUnitCount - lackingByteCount] == byte
            : Self.isDigit(byte) || (0x61...0x66).contains(byte | 0x20)
        lackingByteCount -= 1
        if !isGood {
            state = .bad
        } else if lackingByteCount == 0 {
            state = state == .word ? .afterValue : .string
        }
    }

    private mutating func takeNumber(_ byte: UInt8) {
        switch (state, byte) {
        case (.minus, UInt8(ascii: "0")): state = .zero
        case (.minus, 0x31...0x39), (.integer, 0x30...0x39): state = .integer
        case (.zero, UInt8(ascii: ".")), (.integer, UInt8(ascii: ".")): state = .point
        case (.point, 0x30...0x39), (.fraction, 0x30...0x39): state = .fraction
        case (.zero, 0x65), (.integer, 0x65), (.fraction, 0x65),
            (.zero, 0x45), (.integer, 0x45), (.fraction, 0x45):
            state = .exponent
        case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): state = .exponentSign
        case (.exponent, 0x30...0x39), (.exponentSign, 0x30...0x39), (.exponentDigit, 0x30...0x39):
            state = .exponentDigit
        case (.zero, _), (.integer, _), (.fraction, _), (.exponentDigit, _):
            state = .afterValue
            takeBetween(byte)
        default: state = .bad
        }
    }

    /// Takes a byte outside of texts, words and numbers.
    private mutating func takeBetween(_ byte: UInt8) {
        switch (state, byte) {
        case (_, 0x20), (_, 0x09), (_, 0x0A), (_, 0x0D): break
        case (.nameOrEnd, UInt8(ascii: "\"")), (.name, UInt8(ascii: "\"")):
            isName = true
            state = .string
        case (.colon, UInt8(ascii: ":")): state = .value
        case (.afterValue, UInt8(ascii: ",")):
            state = isObject.last.map { $0 ? .name : .value } ?? .bad
        case (.valueOrEnd, UInt8(ascii: "]")), (.afterValue, UInt8(ascii: "]")):
            state = isObject.popLast() == false ? .afterValue : .bad
        case (.nameOrEnd, UInt8(ascii: "}")), (.afterValue, UInt8(ascii: "}")):
            state = isObject.popLast() == true ? .afterValue : .bad
        case (.value, _), (.valueOrEnd, _): begin(byte)
        default: state = .bad
        }
    }

    private mutating func begin(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""):
            isName = false
            state = .string
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            isObject.append(byte == UInt8(ascii: "{"))
            state = byte == UInt8(ascii: "{") ? .nameOrEnd : .valueOrEnd
            if isObject.count > DataLimits.answerDepth { state = .bad }
        case UInt8(ascii: "-"): state = .minus
        case UInt8(ascii: "0"): state = .zero
        case 0x31...0x39: state = .integer
        case UInt8(ascii: "t"): beginWord("true")
        case UInt8(ascii: "f"): beginWord("false")
        case UInt8(ascii: "n"): beginWord("null")
        default: state = .bad
        }
    }

    private mutating func beginWord(_ text: StaticString) {
        word = text
        lackingByteCount = text.utf8CodeUnitCount - 1
        state = .word
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
