/// Parses one rule expression by precedence climbing; see security rules grammar, an expression subset of JavaScript.
///
/// Stops at the first fault. Recursion is bounded by `RulesLimits.expressionNesting`.
package struct ExpressionParser {
    private var lexer: Lexer
    private var token: Token
    private var nesting = 0

    /// Parses a whole text.
    ///
    /// - Throws: `LocatedFault` with an offset in scalars of the expression.
    package static func parse(_ scalars: [Unicode.Scalar]) throws(LocatedFault) -> Expression {
        var parser = try ExpressionParser(scalars)
        let expression = try parser.parseTernary()
        if parser.token.kind != .end { throw parser.unexpected() }
        return expression
    }

    private init(_ scalars: [Unicode.Scalar]) throws(LocatedFault) {
        lexer = Lexer(scalars)
        token = try lexer.next(expectingOperand: true)
    }

    private mutating func advance(expectingOperand: Bool) throws(LocatedFault) {
        token = try lexer.next(expectingOperand: expectingOperand)
    }

    private func unexpected(_ hint: String? = nil) -> LocatedFault {
        switch token.kind {
        case .end:
            LocatedFault(token.start, "unexpected end of expression", hint)
        case .name(let word) where ExpressionParser.refusedWords.contains(word):
            Lexer.refusal(of: word, at: token.start)
        case .symbol(.comma):
            LocatedFault(token.start, "Rule expressions may not contain operator ,.")
        default:
            LocatedFault(token.start, "syntax error", hint)
        }
    }

    private static let refusedWords: Set<String> = [
        "typeof", "in", "instanceof", "new", "void", "delete",
    ]

    private mutating func expect(_ symbol: Symbol) throws(LocatedFault) -> Int {
        guard token.kind == .symbol(symbol) else {
            throw unexpected("Expected '\(symbol.rawValue)'.")
        }
        let end = token.end
        try advance(expectingOperand: false)
        return end
    }

    /// Counts one more open level; every call is matched by `nesting -= 1`.
    private mutating func enter() throws(LocatedFault) {
        nesting += 1
        if nesting > RulesLimits.expressionNesting { throw Self.tooDeep(at: token.start) }
    }

    private static func tooDeep(at offset: Int) -> LocatedFault {
        LocatedFault(
            offset,
            "Expression is nested deeper than \(RulesLimits.expressionNesting) levels."
        )
    }

    private func make(
        _ kind: Expression.Kind,
        _ start: Int,
        _ end: Int
    ) throws(LocatedFault) -> Expression {
        let expression = Expression(kind, start, end)
        if expression.depth > RulesLimits.expressionNesting { throw Self.tooDeep(at: start) }
        return expression
    }

    private mutating func parseTernary() throws(LocatedFault) -> Expression {
        try enter()
        let condition = try parseBinary(atLeast: 1)
        guard token.kind == .symbol(.question) else {
            nesting -= 1
            return condition
        }
        try advance(expectingOperand: true)
        let yes = try parseTernary()
        guard token.kind == .symbol(.colon) else { throw unexpected("Expected ':'.") }
        try advance(expectingOperand: true)
        let no = try parseTernary()
        nesting -= 1
        return try make(.ternary(condition, yes, no), condition.start, no.end)
    }

    /// Parses operators that bind at least as strongly as `precedence`, from left to right.
    private mutating func parseBinary(atLeast precedence: Int) throws(LocatedFault) -> Expression {
        var left = try parseUnary()
        while case .symbol(let symbol) = token.kind {
            if let logic = LogicOperator(rawValue: symbol.rawValue),
                logic.precedence >= precedence
            {
                left = try parseChain(logic, symbol, first: left)
            } else if let binary = BinaryOperator(symbol), binary.precedence >= precedence {
                try advance(expectingOperand: true)
                let right = try parseBinary(atLeast: binary.precedence + 1)
                left = try make(.binary(binary, left, right), left.start, right.end)
            } else {
                break
            }
        }
        return left
    }

    private mutating func parseChain(
        _ logic: LogicOperator,
        _ symbol: Symbol,
        first: Expression
    ) throws(LocatedFault) -> Expression {
        var operands = [first]
        while token.kind == .symbol(symbol) {
            try advance(expectingOperand: true)
            operands.append(try parseBinary(atLeast: logic.precedence + 1))
        }
        let end = operands[operands.count - 1].end
        return try make(.logic(logic, operands), first.start, end)
    }

    private mutating func parseUnary() throws(LocatedFault) -> Expression {
        let start = token.start
        switch token.kind {
        case .symbol(.not), .symbol(.minus):
            let isNot = token.kind == .symbol(.not)
            try enter()
            try advance(expectingOperand: true)
            let operand = try parseUnary()
            nesting -= 1
            return try make(isNot ? .not(operand) : .negate(operand), start, operand.end)
        case .symbol(.plus):
            throw Lexer.refusal(of: "+", at: start)
        default:
            return try parsePostfix()
        }
    }

    private mutating func parsePostfix() throws(LocatedFault) -> Expression {
        var base = try parsePrimary()
        while true {
            switch token.kind {
            case .symbol(.dot): base = try parseMember(of: base)
            case .symbol(.leftBracket): base = try parseIndex(of: base)
            case .symbol(.leftParenthesis): base = try parseCall(of: base)
            default: return base
            }
        }
    }

    private mutating func parseMember(of base: Expression) throws(LocatedFault) -> Expression {
        try advance(expectingOperand: false)
        guard case .name(let name) = token.kind else {
            throw unexpected("Expected a name after the dot.")
        }
        let (offset, end) = (token.start, token.end)
        try advance(expectingOperand: false)
        return try make(.member(base, name: name, offset: offset), base.start, end)
    }

    private mutating func parseIndex(of base: Expression) throws(LocatedFault) -> Expression {
        try advance(expectingOperand: true)
        let argument = try parseTernary()
        let end = try expect(.rightBracket)
        if case .string(let name) = argument.kind {
            return try make(.member(base, name: name, offset: argument.start), base.start, end)
        }
        return try make(.index(base, argument), base.start, end)
    }

    private mutating func parseCall(of base: Expression) throws(LocatedFault) -> Expression {
        try advance(expectingOperand: true)
        let arguments = try parseList(until: .rightParenthesis)
        let end = try expect(.rightParenthesis)
        return try make(.call(base, arguments), base.start, end)
    }

    private mutating func parseList(until symbol: Symbol) throws(LocatedFault) -> [Expression] {
        var elements: [Expression] = []
        if token.kind == .symbol(symbol) { return elements }
        while true {
            elements.append(try parseTernary())
            if token.kind != .symbol(.comma) { return elements }
            try advance(expectingOperand: true)
        }
    }

    private mutating func parsePrimary() throws(LocatedFault) -> Expression {
        let (start, end) = (token.start, token.end)
        switch token.kind {
        case .symbol(.leftParenthesis): return try parseGroup()
        case .symbol(.leftBracket):
            try advance(expectingOperand: true)
            let elements = try parseList(until: .rightBracket)
            let close = try expect(.rightBracket)
            return try make(.array(elements), start, close)
        case .number(let value): return try parseLeaf(.number(value), start, end)
        case .string(let value): return try parseLeaf(.string(value), start, end)
        case .pattern(let body, let flags):
            return try parseLeaf(.pattern(body: body, flags: flags), start, end)
        case .name("true"): return try parseLeaf(.boolean(true), start, end)
        case .name("false"): return try parseLeaf(.boolean(false), start, end)
        case .name("null"): return try parseLeaf(.null, start, end)
        case .name("function"): throw unexpected("Rules have no functions.")
        case .name(let name) where !ExpressionParser.refusedWords.contains(name):
            return try parseLeaf(.name(name), start, end)
        default: throw unexpected("Expected a value.")
        }
    }

    private mutating func parseLeaf(
        _ kind: Expression.Kind,
        _ start: Int,
        _ end: Int
    ) throws(LocatedFault) -> Expression {
        try advance(expectingOperand: false)
        return try make(kind, start, end)
    }

    /// Parses `(...)`; the brackets belong to the expression's extent but not to its depth.
    private mutating func parseGroup() throws(LocatedFault) -> Expression {
        let start = token.start
        try advance(expectingOperand: true)
        let inner = try parseTernary()
        let end = try expect(.rightParenthesis)
        return Expression(inner.kind, start, end)
    }
}
