import SecurityRules

/// Expressions, from the loosest operator to the tightest.
extension FileRulesParser {
    /// Parses `or ["?" expression ":" expression]`; the number of the expression.
    mutating func parseExpression() throws(LocatedFault) -> Int {
        nesting += 1
        defer { nesting -= 1 }
        if nesting > FileRulesLimits.expressionNesting { throw Self.tooDeep(token.start) }
        let condition = try parseOr()
        guard isSymbol("?") else { return condition }
        try advance()
        let yes = try parseExpression()
        try expect(":", "between the branches of '?'")
        let no = try parseExpression()
        let whole = range(condition).lowerBound..<range(no).upperBound
        return try add(.ternary(condition, yes, no), whole, [condition, yes, no])
    }

    private mutating func parseOr() throws(LocatedFault) -> Int {
        var operands = [try parseAnd()]
        while isSymbol("||") {
            try advance()
            operands.append(try parseAnd())
        }
        return try chain(operands) { .or($0) }
    }

    private mutating func parseAnd() throws(LocatedFault) -> Int {
        var operands = [try parseBinary(1)]
        while isSymbol("&&") {
            try advance()
            operands.append(try parseBinary(1))
        }
        return try chain(operands) { .and($0) }
    }

    private mutating func chain(
        _ operands: [Int],
        _ kind: ([Int]) -> FileExpression.Kind
    ) throws(LocatedFault) -> Int {
        if operands.count == 1 { return operands[0] }
        let end = range(operands[operands.count - 1]).upperBound
        return try add(kind(operands), range(operands[0]).lowerBound..<end, operands)
    }

    /// Parses operators that bind at least as strongly as `precedence`, from left to right.
    private mutating func parseBinary(_ precedence: Int) throws(LocatedFault) -> Int {
        var left = try parseUnary()
        while true {
            if isName("is"), FileOperator.in.precedence >= precedence {
                left = try parseType(of: left)
                continue
            }
            let word: String
            switch token.kind {
            case .symbol(let symbol): word = symbol
            case .name("in"): word = "in"
            default: return left
            }
            guard let symbol = FileOperator(rawValue: word), symbol.precedence >= precedence else {
                return left
            }
            try advance()
            let right = try parseBinary(symbol.precedence + 1)
            let whole = range(left).lowerBound..<range(right).upperBound
            left = try add(.binary(symbol, left, right), whole, [left, right])
        }
    }

    private mutating func parseType(of operand: Int) throws(LocatedFault) -> Int {
        try advance()
        guard case .name(let name) = token.kind else {
            throw unexpected("Expected a type behind 'is'")
        }
        guard let type = FileValueType(rawValue: name) else {
            let known = FileValueType.allCases.map(\.rawValue)
            let near = Spelling.nearest(to: name, among: known)
            throw fault(
                "There is no type '\(name.prefix(40))'.",
                near.map { "Did you mean '\($0)'?" }
                    ?? "There are \(known.joined(separator: ", "))."
            )
        }
        try advance()
        return try add(.isType(operand, type), range(operand).lowerBound..<end, [operand])
    }

    private mutating func parseUnary() throws(LocatedFault) -> Int {
        let start = token.start
        guard isSymbol("!") || isSymbol("-") else { return try parsePostfix() }
        let isNot = isSymbol("!")
        nesting += 1
        defer { nesting -= 1 }
        if nesting > FileRulesLimits.expressionNesting { throw Self.tooDeep(start) }
        try advance()
        let operand = try parseUnary()
        return try add(isNot ? .not(operand) : .negate(operand), start..<end, [operand])
    }

    private mutating func parsePostfix() throws(LocatedFault) -> Int {
        let start = token.start
        var base = try parsePrimary()
        while true {
            if isSymbol(".") {
                base = try parseMember(of: base, start)
            } else if isSymbol("[") {
                base = try parseIndex(of: base, start)
            } else if isSymbol("(") {
                throw fault("This is not a function.", "Functions are called by their name.")
            } else {
                return base
            }
        }
    }

    private mutating func parseMember(of base: Int, _ start: Int) throws(LocatedFault) -> Int {
        try advance()
        guard case .name(let name) = token.kind else {
            throw unexpected("Expected a name behind '.'")
        }
        let named = FileFunction.Named(name: name, offset: token.start)
        try advance()
        guard isSymbol("(") else { return try add(.member(base, name: name), start..<end, [base]) }
        let arguments = try parseList("(", ")")
        return try add(.call(base: base, name: named, arguments), start..<end, [base] + arguments)
    }

    private mutating func parseIndex(of base: Int, _ start: Int) throws(LocatedFault) -> Int {
        try advance()
        var from: Int?
        if !isSymbol(":") {
            let index = try parseExpression()
            if isSymbol("]") {
                try advance()
                return try add(.index(base, index), start..<end, [base, index])
            }
            from = index
        }
        try expect(":", "or ']'")
        let to = isSymbol("]") ? nil : try parseExpression()
        try expect("]", "behind the end of the slice")
        return try add(
            .slice(base, from: from, to: to),
            start..<end,
            [base] + [from, to].compactMap { $0 }
        )
    }

    /// Parses expressions between brackets, the first of which is the token.
    private mutating func parseList(_ open: String, _ close: String) throws(LocatedFault) -> [Int] {
        try expect(open, "")
        var elements: [Int] = []
        while !isSymbol(close) {
            elements.append(try parseExpression())
            if isSymbol(",") {
                try advance()
            } else if !isSymbol(close) {
                throw unexpected("Expected ',' or '\(close)'")
            }
        }
        try advance()
        return elements
    }

    private mutating func parsePrimary() throws(LocatedFault) -> Int {
        let start = token.start
        switch token.kind {
        case .int(let value): return try parseConstant(.int(value))
        case .float(let value): return try parseConstant(.float(value))
        case .string(let text): return try parseConstant(.string(text))
        case .name("true"): return try parseConstant(.bool(true))
        case .name("false"): return try parseConstant(.bool(false))
        case .name("null"): return try parseConstant(.null)
        case .name(let name): return try parseName(name)
        case .symbol("("):
            try advance()
            let inner = try parseExpression()
            try expect(")", "to close the bracket")
            widen(inner, to: start..<end)
            return inner
        case .symbol("["):
            let elements = try parseList("[", "]")
            return try add(.list(elements), start..<end, elements)
        case .symbol("{"): return try parseMap()
        case .symbol("/"): return try parsePath()
        default: throw unexpected("Expected a value")
        }
    }

    private mutating func parseConstant(_ value: FileValue) throws(LocatedFault) -> Int {
        let range = token.start..<token.end
        try advance()
        return try add(.constant(value), range)
    }

    private mutating func parseName(_ name: String) throws(LocatedFault) -> Int {
        let named = FileFunction.Named(name: name, offset: token.start)
        let start = token.start
        if ["let", "return", "function", "match", "allow", "if", "in", "is"].contains(name) {
            throw unexpected("Expected a value")
        }
        try advance()
        guard isSymbol("(") else { return try add(.name(name), start..<end) }
        let arguments = try parseList("(", ")")
        return try add(.call(base: nil, name: named, arguments), start..<end, arguments)
    }

    private mutating func parseMap() throws(LocatedFault) -> Int {
        let start = token.start
        try advance()
        var members: [(key: Int, value: Int)] = []
        openMapCount += 1
        while !isSymbol("}") {
            let key = try parseBinary(1)
            try expect(":", "behind the key")
            members.append((key, try parseExpression()))
            if isSymbol(",") {
                try advance()
            } else if !isSymbol("}") {
                throw unexpected("Expected ',' or '}'")
            }
        }
        openMapCount -= 1
        try advance()
        return try add(.map(members), start..<end, members.flatMap { [$0.key, $0.value] })
    }

    /// Reads `/a/$(b)/(default)`, whose first slash is the token.
    private mutating func parsePath() throws(LocatedFault) -> Int {
        let start = token.start
        var parts: [FileExpression.PathPart] = []
        var operands: [Int] = []
        var behind = start
        lexer.offset = start
        while lexer.peek(0) == "/" {
            lexer.offset += 1
            if lexer.peek(0) == "$", lexer.peek(1) == "(" {
                lexer.offset += 2
                try advance()
                let operand = try parseExpression()
                guard isSymbol(")") else {
                    throw unexpected("Expected ')' behind what a path takes in")
                }
                operands.append(operand)
                parts.append(.expression(operand))
                lexer.offset = token.end
            } else {
                parts.append(.literal(try readPathSegment()))
            }
            behind = lexer.offset
        }
        token = FileRulesToken(kind: .end, start: start, end: behind)
        try advance()
        return try add(.path(parts), start..<behind, operands)
    }

    private mutating func readPathSegment() throws(LocatedFault) -> [UInt8] {
        let start = lexer.offset
        if lexer.peek(0) == "(" { lexer.offset += 1 }
        while let scalar = lexer.peek(0),
            scalar.value > 0x7F || FileRulesLexer.beginsName(scalar) || lexer.isDigit(scalar)
                || "-.~%@".unicodeScalars.contains(scalar)
        {
            lexer.offset += 1
        }
        if lexer.scalars[start...].first == "(", lexer.peek(0) == ")" { lexer.offset += 1 }
        let text = String(scalars: lexer.scalars[start..<lexer.offset])
        if text.isEmpty || (text.hasPrefix("(") && !text.hasSuffix(")")) {
            throw LocatedFault(
                start,
                "A path has an empty segment.",
                "Put a name or $(expression) behind each slash."
            )
        }
        return Array(text.utf8)
    }
}
