/// Cuts a rule expression into tokens, on demand: only the parser knows whether a slash divides
/// or begins a regular expression.
///
/// Faults carry offsets in scalars of the expression.
struct Lexer {
    let scalars: [Unicode.Scalar]
    private var offset = 0

    init(_ scalars: [Unicode.Scalar]) {
        self.scalars = scalars
    }

    /// The next token.
    ///
    /// - Parameter expectingOperand: whether a value may begin here, so that `/` opens a pattern.
    /// - Returns: the token; `end` again and again at the end.
    /// - Throws: `PlacedFault` for what is no token of rules.
    mutating func next(expectingOperand: Bool) throws(PlacedFault) -> Token {
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

    private func peek(_ distance: Int) -> Unicode.Scalar? {
        offset + distance < scalars.count ? scalars[offset + distance] : nil
    }

    private mutating func skipSpace() {
        while let scalar = peek(0), scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
            offset += 1
        }
    }

    private func isDigit(_ scalar: Unicode.Scalar?) -> Bool {
        scalar.map { ("0"..."9").contains($0) } ?? false
    }

    private func text(_ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[range])
        return String(view)
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
        return text(start..<offset)
    }

    /// Reads `1`, `1.5`, `.5`, `1e3`; a leading zero may not precede other digits.
    private mutating func readNumber() throws(PlacedFault) -> Token.Kind {
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
        guard !leadsWithZero, !runsIntoName, let value = Double(text(start..<offset)) else {
            throw PlacedFault(
                offset: start,
                message: "syntax error",
                hint: "Numbers are written in decimal, as 1, 1.5 or 1e3."
            )
        }
        return .number(value)
    }

    private mutating func skipDigits() {
        while isDigit(peek(0)) { offset += 1 }
    }

    private mutating func readString(quote: Unicode.Scalar) throws(PlacedFault) -> Token.Kind {
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
            throw PlacedFault(
                offset: start,
                message: "syntax error",
                hint: "This string is never closed."
            )
        }
        offset += 1
        return .string(String(content))
    }

    /// Reads what follows a backslash; nil for one before an end of line, which stands for nothing.
    private mutating func readEscape(
        stringStart: Int
    ) throws(PlacedFault) -> Unicode.Scalar? {
        guard let scalar = peek(0) else {
            throw PlacedFault(
                offset: stringStart,
                message: "syntax error",
                hint: "This string is never closed."
            )
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

    /// Reads the digits after `\u`, and the second half of a surrogate pair; half a pair stands
    /// for U+FFFD.
    private mutating func readUnicodeEscape() throws(PlacedFault) -> Unicode.Scalar {
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

    private mutating func readHexadecimal(digitCount: Int) throws(PlacedFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digitCount {
            guard let digit = peek(0).flatMap({ hexadecimalValue($0) }) else {
                throw PlacedFault(
                    offset: offset,
                    message: "syntax error",
                    hint: "This escape takes \(digitCount) hexadecimal digits."
                )
            }
            value = value << 4 | digit
            offset += 1
        }
        return value
    }

    /// Reads `/body/flags`. A slash inside a set does not end the body.
    private mutating func readPattern() throws(PlacedFault) -> Token.Kind {
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
            throw PlacedFault(offset: start, message: "unterminated regular expression literal")
        }
        let body = start + 1..<offset
        offset += 1
        if body.isEmpty {
            throw PlacedFault(
                offset: start,
                message: "syntax error",
                hint: "Comments are not allowed inside an expression."
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

    private static let symbols = [
        "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", ".", ",", "?", ":",
        "!", "-", "+", "*", "/", "%", "<", ">",
    ]

    private mutating func readSymbol() throws(PlacedFault) -> Symbol {
        let rest = scalars[offset...]
        let symbol = Lexer.symbols.first { rest.starts(with: $0.unicodeScalars) }
        let refused = Lexer.refused.first { rest.starts(with: $0.unicodeScalars) }
        if let refused, refused.count > (symbol?.count ?? 0), !isTernaryBeforeFraction(refused) {
            throw Lexer.refusal(of: refused, at: offset)
        }
        guard let symbol, let known = Symbol(rawValue: symbol) else {
            throw PlacedFault(
                offset: offset,
                message: "syntax error",
                hint: Lexer.hint(for: scalars[offset])
            )
        }
        offset += symbol.count
        return known
    }

    /// `a?.5:1` is a ternary, as in JavaScript.
    private func isTernaryBeforeFraction(_ text: String) -> Bool {
        text == "?." && isDigit(peek(2))
    }

    /// The fault for an operator of JavaScript that rules do not have.
    static func refusal(of text: String, at offset: Int) -> PlacedFault {
        let assigns = text.hasSuffix("=") || text == "++" || text == "--"
        if assigns {
            return PlacedFault(
                offset: offset,
                message: "Rule expressions may not contain assignments.",
                hint: text == "=" ? "Equality is written ==." : nil
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
        return PlacedFault(
            offset: offset,
            message: "Rule expressions may not contain operator \(text).",
            hint: advice
        )
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
