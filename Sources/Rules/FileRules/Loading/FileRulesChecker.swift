import SecurityRules

/// Resolves the names of a parsed text to what they stand for, compiles literal patterns, and finds what cannot be.
///
/// A name is looked up among the parameters and `let`s of its function, then among the captures of its block and those
/// around it, then it is `request` or `resource`. A function sees the block that it stands in, not its callers.
struct FileRulesChecker {
    var syntax: FileSyntax
    private(set) var faults: [LocatedFault] = []
    private(set) var patterns: [Pattern] = []
    let text: RulesText

    /// The functions of each block by name.
    private var functions: [[String: Int]] = []
    /// Of each function, those that it calls.
    private(set) var calls: [[Int]] = []

    /// Of all patterns.
    private var patternStateCount = 0

    /// What is checked just now.
    private var block = 0
    private var locals: [String] = []
    private var function: Int?

    /// Checks a whole text.
    init(_ syntax: FileSyntax, _ text: RulesText) {
        self.syntax = syntax
        self.text = text
        calls = Array(repeating: [], count: syntax.functions.count)
        checkBlocks()
        collectFunctions()
        for index in syntax.functions.indices { checkFunction(index) }
        for allow in syntax.allows {
            (block, locals, function) = (allow.block, [], nil)
            if let condition = allow.condition { resolve(condition) }
        }
        checkCalls()
    }

    mutating func report(_ offset: Int, _ message: String, _ hint: String? = nil) {
        faults.append(LocatedFault(offset, message, hint))
    }

    // MARK: Blocks

    private mutating func checkBlocks() {
        for index in syntax.blocks.indices {
            let block = syntax.blocks[index]
            // Parents stand before what is in them.
            let outer = block.parent.map { syntax.blocks[$0].pattern } ?? []
            let pattern = outer + block.segments
            syntax.blocks[index].pattern = pattern
            if block.segments.isEmpty { continue }
            checkPattern(pattern, outer, block.offset)
        }
    }

    private mutating func checkPattern(
        _ pattern: [PatternSegment],
        _ outer: [PatternSegment],
        _ offset: Int
    ) {
        if pattern.count > FileRulesLimits.patternSegmentCount,
            outer.count <= FileRulesLimits.patternSegmentCount
        {
            report(
                offset,
                "The pattern has \(pattern.count) segments; at most \(FileRulesLimits.patternSegmentCount) are allowed."
            )
        }
        var own: Set<String> = []
        var captureCount = 0
        var restIndex: Int?
        for (index, segment) in pattern.enumerated() {
            switch segment {
            case .literal: continue
            case .capture(let name), .rest(let name):
                captureCount += 1
                if index >= outer.count, !own.insert(name).inserted {
                    report(
                        offset,
                        "The pattern captures '\(name)' twice.",
                        "Give each capture a name of its own."
                    )
                }
            }
            guard case .rest = segment else { continue }
            if restIndex != nil, index >= outer.count {
                report(
                    offset,
                    "The pattern has {...=**} twice.",
                    "One of a pattern can take several segments."
                )
            }
            restIndex = index
        }
        if captureCount > FileRulesLimits.captureCount, outer.count < pattern.count {
            report(
                offset,
                "The pattern has \(captureCount) captures; at most \(FileRulesLimits.captureCount) are allowed."
            )
        }
        if syntax.version == 1, let restIndex, restIndex < pattern.count - 1 {
            report(
                offset,
                "In version 1 nothing may follow {...=**}.",
                "Begin the file with: rules_version = '2';"
            )
        }
    }

    private mutating func collectFunctions() {
        functions = Array(repeating: [:], count: syntax.blocks.count)
        for (index, function) in syntax.functions.enumerated() {
            if functions[function.block][function.name] != nil {
                report(
                    function.offset,
                    "Function '\(function.name)' is declared twice in this block.",
                    "Give it another name."
                )
            } else {
                functions[function.block][function.name] = index
            }
        }
    }

    private mutating func checkFunction(_ index: Int) {
        let declared = syntax.functions[index]
        (block, locals, function) = (declared.block, [], index)
        if declared.parameters.count > FileRulesLimits.parameterCount {
            report(
                declared.offset,
                "Function '\(declared.name)' has \(declared.parameters.count) parameters; at most \(FileRulesLimits.parameterCount) are allowed."
            )
        }
        if declared.lets.count > FileRulesLimits.letCount {
            report(
                declared.offset,
                "Function '\(declared.name)' has \(declared.lets.count) 'let's; at most \(FileRulesLimits.letCount) are allowed."
            )
        }
        for parameter in declared.parameters { declare(parameter) }
        for (name, value) in declared.lets {
            resolve(value)
            declare(name)
        }
        if let result = declared.result { resolve(result) }
    }

    private mutating func declare(_ name: FileFunction.Named) {
        if locals.contains(name.name) {
            report(
                name.offset,
                "'\(name.name)' is declared twice in this function.",
                "Give it another name."
            )
        }
        locals.append(name.name)
    }

    /// Refuses recursion, and chains of calls that are too long.
    private mutating func checkCalls() {
        // Calls below each function; nil until known.
        var heights: [Int?] = Array(repeating: nil, count: calls.count)
        var isOpen = Array(repeating: false, count: calls.count)
        for start in calls.indices where heights[start] == nil {
            // Functions that are under way, each with how many of its calls were followed.
            var path: [(function: Int, next: Int)] = [(start, 0)]
            isOpen[start] = true
            while let (function, next) = path.last {
                if next == calls[function].count {
                    let height = 1 + (calls[function].compactMap { heights[$0] }.max() ?? 0)
                    heights[function] = height
                    if height == FileRulesLimits.callDepth + 1 {
                        report(
                            syntax.functions[function].offset,
                            "Functions call one another \(height) deep from here; at most \(FileRulesLimits.callDepth) are allowed."
                        )
                    }
                    path.removeLast()
                    isOpen[function] = false
                    continue
                }
                path[path.count - 1].next += 1
                let callee = calls[function][next]
                if isOpen[callee] {
                    let declared = syntax.functions[callee]
                    report(
                        declared.offset,
                        "Function '\(declared.name)' calls itself\(callee == function ? "" : " by others").",
                        "Rules have no recursion."
                    )
                } else if heights[callee] == nil {
                    path.append((callee, 0))
                    isOpen[callee] = true
                }
            }
        }
    }

    // MARK: Names

    private func isVariable(_ name: String) -> Bool {
        locals.contains(name) || syntax.blocks[block].captures.contains(name)
            || name == "request" || name == "resource"
    }

    private func userFunction(_ name: String) -> Int? {
        var index: Int? = block
        while let at = index {
            if let found = functions[at][name] { return found }
            index = syntax.blocks[at].parent
        }
        return nil
    }

    /// Resolves an expression and its operands. Recursion is bounded by their depth.
    private mutating func resolve(_ index: Int) {
        let expression = syntax.expressions[index]
        let start = expression.range.lowerBound
        switch expression.kind {
        case .name(let name): syntax.expressions[index].kind = variable(name, start)
        case .call(let base?, let name, let arguments):
            if case .name(let space) = syntax.expressions[base].kind, !isVariable(space),
                Builtin.namespaces[space] != nil
            {
                resolveNamespace(index, space, name, arguments)
            } else if resolveDatabase(index, base, name, arguments) {
                return
            } else {
                resolveMethod(index, base, name, arguments)
            }
        case .call(nil, let name, let arguments): resolveCall(index, name, arguments)
        case .member(let base, let name):
            resolve(base)
            if case .request = syntax.expressions[base].kind,
                let member = RequestMember(rawValue: name)
            {
                syntax.expressions[index].kind = .requestMember(member)
            }
        default: for operand in expression.operands { resolve(operand) }
        }
    }

    private mutating func variable(_ name: String, _ offset: Int) -> FileExpression.Kind {
        if let slot = locals.firstIndex(of: name) { return .local(slot) }
        let captures = syntax.blocks[block].captures
        if let slot = captures.lastIndex(of: name) { return .capture(slot) }
        if name == "request" { return .request }
        if name == "resource" { return .resource }
        if Builtin.namespaces[name] != nil {
            report(
                offset,
                "'\(name)' has functions, and is no value.",
                "Call one, such as \(name).\(Builtin.namespaces[name]?[0] ?? "")(...)."
            )
        } else if userFunction(name) != nil || Builtin.plain.contains(name) {
            report(offset, "'\(name)' is a function.", "Call it: \(name)(...).")
        } else {
            report(
                offset,
                "Unknown name '\(name.prefix(40))'.",
                hint(name, ["request", "resource"] + locals + captures)
            )
        }
        return .constant(.null)
    }

    private func hint(_ name: String, _ known: [String]) -> String {
        let others = [
            "auth": "The signed-in user is request.auth.", "now": "The time is request.time.",
            "startsWith": "Write matches('START.*').", "endsWith": "Write matches('.*END').",
            "includes": "Write matches('.*PART.*'), or x in list.",
            "contains": "Write matches('.*PART.*'), or x in list.",
            "length": "Did you mean 'size'?",
            "data": "The object is resource, and as it will be request.resource.",
            "newData": "The object as it will be is request.resource.",
            "get": "Hearth reads a database by database.get(/path).",
            "exists": "Hearth looks into a database by database.exists(/path).",
        ]
        return others[name] ?? Spelling.nearest(to: name, among: known).map {
            "Did you mean '\($0)'?"
        }
            ?? "Known here are \(known.prefix(12).joined(separator: ", "))."
    }

    // MARK: Calls

    private mutating func check(_ count: Int, _ wanted: Int, _ name: FileFunction.Named) -> Bool {
        if count == wanted { return true }
        report(
            name.offset,
            "'\(name.name)' takes \(wanted) argument\(wanted == 1 ? "" : "s"), not \(count)."
        )
        return false
    }

    private mutating func resolveCall(_ index: Int, _ name: FileFunction.Named, _ arguments: [Int])
    {
        for argument in arguments { resolve(argument) }
        if let callee = userFunction(name.name) {
            guard check(arguments.count, syntax.functions[callee].parameters.count, name) else {
                return
            }
            if let function { calls[function].append(callee) }
            syntax.expressions[index].kind = .function(callee, arguments)
        } else if let builtin = Builtin(rawValue: name.name) {
            guard check(arguments.count, builtin.argumentCount, name) else { return }
            syntax.expressions[index].kind = .builtin(builtin, arguments)
        } else {
            var known = Builtin.plain
            var at: Int? = block
            while let outer = at {
                known += functions[outer].keys.sorted()
                at = syntax.blocks[outer].parent
            }
            report(
                name.offset,
                "Unknown function '\(name.name.prefix(40))'.",
                hint(name.name, known)
            )
        }
    }

    private mutating func resolveNamespace(
        _ index: Int,
        _ space: String,
        _ name: FileFunction.Named,
        _ arguments: [Int]
    ) {
        for argument in arguments { resolve(argument) }
        if space == "database", let kind = LookupKind(rawValue: name.name) {
            guard check(arguments.count, 1, name) else { return }
            syntax.expressions[index].kind = .lookup(kind, database: nil, path: arguments[0])
        } else if let builtin = Builtin(rawValue: "\(space).\(name.name)") {
            guard check(arguments.count, builtin.argumentCount, name) else { return }
            syntax.expressions[index].kind = .builtin(builtin, arguments)
        } else if space == "database", name.name == "of" {
            report(name.offset, "database.of('name') is followed by .get(path) or .exists(path).")
        } else {
            let known = Builtin.namespaces[space] ?? []
            report(
                name.offset,
                "'\(space)' has no function '\(name.name.prefix(40))'.",
                hint(name.name, known)
            )
        }
    }

    /// Resolves `database.of('name').get(path)`; false for anything else.
    private mutating func resolveDatabase(
        _ index: Int,
        _ base: Int,
        _ name: FileFunction.Named,
        _ arguments: [Int]
    ) -> Bool {
        guard case .call(let space?, let of, let names) = syntax.expressions[base].kind,
            of.name == "of",
            case .name("database") = syntax.expressions[space].kind, !isVariable("database")
        else { return false }
        for operand in names + arguments { resolve(operand) }
        guard check(names.count, 1, of) else { return true }
        guard let kind = LookupKind(rawValue: name.name) else {
            report(
                name.offset,
                "A database has no function '\(name.name.prefix(40))'.",
                "There are get(path) and exists(path)."
            )
            return true
        }
        guard check(arguments.count, 1, name) else { return true }
        syntax.expressions[index].kind = .lookup(kind, database: names[0], path: arguments[0])
        return true
    }

    private mutating func resolveMethod(
        _ index: Int,
        _ base: Int,
        _ name: FileFunction.Named,
        _ arguments: [Int]
    ) {
        for operand in [base] + arguments { resolve(operand) }
        guard let method = ValueMethod(rawValue: name.name) else {
            let known = ValueMethod.allCases.map(\.rawValue)
            return report(
                name.offset,
                "No value has a function '\(name.name.prefix(40))'.",
                Spelling.nearest(to: name.name, among: known).map { "Did you mean '\($0)'?" }
                    ?? hint(
                        name.name,
                        ["size", "matches", "split", "get", "keys", "hasAny", "hasOnly"]
                    )
            )
        }
        guard check(arguments.count, method.argumentCount, name) else { return }
        syntax.expressions[index].kind = .method(method, base, arguments)
        guard method.takesPattern,
            case .constant(.string(let pattern)) = syntax.expressions[arguments[0]].kind
        else { return }
        let scalars = Array(String(decoding: pattern, as: UTF8.self).unicodeScalars)
        do throws(LocatedFault) {
            let compiled = try Pattern(whole: scalars[...])
            patternStateCount += compiled.stateCount
            if patternStateCount > FileRulesLimits.patternStateCount {
                throw LocatedFault(
                    0,
                    "The patterns of the file unroll to too many states.",
                    "Repeat less in them."
                )
            }
            patterns.append(compiled)
            syntax.expressions[index].kind = .pattern(method, base, patterns.count - 1, arguments)
        } catch {
            // Where no escape stands before it, the place in the literal is the place in the pattern.
            let range = syntax.expressions[arguments[0]].range
            let isPlain = range.count == scalars.count + 2
            report(range.lowerBound + (isPlain ? 1 + error.offset : 0), error.message, error.hint)
        }
    }
}

extension FileExpression {
    /// The numbers of its operands, in the order of the text.
    var operands: [Int] {
        switch kind {
        case .constant, .name, .request, .resource, .requestMember, .capture, .local: []
        case .list(let operands), .and(let operands), .or(let operands), .function(_, let operands),
            .builtin(_, let operands):
            operands
        case .map(let members): members.flatMap { [$0.key, $0.value] }
        case .path(let parts):
            parts.compactMap { part in
                if case .expression(let operand) = part { operand } else { nil }
            }
        case .member(let base, _), .not(let base), .negate(let base), .isType(let base, _): [base]
        case .index(let base, let index): [base, index]
        case .slice(let base, let from, let to): [base] + [from, to].compactMap { $0 }
        case .binary(_, let left, let right): [left, right]
        case .ternary(let condition, let yes, let no): [condition, yes, no]
        case .call(let base, _, let arguments): [base].compactMap { $0 } + arguments
        case .method(_, let base, let arguments), .pattern(_, let base, _, let arguments):
            [base] + arguments
        case .lookup(_, let database, let path): [database].compactMap { $0 } + [path]
        }
    }
}
