import SecurityRules

/// Finds what loads and is probably not meant.
///
/// A comment `// hearth:allow CODE` on the line of a finding or on the one above silences it, `// hearth:allow-file CODE`
/// every finding of the file.
struct FileRulesLinter {
    private let syntax: FileSyntax
    private let source: RulesText
    private var found: [(code: FileLintCode, offset: Int, message: String, hint: String)] = []
    /// Where each pattern stands first, the names of its captures left out.
    private var firstOffsets: [String: Int] = [:]
    /// The codes that comments silence, by the line of the comment; under 0 those of the whole file.
    private var allowances: [Int: Set<String>] = [:]

    /// In the order of the text, at most `FileRulesLimits.faultCount`.
    var warnings: [FileRulesWarning] {
        found.sorted { ($0.offset, $0.code.rawValue) < ($1.offset, $1.code.rawValue) }
            .map {
                let position = FileRulesPosition($0.offset, source)
                return FileRulesWarning(
                    code: $0.code,
                    position: position,
                    message: $0.message,
                    hint: $0.hint
                )
            }
            .filter { !isSilenced($0) }.prefix(FileRulesLimits.faultCount).map { $0 }
    }

    init(_ syntax: FileSyntax, _ source: RulesText, _ lexer: FileRulesLexer) {
        self.syntax = syntax
        self.source = source
        for (offset, words) in lexer.allowances {
            let line = offset.map { source.position(of: $0).line } ?? 0
            allowances[line, default: []].formUnion(words)
        }
        for offset in lexer.idleEscapes {
            add(
                .idleEscape,
                offset,
                "The backslash adds nothing: the string holds the character alone, which in a pattern may mean more.",
                "Write the backslash twice, or put the character into [ ]."
            )
        }
        for block in syntax.blocks { visit(block) }
        for allow in syntax.allows { visit(allow) }
        for expression in syntax.expressions { visit(expression) }
        findUnusedFunctions()
    }

    private mutating func add(
        _ code: FileLintCode,
        _ offset: Int,
        _ message: String,
        _ hint: String
    ) {
        found.append((code, offset, message, hint))
    }

    private func isSilenced(_ warning: FileRulesWarning) -> Bool {
        let line = warning.position.line
        return [0, line, line - 1].contains {
            allowances[$0]?.contains(warning.code.rawValue) == true
        }
    }

    // MARK: Blocks

    private mutating func visit(_ block: FileBlock) {
        let names = block.captures
        let ownCount = block.segments.count { if case .literal = $0 { false } else { true } }
        for name in names.suffix(ownCount) where names.dropLast(ownCount).contains(name) {
            add(
                .shadowedCapture,
                block.offset,
                "The capture '\(name)' hides that of a block around this one.",
                "Give it a name of its own."
            )
        }
        if block.allows.isEmpty { return }
        let head: [[UInt8]?] = [Array("b".utf8), nil, Array("o".utf8)]
        for (segment, wanted) in zip(block.pattern, head) {
            if case .rest = segment { break }
            guard case .literal(let text) = segment, let wanted, text != wanted else { continue }
            add(
                .neverMatches,
                block.offset,
                "Every path begins with /b/BUCKET/o, so this pattern matches none.",
                "Put the match into: match /b/{bucket}/o {"
            )
            return
        }
        if block.pattern.count < 3,
            !block.pattern.contains(where: { if case .rest = $0 { true } else { false } })
        {
            add(
                .neverMatches,
                block.offset,
                "Every path begins with /b/BUCKET/o, so this pattern matches none.",
                "Allow in: match /b/{bucket}/o/{path=**} {"
            )
        }
        let shape = block.pattern.map { segment in
            switch segment {
            case .literal: segment.description
            case .capture: "/{}"
            case .rest: "/{=**}"
            }
        }.joined()
        guard let first = firstOffsets[shape] else {
            firstOffsets[shape] = block.offset
            return
        }
        let line = source.position(of: first).line
        add(
            .duplicateMatch,
            block.offset,
            "The pattern \(shape.prefix(80)) stands at line \(line) too; what either allows is allowed.",
            "Put their 'allow' statements into one match."
        )
    }

    // MARK: Conditions

    private mutating func visit(_ allow: AllowStatement) {
        if syntax.version == 1, let word = allow.words.first(where: { $0.name == "list" }) {
            add(
                .listInVersion1,
                word.offset,
                "In version 1 nothing allows a list.",
                "Begin the file with: rules_version = '2';"
            )
        }
        let truth = allow.condition.map { SignedOutFlow(syntax).truth(of: $0, []) } ?? .always
        let writes = allow.operations.contains { $0 == .create || $0 == .update || $0 == .delete }
        switch truth {
        case .always:
            let what =
                writes
                ? "Every client, signed in or not, may write here."
                : "Every client, signed in or not, may read here."
            add(
                .openToAll,
                allow.offset,
                what,
                "Say who may: allow \(allow.words.map(\.name).joined(separator: ", ")): if request.auth != null;"
            )
        case .unknown where writes:
            add(
                .signedOutWrite,
                allow.offset,
                "Nothing in the condition needs a signed-in user, so clients that are signed out may write.",
                "Begin the condition with: request.auth != null &&"
            )
        case .never where allow.condition.map { isConstant($0) } == false, .unknown: break
        case .never:
            let isFalse = allow.condition.map { syntax.expressions[$0].isLiteralFalse } ?? false
            if !isFalse {
                add(
                    .constantCondition,
                    allow.offset,
                    "The condition is never true.",
                    "Write 'if false', or leave the statement out."
                )
            }
        }
    }

    /// Whether an expression looks at nothing of the request.
    private func isConstant(_ number: Int) -> Bool {
        var waiting = [number]
        while let next = waiting.popLast() {
            switch syntax.expressions[next].kind {
            case .request, .requestMember, .resource, .capture, .local, .function, .lookup,
                .builtin(.firestoreGet, _), .builtin(.firestoreExists, _):
                return false
            default: waiting += syntax.expressions[next].operands
            }
        }
        return true
    }

    // MARK: Expressions

    private mutating func visit(_ expression: FileExpression) {
        let offset = expression.range.lowerBound
        switch expression.kind {
        case .lookup:
            add(
                .databaseLookup,
                offset,
                "Firebase refuses a file that reads a database by database.get or database.exists.",
                "It works in Hearth alone; keep a file without it for Firebase."
            )
        case .builtin(.firestoreGet, _), .builtin(.firestoreExists, _):
            add(
                .firestoreLookup,
                offset,
                "Hearth has no Firestore: this is an error whenever it is evaluated.",
                "Read Hearth's database: database.get(/path)."
            )
        case .member(let base, let name): visitMember(name, of: base)
        case .pattern(_, _, _, let arguments):
            guard case .constant(.string(let text)) = syntax.expressions[arguments[0]].kind else {
                return
            }
            visitPattern(text, arguments[0], expression)
        default: return
        }
    }

    private mutating func visitMember(_ name: String, of base: Int) {
        let offset = syntax.expressions[base].range.lowerBound
        let known: [String]
        let what: String
        switch syntax.expressions[base].kind {
        case .request: (known, what) = (RequestMember.allCases.map(\.rawValue), "request")
        case .resource, .requestMember(.resource):
            (known, what) = (FileResource.members, "resource")
        case .requestMember(.auth): (known, what) = (["uid", "token"], "request.auth")
        default: return
        }
        if known.contains(name) { return }
        let near = Spelling.nearest(to: name, among: known).map { "Did you mean '\($0)'?" }
        add(
            .unknownMember,
            offset,
            "\(what) has no member '\(name.prefix(40))': this is always an error.",
            near ?? "There are \(known.joined(separator: ", "))."
        )
    }

    private mutating func visitPattern(
        _ text: [UInt8],
        _ argument: Int,
        _ expression: FileExpression
    ) {
        guard case .pattern(.matches, _, _, _) = expression.kind else { return }
        var plain = String(decoding: text, as: UTF8.self)
        if plain.hasPrefix("^") { plain.removeFirst() }
        if plain.hasSuffix("$") { plain.removeLast() }
        if plain.isEmpty || plain.contains(where: { ".*+?[](){}|\\^$".contains($0) }) { return }
        add(
            .wholeText,
            syntax.expressions[argument].range.lowerBound,
            "matches() compares the whole text: only '\(plain.prefix(40))' itself matches.",
            "Write .* where anything may stand, or compare with ==."
        )
    }

    private mutating func findUnusedFunctions() {
        var used: Set<Int> = []
        var waiting = syntax.allows.compactMap(\.condition)
        while let number = waiting.popLast() {
            let expression = syntax.expressions[number]
            waiting += expression.operands
            guard case .function(let callee, _) = expression.kind, used.insert(callee).inserted
            else { continue }
            waiting += syntax.functions[callee].lets.map(\.value)
            waiting += [syntax.functions[callee].result].compactMap { $0 }
        }
        for (index, function) in syntax.functions.enumerated() where !used.contains(index) {
            add(
                .unusedFunction,
                function.offset,
                "No condition calls function '\(function.name)'.",
                "Remove it."
            )
        }
    }
}

extension FileExpression {
    fileprivate var isLiteralFalse: Bool {
        if case .constant(.bool(false)) = kind { true } else { false }
    }
}

/// What a condition can be when the user is signed out: `request.auth` is null, and all else is unknown.
struct SignedOutFlow {
    /// Whether a value is true.
    enum Truth {
        case always
        /// False, an error, or not a bool.
        case never
        case unknown
    }

    private enum Known {
        case null
        case bool(Bool)
        case error
        case unknown
    }

    private let syntax: FileSyntax
    /// Expressions that may be looked at; the rest is unknown.
    private let limit = 1_000

    init(_ syntax: FileSyntax) { self.syntax = syntax }

    /// What an expression can be; `locals` are those of its function.
    func truth(of expression: Int, _ locals: [Int]) -> Truth {
        var left = limit
        return switch known(expression, [], &left) {
        case .bool(true): .always
        case .bool(false), .error, .null: .never
        case .unknown: .unknown
        }
    }

    /// Recursion is bounded by the depth of expressions times that of calls.
    private func known(_ number: Int, _ locals: [Known], _ left: inout Int) -> Known {
        left -= 1
        if left < 0 { return .unknown }
        switch syntax.expressions[number].kind {
        case .constant(.null), .requestMember(.auth): return .null
        case .constant(.bool(let value)): return .bool(value)
        case .local(let slot): return locals.indices.contains(slot) ? locals[slot] : .unknown
        case .and(let operands): return chain(operands, false, locals, &left)
        case .or(let operands): return chain(operands, true, locals, &left)
        case .not(let operand):
            switch known(operand, locals, &left) {
            case .bool(let value): return .bool(!value)
            case .unknown: return .unknown
            case .null, .error: return .error
            }
        case .binary(let symbol, let a, let b):
            return binary(symbol, known(a, locals, &left), known(b, locals, &left))
        case .isType(let operand, let type):
            if case .null = known(operand, locals, &left) { return .bool(type == .null) }
            return strict([operand], locals, &left)
        case .ternary(let condition, let yes, let no):
            switch known(condition, locals, &left) {
            case .bool(let value): return known(value ? yes : no, locals, &left)
            case .null, .error: return .error
            case .unknown: return join(known(yes, locals, &left), known(no, locals, &left))
            }
        case .function(let callee, let arguments):
            let function = syntax.functions[callee]
            var inner = arguments.map { known($0, locals, &left) }
            for (_, value) in function.lets { inner.append(known(value, inner, &left)) }
            return function.result.map { known($0, inner, &left) } ?? .unknown
        case .member(let base, _), .index(let base, _), .method(_, let base, _),
            .pattern(_, let base, _, _):
            // Null has no members and no functions.
            if case .null = known(base, locals, &left) { return .error }
            return strict(syntax.expressions[number].operands, locals, &left)
        case .builtin(.debug, let arguments): return known(arguments[0], locals, &left)
        case .builtin(.firestoreGet, _), .builtin(.firestoreExists, _): return .error
        case .path(let parts):
            for case .expression(let operand) in parts {
                if case .null = known(operand, locals, &left) { return .error }
            }
            return strict(syntax.expressions[number].operands, locals, &left)
        default: return strict(syntax.expressions[number].operands, locals, &left)
        }
    }

    /// An error where an operand is one, else unknown.
    private func strict(_ operands: [Int], _ locals: [Known], _ left: inout Int) -> Known {
        for operand in operands {
            if case .error = known(operand, locals, &left) { return .error }
        }
        return .unknown
    }

    private func chain(_ operands: [Int], _ deciding: Bool, _ locals: [Known], _ left: inout Int)
        -> Known
    {
        var result = Known.bool(!deciding)
        for operand in operands {
            switch known(operand, locals, &left) {
            case .bool(deciding): return .bool(deciding)
            case .bool: break
            case .null, .error:
                // An error wins over what is unknown: then the whole is no more true.
                if !deciding { result = .error } else if case .bool = result { result = .error }
            case .unknown:
                if deciding { result = .unknown } else if case .bool = result { result = .unknown }
            }
        }
        return result
    }

    private func binary(_ symbol: FileOperator, _ a: Known, _ b: Known) -> Known {
        switch (symbol, a, b) {
        case (_, .error, _), (_, _, .error): return .error
        case (.equal, .null, .null): return .bool(true)
        case (.notEqual, .null, .null): return .bool(false)
        case (.equal, _, _), (.notEqual, _, _), (.in, _, .unknown): return .unknown
        case (.in, _, _): return .error
        // Null has no order and no sum.
        case (_, .null, _), (_, _, .null): return .error
        default: return .unknown
        }
    }

    private func join(_ a: Known, _ b: Known) -> Known {
        switch (a, b) {
        case (.bool(let x), .bool(let y)) where x == y: a
        case (.error, .error), (.null, .null): a
        // Neither is true.
        case (.error, .bool(false)), (.bool(false), .error), (.null, .bool(false)),
            (.bool(false), .null),
            (.error, .null), (.null, .error):
            .error
        default: .unknown
        }
    }
}
