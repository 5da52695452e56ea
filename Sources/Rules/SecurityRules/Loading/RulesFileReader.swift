/// Reads the JSON of a rules text: strict JSON, and comments, raw newlines inside strings, and one comma behind the last
/// member or element.
///
/// Stops at the first thing that is not JSON, since nothing after it has a known meaning.
struct RulesFileReader: ScalarReader {
    let scalars: [Unicode.Scalar]
    var offset = 0
    private var nesting = 0
    /// The comments read so far, with their marks, as offsets in scalars.
    private(set) var comments: [Range<Int>] = []
    /// What was noticed beside faults.
    private(set) var warnings: [LocatedWarning] = []

    init(_ text: RulesText) {
        scalars = text.scalars
    }

    /// Reads the one value that the text holds.
    mutating func readText() throws(LocatedFault) -> RulesFileValue {
        try skipSpace()
        let value = try readValue()
        try skipSpace()
        if offset < scalars.count {
            throw LocatedFault(
                offset,
                "Parse error.",
                "Nothing may follow the closing brace of the rules."
            )
        }
        return value
    }

    private var next: Unicode.Scalar? { peek(0) }

    private func fault(_ message: String, _ hint: String? = nil) -> LocatedFault {
        LocatedFault(offset, message, hint)
    }

    mutating func skipSpace() throws(LocatedFault) {
        while let scalar = next {
            switch scalar {
            case " ", "\t", "\n", "\r": offset += 1
            case "/" where peek(1) == "/":
                let start = offset
                while let inside = next, inside != "\n", inside != "\r" { offset += 1 }
                comments.append(start..<offset)
            case "/" where peek(1) == "*": try skipBlockComment()
            default: return
            }
        }
    }

    private mutating func skipBlockComment() throws(LocatedFault) {
        let start = offset
        offset += 2
        while next != nil {
            if next == "*", peek(1) == "/" {
                offset += 2
                comments.append(start..<offset)
                return
            }
            offset += 1
        }
        throw LocatedFault(start, "Parse error.", "This comment is never closed.")
    }

    private mutating func readValue() throws(LocatedFault) -> RulesFileValue {
        switch next {
        case "{": return try readObject()
        case "[": return try readArray()
        case "\"": return .string(try readString())
        case "t", "f", "n": return try readWord()
        case "-": return try readNumber()
        case _ where isDigit(next): return try readNumber()
        case nil: throw fault("Parse error.", "The text ends where a value is expected.")
        default: throw fault("Parse error.", "Expected a JSON value.")
        }
    }

    private mutating func enter() throws(LocatedFault) {
        nesting += 1
        if nesting > RulesLimits.textNesting {
            throw fault("Rules are nested deeper than \(RulesLimits.textNesting) levels.")
        }
        offset += 1
    }

    private mutating func readObject() throws(LocatedFault) -> RulesFileValue {
        let start = offset
        try enter()
        var members: [FileMember] = []
        try skipSpace()
        while next != "}" {
            if !members.isEmpty {
                if next != "," { throw fault("Expected '}'.", "Or a comma and another member.") }
                if try skipComma(before: "}") { break }
            }
            if next != "\"" { throw fault("Parse error.", "Expected a key in double quotes.") }
            let key = try readString()
            try skipSpace()
            if next != ":" { throw fault("Parse error.", "Expected ':' after the key.") }
            offset += 1
            try skipSpace()
            members.append(FileMember(key: key, value: try readValue()))
            try skipSpace()
        }
        offset += 1
        nesting -= 1
        return .object(members, offset: start)
    }

    private mutating func readArray() throws(LocatedFault) -> RulesFileValue {
        let start = offset
        try enter()
        var elements: [RulesFileValue] = []
        try skipSpace()
        while next != "]" {
            if !elements.isEmpty {
                if next != "," { throw fault("Expected ']'.", "Or a comma and another element.") }
                if try skipComma(before: "]") { break }
            }
            elements.append(try readValue())
            try skipSpace()
        }
        offset += 1
        nesting -= 1
        return .array(elements, offset: start)
    }

    /// Skips a comma. Returns whether nothing more follows it, which production takes and other readers of JSON do not.
    private mutating func skipComma(before end: Unicode.Scalar) throws(LocatedFault) -> Bool {
        let comma = offset
        offset += 1
        try skipSpace()
        guard next == end else { return false }
        warnings.append(
            LocatedWarning(
                .trailingComma,
                comma,
                "A comma stands before '\(end)'.",
                "Remove it: JSON has none there, and other tools refuse the file."
            )
        )
        return true
    }

    mutating func readWord() throws(LocatedFault) -> RulesFileValue {
        let words: [(text: String, value: RulesFileValue)] = [
            ("true", .boolean(true, offset: offset)), ("false", .boolean(false, offset: offset)),
            ("null", .null(offset: offset)),
        ]
        for (text, value) in words where scalars[offset...].starts(with: text.unicodeScalars) {
            offset += text.unicodeScalars.count
            return value
        }
        throw fault("Parse error.", "Expected a JSON value.")
    }

    mutating func readNumber() throws(LocatedFault) -> RulesFileValue {
        let start = offset
        if next == "-" { offset += 1 }
        if next == "0" { offset += 1 } else { try skipDigits() }
        if next == "." {
            offset += 1
            try skipDigits()
        }
        if next == "e" || next == "E" {
            offset += 1
            if next == "+" || next == "-" { offset += 1 }
            try skipDigits()
        }
        return .number(text: String(scalars: scalars[start..<offset]), offset: start)
    }

    private mutating func skipDigits() throws(LocatedFault) {
        guard isDigit(next) else { throw fault("Parse error.", "Expected a digit.") }
        while isDigit(next) { offset += 1 }
    }

    mutating func readString() throws(LocatedFault) -> QuotedText {
        let quote = offset
        offset += 1
        var content: [Unicode.Scalar] = []
        var offsets: [Int] = []
        while let scalar = next, scalar != "\"" {
            offsets.append(offset)
            if scalar == "\\" {
                content.append(try readEscape())
            } else {
                content.append(scalar)
                offset += 1
            }
        }
        if next == nil {
            throw LocatedFault(quote, "Parse error.", "This string is never closed.")
        }
        offsets.append(offset)
        offset += 1
        return QuotedText(scalars: content, offsets: offsets)
    }

    private mutating func readEscape() throws(LocatedFault) -> Unicode.Scalar {
        let start = offset
        offset += 2
        switch scalars[start...].dropFirst().first {
        case "\"": return "\""
        case "\\": return "\\"
        case "/": return "/"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try readUnicodeEscape()
        default:
            throw LocatedFault(
                start,
                "Parse error.",
                "No such escape in JSON; a backslash for the expression is written \\\\."
            )
        }
    }

    func badDigits(_ count: Int) -> LocatedFault {
        fault("Parse error.", "\\u takes four hexadecimal digits.")
    }
}

/// Reads scalars one by one: what the readers of rules files and of expressions share.
package protocol ScalarReader {
    /// All of the text.
    var scalars: [Unicode.Scalar] { get }
    /// Where reading goes on, in scalars.
    var offset: Int { get set }

    /// Why an escape that takes `count` hexadecimal digits is refused.
    func badDigits(_ count: Int) -> LocatedFault
}

extension ScalarReader {
    /// The scalar so far ahead; nil behind the end.
    package func peek(_ distance: Int) -> Unicode.Scalar? {
        offset + distance < scalars.count ? scalars[offset + distance] : nil
    }

    /// Whether it is one of 0 to 9.
    package func isDigit(_ scalar: Unicode.Scalar?) -> Bool {
        scalar.map { ("0"..."9").contains($0) } ?? false
    }

    /// Reads the four digits after `\u`, and the second half of a surrogate pair.
    ///
    /// Half a pair becomes U+FFFD, as in data.
    package mutating func readUnicodeEscape() throws(LocatedFault) -> Unicode.Scalar {
        let unit = try readHexadecimal(digitCount: 4)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        if unit < 0xDC00, peek(0) == "\\", peek(1) == "u" {
            let back = offset
            offset += 2
            let low = try readHexadecimal(digitCount: 4)
            if low >= 0xDC00, low < 0xE000 {
                let value = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
                return Unicode.Scalar(value) ?? "\u{FFFD}"
            }
            offset = back
        }
        return "\u{FFFD}"
    }

    /// Reads so many hexadecimal digits.
    package mutating func readHexadecimal(digitCount: Int) throws(LocatedFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digitCount {
            guard let digit = peek(0).flatMap({ UInt32(String($0), radix: 16) }) else {
                throw badDigits(digitCount)
            }
            value = value << 4 | digit
            offset += 1
        }
        return value
    }
}
