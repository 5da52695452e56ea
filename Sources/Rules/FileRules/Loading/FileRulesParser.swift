import SecurityRules

/// Parses a rules text for files: blocks and statements by descent, expressions by precedence climbing.
///
///     file    = ["rules_version" "=" ('1' | '2') ";"] {function} service
///     service = "service" "firebase.storage" "{" {match | function} "}"
///     match   = "match" pattern "{" {match | allow | function} "}"
///     allow   = "allow" word {"," word} [":" "if" expression] ";"
///     function = "function" name "(" [names] ")" "{" {"let" name "=" expression ";"} "return" expression ";" "}"
///
/// A fault ends its statement; what follows is parsed still. Recursion is bounded by `FileRulesLimits`.
struct FileRulesParser {
    private(set) var syntax = FileSyntax()
    private(set) var faults: [LocatedFault] = []
    var lexer: FileRulesLexer
    var token = FileRulesToken(kind: .end, start: 0, end: 0)
    /// Where the token before this one ended.
    private var previousEnd = 0
    /// Expressions that are open, and map literals.
    var nesting = 0
    var openMapCount = 0

    /// Parses a whole text.
    init(_ text: RulesText) {
        lexer = FileRulesLexer(text.scalars)
        parseFile()
    }

    // MARK: Tokens

    /// Moves to the next token.
    mutating func advance() throws(LocatedFault) {
        previousEnd = token.end
        token = try lexer.next()
    }

    /// The same where a fault ends nothing: what is no token is reported and skipped.
    private mutating func skip() {
        previousEnd = token.end
        while true {
            do throws(LocatedFault) {
                token = try lexer.next()
                return
            } catch {
                if faults.last != error { report(error) }
                lexer.offset = max(lexer.offset, error.offset + 1)
            }
        }
    }

    func isSymbol(_ symbol: String) -> Bool { token.kind == .symbol(symbol) }
    func isName(_ name: String) -> Bool { token.kind == .name(name) }

    /// Moves past a symbol.
    mutating func expect(_ symbol: String, _ why: String) throws(LocatedFault) {
        if !isSymbol(symbol) { throw unexpected("Expected '\(symbol)' \(why)") }
        try advance()
    }

    /// Moves past the semicolon of a statement; where it is missing the statement counts all the same.
    private mutating func expectSemicolon(_ what: String) throws(LocatedFault) {
        if isSymbol(";") { return try advance() }
        let isNext =
            isSymbol("}")
            || ["allow", "match", "function", "let", "return"].contains { isName($0) }
        let fault = LocatedFault(
            isNext ? previousEnd : token.start,
            "Expected ';' behind \(what)\(isNext ? "" : ", got \(token.words)").",
            isSymbol("=") ? "Equality is written ==." : nil
        )
        if !isNext { throw fault }
        report(fault)
    }

    /// A fault at the token.
    func fault(_ message: String, _ hint: String? = nil) -> LocatedFault {
        LocatedFault(token.start, message, hint)
    }

    func unexpected(_ expected: String) -> LocatedFault {
        fault("\(expected), got \(token.words).")
    }

    private mutating func report(_ fault: LocatedFault) { faults.append(fault) }

    private mutating func report(_ offset: Int, _ message: String, _ hint: String) {
        faults.append(LocatedFault(offset, message, hint))
    }

    /// Moves past a name that is not a word of the language.
    private mutating func readName(_ what: String) throws(LocatedFault) -> FileFunction.Named {
        guard case .name(let name) = token.kind else { throw unexpected("Expected \(what)") }
        let named = FileFunction.Named(name: name, offset: token.start)
        if FileRulesParser.words.contains(name) {
            throw fault("'\(name)' is a word of the language.", "Use another name.")
        }
        try advance()
        return named
    }

    private static let words: Set<String> = [
        "true", "false", "null", "if", "in", "is", "let", "return", "function", "match", "allow",
        "service",
    ]

    // MARK: Blocks

    private mutating func parseFile() {
        syntax.blocks = [FileBlock(parent: nil, offset: 0, matchDepth: 0)]
        skip()
        var hasService = false
        while token.kind != .end {
            do throws(LocatedFault) {
                if isName("rules_version") {
                    try parseVersion()
                } else if isName("function") {
                    try parseFunction(in: 0)
                } else if isName("service") {
                    if hasService {
                        throw fault("A file has one service.", "Put its blocks into the first one.")
                    }
                    hasService = true
                    try parseService()
                } else {
                    throw unexpected("Expected 'service', 'function' or 'rules_version'")
                }
            } catch {
                report(error)
                recover(isTop: true)
            }
        }
        if !hasService, faults.isEmpty {
            report(
                token.start,
                "The file has no service.",
                "Begin with: service firebase.storage {"
            )
        }
    }

    private mutating func parseVersion() throws(LocatedFault) {
        let start = token.start
        if syntax.blocks.count > 1 || !syntax.functions.isEmpty {
            throw LocatedFault(start, "rules_version must be the first statement.")
        }
        try advance()
        try expect("=", "behind rules_version")
        guard case .string(let text) = token.kind, text == [0x31] || text == [0x32] else {
            throw fault("The version is '1' or '2'.", "Write: rules_version = '2';")
        }
        syntax.version = text == [0x32] ? 2 : 1
        try advance()
        try expectSemicolon("the version")
    }

    private mutating func parseService() throws(LocatedFault) {
        let start = token.start
        try advance()
        let nameStart = token.start
        var name = ""
        while !isSymbol("{"), token.kind != .end {
            name += String(scalars: lexer.scalars[token.start..<token.end])
            try advance()
        }
        if name != "firebase.storage" {
            report(
                nameStart,
                "The service is firebase.storage.",
                "Rules of databases and of Firestore are other files."
            )
        }
        try expect("{", "behind the service")
        syntax.blocks.append(FileBlock(parent: 0, offset: start, matchDepth: 0))
        parseStatements(of: syntax.blocks.count - 1)
    }

    /// Parses what stands in a block, to its closing brace.
    private mutating func parseStatements(of block: Int) {
        while !isSymbol("}") {
            if token.kind == .end {
                report(
                    syntax.blocks[block].offset,
                    "This block is never closed.",
                    "Close it with }."
                )
                return
            }
            do throws(LocatedFault) { try parseStatement(in: block) } catch {
                report(error)
                recover(isTop: false)
            }
        }
        skip()
    }

    private mutating func parseStatement(in block: Int) throws(LocatedFault) {
        if isName("match") { return try parseMatch(in: block) }
        if isName("function") { return try parseFunction(in: block) }
        guard isName("allow") else { throw unexpected("Expected 'match', 'allow' or 'function'") }
        if syntax.blocks[block].matchDepth == 0 {
            throw fault(
                "'allow' stands in no match.",
                "Put it into: match /b/{bucket}/o/{path=**} {"
            )
        }
        try parseAllow(in: block)
    }

    /// Skips to where a statement may begin: behind a semicolon or a block, or at a word that begins one.
    private mutating func recover(isTop: Bool) {
        var depth = 0
        while token.kind != .end {
            if isSymbol("{") { depth += 1 }
            if isSymbol("}"), openMapCount > 0 {
                openMapCount -= 1
            } else if isSymbol("}") {
                if depth == 0, !isTop { return }
                depth -= 1
                if depth <= 0 { return skip() }
            }
            if depth == 0, isSymbol(";") {
                openMapCount = 0
                return skip()
            }
            let start = token.start
            skip()
            let begins = ["match", "allow", "function", "service"].contains { isName($0) }
            if depth == 0, begins, token.start > start { return }
        }
    }

    private mutating func parseMatch(in parent: Int) throws(LocatedFault) {
        let start = token.start
        let depth = syntax.blocks[parent].matchDepth + 1
        try advance()
        let segments = try parsePattern()
        if depth > FileRulesLimits.matchDepth {
            throw LocatedFault(
                start,
                "Match blocks stand more than \(FileRulesLimits.matchDepth) deep.",
                "Write several segments in one match."
            )
        }
        try expect("{", "behind the pattern")
        syntax.blocks.append(
            FileBlock(parent: parent, segments: segments, offset: start, matchDepth: depth)
        )
        parseStatements(of: syntax.blocks.count - 1)
    }

    private mutating func parseAllow(in block: Int) throws(LocatedFault) {
        var allow = AllowStatement(block: block, offset: token.start)
        repeat {
            try advance()
            guard case .name(let word) = token.kind else {
                throw unexpected("Expected what is allowed")
            }
            guard let operations = FileOperation.covered(by: word) else {
                let known = ["read", "write"] + FileOperation.allCases.map(\.rawValue)
                let near = Spelling.nearest(to: word, among: known)
                throw fault(
                    "'\(word.prefix(40))' cannot be allowed.",
                    near.map { "Did you mean '\($0)'?" }
                        ?? "There are \(known.joined(separator: ", "))."
                )
            }
            allow.words.append(FileFunction.Named(name: word, offset: token.start))
            allow.operations.formUnion(operations)
            try advance()
        } while isSymbol(",")
        if isSymbol(":") {
            try advance()
            if !isName("if") { throw unexpected("Expected 'if' behind ':'") }
            try advance()
            allow.condition = try parseExpression()
        } else if isName("if") {
            throw fault("Expected ':' before 'if'.")
        }
        try expectSemicolon("'allow'")
        syntax.blocks[block].allows.append(syntax.allows.count)
        syntax.allows.append(allow)
    }

    private mutating func parseFunction(in block: Int) throws(LocatedFault) {
        try advance()
        let name = try readName("the name of the function")
        var function = FileFunction(name: name.name, offset: name.offset, block: block)
        let number = syntax.functions.count
        try expect("(", "behind the name of the function")
        while !isSymbol(")") {
            function.parameters.append(try readName("a parameter or ')'"))
            if isSymbol(",") {
                try advance()
            } else if !isSymbol(")") {
                throw unexpected("Expected ',' or ')'")
            }
        }
        try advance()
        try expect("{", "before the body of the function")
        // It is known, whatever is wrong in its body.
        syntax.blocks[block].functions.append(number)
        syntax.functions.append(function)
        do throws(LocatedFault) { try parseBody(of: number) } catch {
            report(error)
            recoverBody()
        }
    }

    private mutating func parseBody(of number: Int) throws(LocatedFault) {
        while !isSymbol("}") {
            if isName("let") {
                try advance()
                let name = try readName("a name behind 'let'")
                try expect("=", "behind the name")
                let value = try parseExpression()
                syntax.functions[number].lets.append((name, value))
                try expectSemicolon("'let'")
            } else if isName("return"), syntax.functions[number].result == nil {
                try advance()
                syntax.functions[number].result = try parseExpression()
                try expectSemicolon("'return'")
                if !isSymbol("}") { throw unexpected("Expected '}' behind 'return'") }
            } else {
                throw unexpected("Expected 'let' or 'return'")
            }
        }
        if syntax.functions[number].result == nil {
            report(
                token.start,
                "Function '\(syntax.functions[number].name)' returns nothing.",
                "End it with: return EXPRESSION;"
            )
        }
        try advance()
    }

    /// Skips to behind the body of a function.
    private mutating func recoverBody() {
        var depth = openMapCount
        openMapCount = 0
        while token.kind != .end, depth > 0 || !isSymbol("}") {
            if depth == 0, ["match", "allow", "function"].contains(where: { isName($0) }) {
                return
            }
            if isSymbol("{") { depth += 1 }
            if isSymbol("}") { depth -= 1 }
            skip()
        }
        skip()
    }

    // MARK: Patterns

    /// Reads `/a/{b}/{c=**}`, whose first slash is the token.
    private mutating func parsePattern() throws(LocatedFault) -> [PatternSegment] {
        guard isSymbol("/") else { throw unexpected("Expected '/' behind 'match'") }
        var segments: [PatternSegment] = []
        lexer.offset = token.start
        do throws(LocatedFault) {
            while lexer.peek(0) == "/" {
                lexer.offset += 1
                segments.append(lexer.peek(0) == "{" ? try readCapture() : try readSegment())
            }
        } catch {
            // The rest of the pattern says nothing about what is in the block.
            while let scalar = lexer.peek(0), !scalar.properties.isWhitespace { lexer.offset += 1 }
            token = FileRulesToken(kind: .symbol("/"), start: token.start, end: lexer.offset)
            throw error
        }
        try advance()
        return segments
    }

    private mutating func readCapture() throws(LocatedFault) -> PatternSegment {
        let start = lexer.offset
        lexer.offset += 1
        let name = lexer.readName()
        let isRest = lexer.peek(0) == "=" && lexer.peek(1) == "*" && lexer.peek(2) == "*"
        if isRest { lexer.offset += 3 }
        guard lexer.peek(0) == "}", !name.isEmpty, !lexer.isDigit(name.unicodeScalars.first) else {
            throw LocatedFault(start, "A capture is {name} or {name=**}.")
        }
        lexer.offset += 1
        return isRest ? .rest(name) : .capture(name)
    }

    private mutating func readSegment() throws(LocatedFault) -> PatternSegment {
        let start = lexer.offset
        while let scalar = lexer.peek(0), !scalar.properties.isWhitespace,
            !"/{};()\"',".unicodeScalars.contains(scalar)
        {
            lexer.offset += 1
        }
        if lexer.offset == start {
            throw LocatedFault(
                start,
                "A pattern has an empty segment.",
                "Put a name or a {capture} behind each slash."
            )
        }
        return .literal(Array(String(scalars: lexer.scalars[start..<lexer.offset]).utf8))
    }

    // MARK: Expressions

    /// Adds an expression, and its number.
    mutating func add(_ kind: FileExpression.Kind, _ range: Range<Int>, _ operands: [Int] = [])
        throws(LocatedFault) -> Int
    {
        let depth = 1 + (operands.map { syntax.expressions[$0].depth }.max() ?? 0)
        if depth > FileRulesLimits.expressionNesting { throw Self.tooDeep(range.lowerBound) }
        syntax.expressions.append(FileExpression(kind: kind, range: range, depth: depth))
        return syntax.expressions.count - 1
    }

    static func tooDeep(_ offset: Int) -> LocatedFault {
        LocatedFault(
            offset,
            "This expression is nested deeper than \(FileRulesLimits.expressionNesting) levels.",
            "Move a part of it into a function."
        )
    }

    /// The range of an expression.
    func range(_ expression: Int) -> Range<Int> { syntax.expressions[expression].range }

    /// Lets an expression begin and end at the brackets around it.
    mutating func widen(_ expression: Int, to range: Range<Int>) {
        syntax.expressions[expression].range = range
    }

    /// Where the token before this one ended.
    var end: Int { previousEnd }
}
