/// A piece of a rules text, as an editor colours it.
package struct RulesToken: Equatable, Sendable {
    /// What a piece is.
    package enum Kind: String, CaseIterable, Sendable {
        case comment
        /// The key of a location.
        case key
        /// `.read`, `.write`, `.validate`, `.indexOn`.
        case rule
        /// `$room`, as a key and in expressions.
        case wildcard
        case text
        case number
        /// A word of the language: `auth`, `true`.
        case word
        /// A member or a function: `uid`, `child`.
        case name
        case pattern
        /// Brackets, operators, and the quotes around an expression.
        case symbol
        /// What is not a token of rules.
        case unknown
    }

    package let kind: Kind
    /// Offsets in scalars of the text, without a byte order mark.
    package let range: Range<Int>
}

extension RulesText {
    /// The tokens, ascending, without overlaps: all but white space is in one.
    ///
    /// They are those of the reader of files and of the lexer of expressions. A text that does not load has tokens as
    /// well: after what is not one, reading goes on. O(text).
    package func tokens() -> [RulesToken] {
        var tokenizer = RulesTokenizer(self)
        return tokenizer.read()
    }
}

/// Cuts a rules text into tokens. It knows of the grammar only where a key stands, and which values are expressions.
private struct RulesTokenizer {
    private var reader: RulesFileReader
    private var tokens: [RulesToken] = []
    /// For each open bracket whether it is that of an object.
    private var isObject: [Bool] = []
    private var expectsKey = false
    /// Whether the value of the member that was begun is an expression.
    private var isRule = false

    init(_ text: RulesText) {
        reader = RulesFileReader(text)
    }

    mutating func read() -> [RulesToken] {
        while skipSpace() { readToken() }
        return tokens
    }

    private var count: Int { reader.scalars.count }

    private mutating func add(_ kind: RulesToken.Kind, _ range: Range<Int>) {
        if kind == .unknown, let last = tokens.last, last.kind == .unknown,
            last.range.upperBound == range.lowerBound
        {
            tokens.removeLast()
            tokens.append(
                RulesToken(kind: .unknown, range: last.range.lowerBound..<range.upperBound)
            )
        } else if !range.isEmpty {
            tokens.append(RulesToken(kind: kind, range: range))
        }
    }

    /// Skips white space and comments; returns whether something follows.
    private mutating func skipSpace() -> Bool {
        let known = reader.comments.count
        var open: Int?
        do throws(LocatedFault) { try reader.skipSpace() } catch { open = error.offset }
        for comment in reader.comments[known...] { add(.comment, comment) }
        if let open {
            reader.offset = count
            add(.comment, open..<count)
        }
        return reader.offset < count
    }

    private mutating func readToken() {
        let start = reader.offset
        switch reader.scalars[start] {
        case "{", "[":
            isObject.append(reader.scalars[start] == "{")
            expectsKey = isObject.last == true
            isRule = false
            readSymbol()
        case "}", "]":
            _ = isObject.popLast()
            expectsKey = false
            readSymbol()
        case ",":
            expectsKey = isObject.last == true
            readSymbol()
        case ":":
            expectsKey = false
            readSymbol()
        case "\"": readString()
        case "-", "0"..."9":
            read(.number) { reader throws(LocatedFault) in _ = try reader.readNumber() }
        default: read(.word) { reader throws(LocatedFault) in _ = try reader.readWord() }
        }
    }

    private mutating func readSymbol() {
        add(.symbol, reader.offset..<reader.offset + 1)
        reader.offset += 1
    }

    private mutating func read(
        _ kind: RulesToken.Kind,
        _ body: (inout RulesFileReader) throws(LocatedFault) -> Void
    ) {
        let start = reader.offset
        var kind = kind
        do throws(LocatedFault) { try body(&reader) } catch { kind = .unknown }
        reader.offset = min(max(reader.offset, start + 1), count)
        add(kind, start..<reader.offset)
    }

    private mutating func readString() {
        let start = reader.offset
        let text: QuotedText
        do throws(LocatedFault) { text = try reader.readString() } catch {
            reader.offset = endOfString(from: start)
            return add(.unknown, start..<reader.offset)
        }
        let range = start..<reader.offset
        if expectsKey {
            let name = text.string
            let kind: RulesToken.Kind =
                name.hasPrefix(".") ? .rule : name.hasPrefix("$") ? .wildcard : .key
            isRule = RulesLoader.kinds[name] != nil
            add(kind, range)
        } else if isRule {
            readExpression(text, in: range)
        } else {
            add(.text, range)
        }
    }

    /// The end of a string with an escape that JSON does not have, or without an end.
    private func endOfString(from start: Int) -> Int {
        var offset = start + 1
        while offset < count, reader.scalars[offset] != "\"" {
            offset += reader.scalars[offset] == "\\" ? 2 : 1
        }
        return min(offset + 1, count)
    }

    private mutating func readExpression(_ text: QuotedText, in range: Range<Int>) {
        add(.symbol, range.lowerBound..<text.start)
        var lexer = Lexer(text.scalars)
        var end = text.start
        var expectsOperand = true
        var isMember = false
        while true {
            lexer.skipSpace()
            let start = lexer.offset
            // White space that is written as an escape.
            let gap = end..<text.offsets[start]
            if reader.scalars[gap].contains("\\") { add(.symbol, gap) }
            if start == text.scalars.count { break }
            var kind = RulesToken.Kind.unknown
            do throws(LocatedFault) {
                let token = try lexer.next(expectingOperand: expectsOperand)
                kind = Self.kind(of: token.kind, isMember: isMember)
                expectsOperand = Self.expectsOperand(after: token.kind)
                isMember = token.kind == .symbol(.dot)
            } catch {
                expectsOperand = true
                isMember = false
            }
            lexer.offset = min(max(lexer.offset, start + 1), text.scalars.count)
            end = text.offsets[lexer.offset]
            add(kind, text.offsets[start]..<end)
        }
        add(.symbol, range.upperBound - 1..<range.upperBound)
    }

    private static let words: Set = [
        "auth", "now", "root", "data", "newData", "query", "true", "false", "null",
    ]

    private static func kind(of token: Token.Kind, isMember: Bool) -> RulesToken.Kind {
        switch token {
        case .number: .number
        case .string: .text
        case .pattern: .pattern
        case .name(let name) where name.hasPrefix("$"): .wildcard
        case .name(let name): !isMember && words.contains(name) ? .word : .name
        case .symbol, .end: .symbol
        }
    }

    /// Whether a value may begin behind a token, so that a slash opens a pattern there, as the parser has it.
    private static func expectsOperand(after token: Token.Kind) -> Bool {
        switch token {
        case .number, .string, .pattern, .name, .end: false
        case .symbol(let symbol): symbol != .rightParenthesis && symbol != .rightBracket
        }
    }
}
