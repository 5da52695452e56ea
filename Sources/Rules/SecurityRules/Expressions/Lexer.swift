/// Cuts a rule expression into tokens, on demand: only the parser knows whether a slash divides
/// or begins a regular expression.
///
/// Faults carry offsets in scalars of the expression.
struct Lexer: ScalarReader {
    let scalars: [Unicode.Scalar]
    var offset = 0

    init(_ scalars: [Unicode.Scalar]) {
        self.scalars = scalars
    }

    /// The next token.
    ///
    /// - Parameter expectingOperand: whether a value may begin here, so that `/` opens a pattern.
    /// - Returns: the token; `end` again and again at the end.
    /// - Throws: `LocatedFault` for what is not a token of rules.
    mutating func next(expectingOperand: Bool) throws(LocatedFault) -> Token {
        skipSpace()
        let start = offset
        guard let scalar = peek(0) else { return Token(kind: .end, start: start, end: start) }
        let kind: Token.Kind
        switch scalar {
        case "0"..."9": kind = try readNumber()
        case "." where isDigit(peek(1)): kind = try readNumber()
        case "'", "\"": kind = try readString(quote: scalar)
        case "/" where expectingOperand: kind = try readPattern()
        case _ where Lexer.beginsName(scalar): kind = .name(readName())
        default: kind = .symbol(try readSymbol())
        }
        return Token(kind: kind, start: start, end: offset)
    }

    mutating func skipSpace() {
        while let scalar = peek(0), scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
            offset += 1
        }
    }

    func badDigits(_ count: Int) -> LocatedFault {
        LocatedFault(offset, "syntax error", "This escape takes \(count) hexadecimal digits.")
    }

    private static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_", "$": true
        default: scalar.value > 0x7F && scalar.properties.isIDStart
        }
    }

    private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
        beginsName(scalar) || ("0"..."9").contains(scalar)
            || (scalar.value > 0x7F && scalar.properties.isIDContinue)
    }

    private mutating func readName() -> String {
        let start = offset
        while let scalar = peek(0), Lexer.continuesName(scalar) { offset += 1 }
        return String(scalars: scalars[start..<offset])
    }

    /// Reads `1`, `1.5`, `.5`, `1e3`; a leading zero may not precede other digits.
    private mutating func readNumber() throws(LocatedFault) -> Token.Kind {
        let start = offset
        let leadsWithZero = peek(0) == "0" && isDigit(peek(1))
        skipDigits()
        if peek(0) == ".", isDigit(peek(1)) {
            offset += 1
            skipDigits()
        }
        if peek(0) == "e" || peek(0) == "E" {
            let sign = peek(1) == "+" || peek(1) == "-" ? 1 : 0
            if isDigit(peek(1 + sign)) {
                offset += 1 + sign
                skipDigits()
            }
        }
        let runsIntoName = peek(0).map { Lexer.beginsName($0) } ?? false
        guard !leadsWithZero, !runsIntoName,
            let value = Double(String(scalars: scalars[start..<offset]))
        else {
            throw LocatedFault(
                start,
                "syntax error",
                "Numbers are written in decimal, as 1, 1.5 or 1e3."
            )
        }
        return .number(value)
    }

    private mutating func skipDigits() {
        while isDigit(peek(0)) { offset += 1 }
    }

    private mutating func readString(quote: Unicode.Scalar) throws(LocatedFault) -> Token.Kind {
        let start = offset
        offset += 1
        var content = String.UnicodeScalarView()
        while let scalar = peek(0), scalar != quote {
            if scalar == "\n" || scalar == "\r" { break }
            offset += 1
            if scalar == "\\" {
                if let escaped = try readEscape(stringStart: start) { content.append(escaped) }
            } else {
                content.append(scalar)
            }
        }
        if peek(0) != quote {
            throw LocatedFault(start, "syntax error", "This string is never closed.")
        }
        offset += 1
        return .string(String(content))
    }

    /// Reads what follows a backslash; nil for one before an end of line, which adds nothing.
    private mutating func readEscape(stringStart: Int) throws(LocatedFault) -> Unicode.Scalar? {
        guard let scalar = peek(0) else {
            throw LocatedFault(stringStart, "syntax error", "This string is never closed.")
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
        case "x": return Unicode.Scalar(try readHexadecimal(digitCount: 2))
        case "u": return try readUnicodeEscape()
        case "\n": return nil
        case "\r":
            if peek(0) == "\n" { offset += 1 }
            return nil
        default: return scalar
        }
    }

    /// Reads `/body/flags`. A slash inside a set does not end the body.
    private mutating func readPattern() throws(LocatedFault) -> Token.Kind {
        let start = offset
        offset += 1
        var isInSet = false
        while let scalar = peek(0), scalar != "/" || isInSet {
            if scalar == "\n" || scalar == "\r" { break }
            if scalar == "\\" { offset += 1 }
            if scalar == "[" { isInSet = true }
            if scalar == "]" { isInSet = false }
            offset += 1
        }
        if peek(0) != "/" || isInSet {
            throw LocatedFault(start, "unterminated regular expression literal")
        }
        let body = start + 1..<offset
        offset += 1
        if body.isEmpty {
            throw LocatedFault(
                start,
                "syntax error",
                "Comments are not allowed inside an expression."
            )
        }
        return .pattern(body: body, flags: readName())
    }

    /// Operators of JavaScript that rules do not have, longest first.
    private static let refused = [
        ">>>=", "...", ">>>", "**=", "<<=", ">>=", "&&=", "||=", "??=", "**", "++", "--", "+=",
        "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "=>", "??", "?.", "&", "|", "^", "~",
        "=",
    ]

    private static let symbols = Symbol.allCases.sorted { $0.rawValue.count > $1.rawValue.count }

    private mutating func readSymbol() throws(LocatedFault) -> Symbol {
        let rest = scalars[offset...]
        let symbol = Lexer.symbols.first { rest.starts(with: $0.rawValue.unicodeScalars) }
        let length = symbol?.rawValue.count ?? 0
        let refused = Lexer.refused.first { rest.starts(with: $0.unicodeScalars) }
        if let refused, refused.count > length, !isTernaryBeforeFraction(refused) {
            throw Lexer.refusal(of: refused, at: offset)
        }
        guard let symbol else {
            throw LocatedFault(offset, "syntax error", Lexer.hint(for: scalars[offset]))
        }
        offset += length
        return symbol
    }

    /// `a?.5:1` is a ternary, as in JavaScript.
    private func isTernaryBeforeFraction(_ text: String) -> Bool {
        text == "?." && isDigit(peek(2))
    }

    /// The fault for an operator of JavaScript that rules do not have.
    static func refusal(of text: String, at offset: Int) -> LocatedFault {
        let assigns = text.hasSuffix("=") || text == "++" || text == "--"
        if assigns {
            return LocatedFault(
                offset,
                "Rule expressions may not contain assignments.",
                text == "=" ? "Equality is written ==." : nil
            )
        }
        let advice: String? =
            switch text {
            case "&": "Did you mean &&?"
            case "|": "Did you mean ||?"
            case "=>", "...": "Rules have no functions."
            case "?.", "??": "A member of null is null for auth; data has exists()."
            default: nil
            }
        return LocatedFault(offset, "Rule expressions may not contain operator \(text).", advice)
    }

    private static func hint(for scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case ";": "A rule is one expression, without statements."
        case "{", "}": "Rules have no objects and no blocks."
        case "`": "Rules have no template strings; join strings with +."
        default: nil
        }
    }
}
