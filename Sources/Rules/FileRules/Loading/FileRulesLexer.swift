import SecurityRules

/// One token of a rules text for files and where it lies, in scalars of the text.
struct FileRulesToken: Equatable {
    enum Kind: Equatable {
        case int(Int64)
        case float(Double)
        /// In UTF-8, escapes resolved.
        case string([UInt8])
        case name(String)
        case symbol(String)
        case end
    }

    let kind: Kind
    let start: Int
    let end: Int

    /// As a fault names it.
    var words: String {
        switch kind {
        case .int(let value): "\(value)"
        case .float(let value): "\(value)"
        case .string: "a string"
        case .name(let name): "'\(name.prefix(40))'"
        case .symbol(let symbol): "'\(symbol)'"
        case .end: "the end of the text"
        }
    }
}

/// Cuts a rules text for files into tokens, on demand: only the parser knows where a slash begins a path.
struct FileRulesLexer: ScalarReader {
    let scalars: [Unicode.Scalar]
    var offset = 0
    /// Comments that hold `hearth:allow`, each with the offset at which it begins, and the words behind that one; without
    /// an offset those of `hearth:allow-file`.
    private(set) var allowances: [(offset: Int?, words: [String])] = []
    /// Where a backslash stands before a character that needs none.
    private(set) var idleEscapes: [Int] = []

    init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

    func badDigits(_ count: Int) -> LocatedFault {
        LocatedFault(offset, "This escape takes \(count) hexadecimal digits.")
    }

    /// The next token; `end` again and again at the end.
    mutating func next() throws(LocatedFault) -> FileRulesToken {
        try skipSpace()
        let start = offset
        let kind: FileRulesToken.Kind
        switch peek(0) {
        case nil: kind = .end
        case "'", "\"": kind = .string(try readString())
        case let scalar? where isDigit(scalar): kind = try readNumber()
        case let scalar? where Self.beginsName(scalar): kind = .name(readName())
        case let scalar?: kind = .symbol(try readSymbol(scalar))
        }
        return FileRulesToken(kind: kind, start: start, end: offset)
    }

    private mutating func skipSpace() throws(LocatedFault) {
        while let scalar = peek(0) {
            if scalar.properties.isWhitespace {
                offset += 1
            } else if scalar == "/", peek(1) == "/" {
                let start = offset
                while let scalar = peek(0), scalar != "\n", scalar != "\r" { offset += 1 }
                noteAllowance(start..<offset)
            } else if scalar == "/", peek(1) == "*" {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(LocatedFault) {
        let start = offset
        offset += 2
        while !(peek(0) == "*" && peek(1) == "/") {
            if peek(0) == nil {
                throw LocatedFault(start, "This comment is never closed.", "Close it with */.")
            }
            offset += 1
        }
        offset += 2
        noteAllowance(start..<offset)
    }

    private mutating func noteAllowance(_ range: Range<Int>) {
        let words = String(scalars: scalars[range]).split { " ,/*\r\n\t".contains($0) }
        let marks = ["hearth:allow", "hearth:allow-file"]
        guard let mark = words.firstIndex(where: { marks.contains(String($0)) }) else { return }
        let offset = words[mark] == marks[0] ? range.lowerBound : nil
        allowances.append((offset, words[(mark + 1)...].map { String($0) }))
    }

    static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_": true
        default: false
        }
    }

    mutating func readName() -> String {
        let start = offset
        while let scalar = peek(0), Self.beginsName(scalar) || isDigit(scalar) { offset += 1 }
        return String(scalars: scalars[start..<offset])
    }

    private mutating func readNumber() throws(LocatedFault) -> FileRulesToken.Kind {
        let start = offset
        var isFloat = false
        skipDigits()
        if peek(0) == ".", isDigit(peek(1)) {
            isFloat = true
            offset += 1
            skipDigits()
        }
        if peek(0) == "e" || peek(0) == "E" {
            let signCount = peek(1) == "+" || peek(1) == "-" ? 1 : 0
            if isDigit(peek(1 + signCount)) {
                isFloat = true
                offset += 1 + signCount
                skipDigits()
            }
        }
        if let scalar = peek(0), Self.beginsName(scalar) {
            throw LocatedFault(
                start,
                "A number ends in '\(scalar)'.",
                "Put a space or an operator there."
            )
        }
        let text = String(scalars: scalars[start..<offset])
        if isFloat {
            guard let value = Double(text), value.isFinite else {
                throw LocatedFault(start, "This number is too large.")
            }
            return .float(value)
        }
        guard let value = Int64(text) else {
            throw LocatedFault(
                start,
                "An int is at most \(Int64.max).",
                "Write .0 behind it for a float."
            )
        }
        return .int(value)
    }

    private mutating func skipDigits() { while isDigit(peek(0)) { offset += 1 } }

    private mutating func readString() throws(LocatedFault) -> [UInt8] {
        let start = offset
        let quote = scalars[offset]
        var content = String.UnicodeScalarView()
        var fault: LocatedFault?
        offset += 1
        while let scalar = peek(0), scalar != "\n", scalar != "\r" {
            offset += 1
            if scalar == quote {
                if let fault { throw fault }
                return Array(String(content).utf8)
            }
            do throws(LocatedFault) {
                content.append(scalar == "\\" ? try readEscape(start) : scalar)
            } catch {
                fault = fault ?? error
            }
        }
        // What was meant to follow the string is read as such.
        offset = start + 1
        throw LocatedFault(
            start,
            "This string is never closed.",
            "Close it with \(quote) on its line."
        )
    }

    private mutating func readEscape(_ stringStart: Int) throws(LocatedFault) -> Unicode.Scalar {
        let start = offset - 1
        guard let scalar = peek(0) else {
            throw LocatedFault(stringStart, "This string is never closed.")
        }
        offset += 1
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "v": return "\u{B}"
        case "0" where !isDigit(peek(0)): return "\0"
        case "x": return Unicode.Scalar(try readHexadecimal(digitCount: 2)) ?? "\u{FFFD}"
        case "u": return try readUnicodeEscape()
        case "\\", "'", "\"", "`", "/": return scalar
        case "\n", "\r": throw LocatedFault(stringStart, "This string is never closed.")
        case "0"..."9", "a"..."z", "A"..."Z":
            throw LocatedFault(
                start,
                "A string has no escape \\\(scalar).",
                "A backslash for a pattern is written twice: \\\\\(scalar)."
            )
        default:
            idleEscapes.append(start)
            return scalar
        }
    }

    private static let pairs: Set<String> = ["==", "!=", "<=", ">=", "&&", "||"]

    private mutating func readSymbol(_ scalar: Unicode.Scalar) throws(LocatedFault) -> String {
        if let following = peek(1) {
            let pair = String(scalars: [scalar, following])
            if Self.pairs.contains(pair) {
                offset += 2
                if peek(0) == "=" {
                    throw LocatedFault(offset - 2, "Rules have no \(pair)=.", "Write \(pair).")
                }
                return pair
            }
        }
        switch scalar {
        case "&", "|":
            throw LocatedFault(offset, "Rules have no \(scalar).", "Write \(scalar)\(scalar).")
        case "{", "}", "(", ")", "[", "]", ";", ":", ",", ".", "=", "<", ">", "+", "-", "*", "/",
            "%",
            "!", "?", "$":
            offset += 1
            return String(Character(scalar))
        default:
            let shown =
                scalar.properties.generalCategory == .control
                ? "U+\(String(scalar.value, radix: 16))" : "\(scalar)"
            throw LocatedFault(
                offset,
                "Unexpected character \(shown).",
                "Remove it, or put it in quotes."
            )
        }
    }
}
