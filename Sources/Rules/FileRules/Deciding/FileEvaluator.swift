import JSONTree

/// Evaluates conditions for one request.
///
/// An error ends the expression that it is in, but for three places, where it is a value like others: an operand of
/// `&&` or `||`, an argument of a function, and a `let`.
///
///     &&      | true   false  error        ||      | true  false  error
///     --------+--------------------        --------+-------------------
///     true    | true   false  error        true    | true  true   true
///     false   | false  false  false        false   | true  false  error
///     error   | error  false  error        error   | true  error  error
struct FileEvaluator {
    let rules: FileRuleset
    let request: FileRulesRequest
    let path: [[UInt8]]
    private var recorder: ObservationRecorder?
    var lookups: LookupStore

    /// Of this request, not of this condition.
    private let budget: FileRulesBudget
    private(set) var expressionsLeft: Int
    private(set) var workLeft: Int
    private(set) var overBudget: FileFailure?
    /// Expressions under way, one inside another, through all functions.
    private var depth = 0
    private(set) var debugged: [(position: FileRulesPosition, text: String)] = []

    private var captures: [FileValue] = []
    /// Parameters and `let`s of the functions under way, those of the innermost from `frame` on.
    private var locals: [Result<FileValue, FileFailure>] = []
    private var frame = 0

    /// Made where they are first asked for.
    private var authValue: Result<FileValue, FileFailure>?
    private var resourceValue: FileValue?
    private var newResourceValue: FileValue?

    init(
        _ rules: FileRuleset,
        _ request: FileRulesRequest,
        _ path: [[UInt8]],
        _ isRecorded: Bool,
        _ budget: FileRulesBudget,
        _ database: @escaping FileDatabaseLookup
    ) {
        self.budget = budget
        expressionsLeft = budget.expressionCount
        workLeft = budget.workByteCount
        self.rules = rules
        self.request = request
        self.path = path
        recorder = isRecorded ? ObservationRecorder() : nil
        lookups = LookupStore(database)
    }

    /// Tries an `allow` with what its pattern captured.
    mutating func run(_ allow: FileAllow, _ captures: [FileValue], _ names: [String])
        -> FileCandidate
    {
        self.captures = captures
        var result = FileCandidate.Result.value(true)
        if let condition = allow.expression {
            do throws(FileFailure) { result = .value(try evaluateBool(condition)) } catch {
                result = .error(error)
            }
        }
        return FileCandidate(
            allow: allow,
            bindings: zip(names, captures).map { ($0, $1.shown) },
            result: result,
            observations: recorder?.take() ?? []
        )
    }

    // MARK: Budgets and errors

    func failure(_ message: String, _ expression: Int) -> FileFailure {
        let offset = rules.syntax.expressions[expression].range.lowerBound
        return FileFailure(message: message, position: rules.position(offset))
    }

    private mutating func exhausted(
        _ expression: Int,
        _ message: String? = nil
    ) -> FileFailure {
        let usual =
            "The request takes more than \(budget.expressionCount) expressions, or more work than they may do."
        let failure = overBudget ?? failure(message ?? usual, expression)
        overBudget = failure
        return failure
    }

    /// Takes work that an expression is about to do, in bytes.
    mutating func spend(_ byteCount: Int, _ expression: Int) throws(FileFailure) {
        workLeft = max(workLeft - byteCount, -1)
        if workLeft < 0 { throw exhausted(expression) }
    }

    /// Takes expressions.
    mutating func spend(expressions count: Int, _ expression: Int) throws(FileFailure) {
        expressionsLeft = max(expressionsLeft - count, -1)
        if expressionsLeft < 0 || overBudget != nil {
            expressionsLeft = 0
            throw exhausted(expression)
        }
    }

    /// Lends the work that is left to a search of a pattern, whose steps are 64 bytes each.
    mutating func withSteps<R>(_ body: (inout Int) -> R) -> R {
        var steps = max(workLeft, 0) / 64
        defer { workLeft = steps * 64 }
        return body(&steps)
    }

    /// A list, set or map that may not be larger than values are.
    func checked(_ value: FileValue, _ expression: Int) throws(FileFailure) -> FileValue {
        if value.weight > FileRulesLimits.valueByteCount {
            throw failure(
                "A value is larger than \(FileRulesLimits.valueByteCount) bytes.",
                expression
            )
        }
        if value.depth > FileRulesLimits.valueDepth {
            throw failure(
                "A value is nested deeper than \(FileRulesLimits.valueDepth).",
                expression
            )
        }
        return value
    }

    mutating func note(_ value: FileValue, _ expression: Int) {
        if debugged.count == FileRulesLimits.debugCount { return }
        let offset = rules.syntax.expressions[expression].range.lowerBound
        debugged.append((rules.position(offset), value.shown))
    }

    // MARK: Expressions

    /// The value of an expression.
    mutating func evaluate(_ expression: Int) throws(FileFailure) -> FileValue {
        try spend(expressions: 1, expression)
        depth += 1
        defer { depth -= 1 }
        if depth > FileRulesLimits.evaluationDepth {
            throw exhausted(
                expression,
                "The request is evaluated deeper than \(FileRulesLimits.evaluationDepth) levels."
            )
        }
        guard recorder != nil, !rules.isLiteral(expression) else { return try compute(expression) }
        let number = recorder?.begin(expression) ?? 0
        do throws(FileFailure) {
            let value = try compute(expression)
            let truth: Bool? = if case .bool(let truth) = value { truth } else { nil }
            recorder?.end(number, .value(value.shown, truth: truth))
            return value
        } catch {
            recorder?.end(number, .error(error.message))
            throw error
        }
    }

    /// The value of an expression that must be a bool.
    private mutating func evaluateBool(_ expression: Int) throws(FileFailure) -> Bool {
        let value = try evaluate(expression)
        guard case .bool(let truth) = value else {
            throw failure("Expected a bool, got \(value.type.words).", expression)
        }
        return truth
    }

    private mutating func evaluate(all expressions: [Int]) throws(FileFailure) -> [FileValue] {
        var values: [FileValue] = []
        values.reserveCapacity(expressions.count)
        for expression in expressions { values.append(try evaluate(expression)) }
        return values
    }

    private mutating func compute(_ expression: Int) throws(FileFailure) -> FileValue {
        switch rules.syntax.expressions[expression].kind {
        case .constant(let value): return value
        case .capture(let slot): return captures[slot]
        case .local(let slot): return try locals[frame + slot].get()
        case .request: return try wholeRequest(expression)
        case .requestMember(let member): return try self.member(member, expression)
        case .resource: return resource()
        case .list(let elements):
            return try checked(.list(FileList(try evaluate(all: elements))), expression)
        case .map(let members): return try map(members, expression)
        case .path(let parts): return try pathLiteral(parts, expression)
        case .member(let base, let name):
            return try FileOperations.member(try evaluate(base), name, at: base, &self)
        case .index(let base, let index):
            let (base, index) = (try evaluate(base), try evaluate(index))
            return try FileOperations.element(base, index, expression, &self)
        case .slice(let base, let from, let to):
            let value = try evaluate(base)
            let start = try from.map { (index) throws(FileFailure) in try evaluate(index) }
            let end = try to.map { (index) throws(FileFailure) in try evaluate(index) }
            return try FileOperations.slice(value, start, end, expression, &self)
        case .not(let operand): return .bool(!(try evaluateBool(operand)))
        case .negate(let operand):
            return try FileOperations.negated(try evaluate(operand), expression, self)
        case .and(let operands): return .bool(try evaluateChain(operands, deciding: false))
        case .or(let operands): return .bool(try evaluateChain(operands, deciding: true))
        case .binary(let symbol, let left, let right):
            let (a, b) = (try evaluate(left), try evaluate(right))
            return try FileOperations.apply(symbol, a, b, expression, &self)
        case .isType(let operand, let type): return .bool(try evaluate(operand).is(type))
        case .ternary(let condition, let yes, let no):
            return try evaluate(try evaluateBool(condition) ? yes : no)
        case .function(let function, let arguments): return try call(function, arguments)
        case .method(let method, let base, let arguments):
            let receiver = try evaluate(base)
            let arguments = try evaluate(all: arguments)
            return try FileMethods.apply(method, receiver, arguments, expression, nil, &self)
        case .pattern(let method, let base, let pattern, let arguments):
            let receiver = try evaluate(base)
            let arguments = try evaluate(all: arguments)
            let compiled = rules.patterns[pattern]
            return try FileMethods.apply(method, receiver, arguments, expression, compiled, &self)
        case .builtin(let builtin, let arguments):
            return try FileBuiltins.apply(builtin, try evaluate(all: arguments), expression, &self)
        case .lookup(let kind, let database, let path):
            let name = try database.map { (name) throws(FileFailure) in try evaluate(name) }
            return try look(kind, name, try evaluate(path), expression)
        case .name, .call: preconditionFailure("the checker resolves names")
        }
    }

    /// `&&`, decided by a false operand, and `||`, decided by a true one, whatever stands before it.
    private mutating func evaluateChain(_ operands: [Int], deciding: Bool) throws(FileFailure)
        -> Bool
    {
        var first: FileFailure?
        for operand in operands {
            do throws(FileFailure) {
                if try evaluateBool(operand) == deciding { return deciding }
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
        return !deciding
    }

    private mutating func outcome(_ expression: Int) -> Result<FileValue, FileFailure> {
        do throws(FileFailure) { return .success(try evaluate(expression)) } catch {
            return .failure(error)
        }
    }

    private mutating func call(_ index: Int, _ arguments: [Int]) throws(FileFailure) -> FileValue {
        let function = rules.syntax.functions[index]
        let values = arguments.map { outcome($0) }
        let outer = (frame: frame, count: locals.count)
        frame = locals.count
        locals += values
        defer {
            locals.removeSubrange(outer.count...)
            frame = outer.frame
        }
        for (_, value) in function.lets { locals.append(outcome(value)) }
        guard let result = function.result else { preconditionFailure("a function returns") }
        return try evaluate(result)
    }

    private mutating func map(_ members: [(key: Int, value: Int)], _ expression: Int)
        throws(FileFailure) -> FileValue
    {
        var pairs: [(key: [UInt8], value: FileValue)] = []
        for (key, value) in members {
            let name = try evaluate(key)
            guard case .string(let text) = name else {
                throw failure("A key of a map must be a string, not \(name.type.words).", key)
            }
            pairs.append((text, try evaluate(value)))
        }
        return try checked(.map(FileMap(pairs)), expression)
    }

    private mutating func pathLiteral(
        _ parts: [FileExpression.PathPart],
        _ expression: Int
    ) throws(FileFailure) -> FileValue {
        var segments: [[UInt8]] = []
        for part in parts {
            switch part {
            case .literal(let text): segments.append(text)
            case .expression(let operand):
                switch try evaluate(operand) {
                case .string(let text) where !text.isEmpty: segments.append(text)
                case .string: throw failure("An empty string is no segment of a path.", operand)
                case .path(let inner): segments += inner
                case let value:
                    throw failure(
                        "A path takes in a string or a path, not \(value.type.words); use string().",
                        operand
                    )
                }
            }
        }
        return try checked(.path(segments), expression)
    }

    // MARK: The request

    private mutating func member(_ member: RequestMember, _ expression: Int) throws(FileFailure)
        -> FileValue
    {
        switch member {
        case .auth: return try auth(expression)
        case .method: return .text(request.operation.rawValue)
        case .params: return .map(FileMap([]))
        case .path: return .path(path)
        case .time: return .timestamp(NanoTime(request.time))
        case .resource:
            let value = newResourceValue ?? request.newResource?.value ?? .null
            newResourceValue = value
            return value
        }
    }

    private mutating func wholeRequest(_ expression: Int) throws(FileFailure) -> FileValue {
        var members: [(key: [UInt8], value: FileValue)] = []
        for name in RequestMember.allCases {
            members.append((Array(name.rawValue.utf8), try member(name, expression)))
        }
        return .map(FileMap(members))
    }

    private mutating func resource() -> FileValue {
        let value = resourceValue ?? request.resource?.value ?? .null
        resourceValue = value
        return value
    }

    private mutating func auth(_ expression: Int) throws(FileFailure) -> FileValue {
        if let authValue { return try authValue.get() }
        guard let auth = request.auth else { return .null }
        let result: Result<FileValue, FileFailure>
        do throws(JSONError) {
            let token = try FileValue(json: auth.claims)
            let members = [
                (Array("uid".utf8), FileValue.text(auth.uid)), (Array("token".utf8), token),
            ]
            result = .success(.map(FileMap(members)))
        } catch {
            result = .failure(failure("The claims of the token are no JSON.", expression))
        }
        authValue = result
        return try result.get()
    }
}

extension FileValueType {
    /// `a string`, as error texts have it.
    var words: String {
        switch self {
        case .null: "null"
        case .int: "an int"
        default: "a \(rawValue)"
        }
    }
}
