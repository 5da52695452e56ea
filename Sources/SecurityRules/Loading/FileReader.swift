/// Reads the JSON of a rules text: strict JSON, and comments, raw newlines inside strings, and one comma behind the last
/// member or element.
///
/// Stops at the first thing that is not JSON, since nothing after it has a known meaning.
struct FileReader {
    private let scalars: [Unicode.Scalar]
    private var offset = 0
    private var nesting = 0
    /// The comments read so far, with their marks, as offsets in scalars.
    private(set) var comments: [Range<Int>] = []
    /// What was noticed beside faults.
    private(set) var warnings: [PlacedWarning] = []

    init(_ text: RulesText) {
        scalars = text.scalars
    }

    /// Reads the one value that the text holds.
    mutating func readText() throws(PlacedFault) -> FileValue {
        try skipSpace()
        let value = try readValue()
        try skipSpace()
        if offset < scalars.count {
            throw PlacedFault(
                offset: offset,
                message: "Parse error.",
                hint: "Nothing may follow the closing brace of the rules."
            )
        }
        return value
    }

    private var next: Unicode.Scalar? { offset < scalars.count ? scalars[offset] : nil }

    private func peek(_ distance: Int) -> Unicode.Scalar? {
        offset + distance < scalars.count ? scalars[offset + distance] : nil
    }

    private func fault(_ message: String, _ hint: String? = nil) -> PlacedFault {
        PlacedFault(offset: offset, message: message, hint: hint)
    }

    private mutating func skipSpace() throws(PlacedFault) {
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

    private mutating func skipBlockComment() throws(PlacedFault) {
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
        throw PlacedFault(
            offset: start,
            message: "Parse error.",
            hint: "This comment is never closed."
        )
    }

    private mutating func readValue() throws(PlacedFault) -> FileValue {
        switch next {
        case "{": return try readObject()
        case "[": return try readArray()
        case "\"": return .string(try readString())
        case "t", "f", "n": return try readWord()
        case "-": return try readNumber()
        case let scalar? where isDigit(scalar): return try readNumber()
        case nil: throw fault("Parse error.", "The text ends where a value is expected.")
        default: throw fault("Parse error.", "Expected a JSON value.")
        }
    }

    private mutating func enter() throws(PlacedFault) {
        nesting += 1
        if nesting > RulesLimits.textNesting {
            throw fault("Rules are nested deeper than \(RulesLimits.textNesting) levels.")
        }
        offset += 1
    }

    private mutating func readObject() throws(PlacedFault) -> FileValue {
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

    private mutating func readArray() throws(PlacedFault) -> FileValue {
        let start = offset
        try enter()
        var elements: [FileValue] = []
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
    private mutating func skipComma(before end: Unicode.Scalar) throws(PlacedFault) -> Bool {
        let comma = offset
        offset += 1
        try skipSpace()
        guard next == end else { return false }
        warnings.append(
            PlacedWarning(
                code: .trailingComma,
                offset: comma,
                message: "A comma stands before '\(end)'.",
                hint: "Remove it: JSON has none there, and other tools refuse the file."
            )
        )
        return true
    }

    private mutating func readWord() throws(PlacedFault) -> FileValue {
        let words: [(text: String, value: FileValue)] = [
            ("true", .boolean(true, offset: offset)), ("false", .boolean(false, offset: offset)),
            ("null", .null(offset: offset)),
        ]
        for (text, value) in words where scalars[offset...].starts(with: text.unicodeScalars) {
            offset += text.unicodeScalars.count
            return value
        }
        throw fault("Parse error.", "Expected a JSON value.")
    }

    private mutating func readNumber() throws(PlacedFault) -> FileValue {
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
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[start..<offset])
        return .number(text: String(text), offset: start)
    }

    private mutating func skipDigits() throws(PlacedFault) {
        guard let first = next, isDigit(first) else {
            throw fault("Parse error.", "Expected a digit.")
        }
        while let scalar = next, isDigit(scalar) { offset += 1 }
    }

    private func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private mutating func readString() throws(PlacedFault) -> QuotedText {
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
            throw PlacedFault(
                offset: quote,
                message: "Parse error.",
                hint: "This string is never closed."
            )
        }
        offsets.append(offset)
        offset += 1
        return QuotedText(scalars: content, offsets: offsets)
    }

    private mutating func readEscape() throws(PlacedFault) -> Unicode.Scalar {
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
            throw PlacedFault(
                offset: start,
                message: "Parse error.",
                hint: "No such escape in JSON; a backslash for the expression is written \\\\."
            )
        }
    }

    /// Reads the four digits after `\u`, and the second half of a surrogate pair.
    ///
    /// Half a pair stands for U+FFFD, as in data.
    private mutating func readUnicodeEscape() throws(PlacedFault) -> Unicode.Scalar {
        let unit = try readFourDigits()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        if unit < 0xDC00, next == "\\", peek(1) == "u" {
            let back = offset
            offset += 2
            let low = try readFourDigits()
            if low >= 0xDC00, low < 0xE000 {
                let value = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
                return Unicode.Scalar(value) ?? "\u{FFFD}"
            }
            offset = back
        }
        return "\u{FFFD}"
    }

    private mutating func readFourDigits() throws(PlacedFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ hexadecimalValue($0) }) else {
                throw fault("Parse error.", "\\u takes four hexadecimal digits.")
            }
            value = value << 4 | digit
            offset += 1
        }
        return value
    }
}

/// The value of a hexadecimal digit; nil for any other scalar.
func hexadecimalValue(_ scalar: Unicode.Scalar) -> UInt32? {
    switch scalar {
    case "0"..."9": scalar.value - 48
    case "a"..."f": scalar.value - 87
    case "A"..."F": scalar.value - 55
    default: nil
    }
}
