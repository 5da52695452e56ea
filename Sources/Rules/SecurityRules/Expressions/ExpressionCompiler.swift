import JSONTree

/// A wildcard of a rule's path.
struct Capture: Equatable, Sendable {
    /// With its `$`.
    let name: String
    /// Which key of the path it took.
    let keyIndex: Int
}

/// Checks the types of an expression and turns it into a program.
///
/// Collects every fault; after one, the operand has the type `error`, which satisfies its parents.
/// Recursion is bounded by `RulesLimits.expressionNesting`.
struct ExpressionCompiler {
    /// A checked piece: its type and the operation that computes it.
    struct Piece {
        let type: ValueType
        let operation: OperationIndex
    }

    private let kind: RuleKind
    /// The wildcards of the rule's own path.
    private let captures: [Capture]
    private let source: QuotedText
    private let text: RulesText
    var builder = ProgramBuilder()

    /// With offsets in the rules text.
    private(set) var faults: [LocatedFault] = []
    /// With offsets in the rules text.
    private(set) var warnings: [LocatedWarning] = []
    /// The expression as parsed; nil until it is, and when it cannot be.
    private(set) var syntax: Expression?

    init(_ source: QuotedText, in text: RulesText, _ kind: RuleKind, _ captures: [Capture]) {
        self.source = source
        self.text = text
        self.kind = kind
        self.captures = captures
    }

    /// Parses, checks and compiles the whole rule; nil when there are faults.
    mutating func compileRule() -> Program? {
        do throws(LocatedFault) {
            if source.string.utf8.count > RulesLimits.expressionByteCount {
                throw LocatedFault(
                    0,
                    "Expression is longer than \(RulesLimits.expressionByteCount) bytes."
                )
            }
            let expression = try ExpressionParser.parse(source.scalars)
            syntax = expression
            let piece = compile(expression)
            if !piece.type.isBoolean {
                report(
                    expression.start,
                    "Expression must evaluate to a boolean.",
                    piece.type == .auth || piece.type == .value
                        ? "Compare it, as with == true." : nil
                )
            }
            return faults.isEmpty ? Program(builder, entry: piece.operation) : nil
        } catch {
            report(error.offset, error.message, error.hint)
            return nil
        }
    }

    /// Checks one expression and everything in it.
    mutating func compile(_ expression: Expression) -> Piece {
        switch expression.kind {
        case .null: return constant(.null, .null, expression)
        case .boolean(let value): return emit(.boolean(value), .boolean, expression)
        case .number(let value): return constant(.number(value), .number, expression)
        case .string(let value): return constant(.text(Array(value.utf8)), .string, expression)
        case .pattern(let body, let flags): return compilePattern(body, flags, expression)
        case .array(let elements):
            for element in elements { _ = compile(element) }
            report(expression.start, "Unexpected array literal.")
            return failed(expression)
        case .name(let name): return compileVariable(name, expression)
        case .member(let base, let name, let offset):
            return compileMember(base, name, offset, expression)
        case .index(let base, let argument): return compileIndex(base, argument, expression)
        case .call(let callee, let arguments): return compileCall(callee, arguments, expression)
        case .not(let operand): return compileNot(operand, expression)
        case .negate(let operand): return compileNegation(operand, expression)
        case .binary(let symbol, let left, let right):
            return compileBinary(symbol, left, right, expression)
        case .logic(let symbol, let operands): return compileLogic(symbol, operands, expression)
        case .ternary(let condition, let yes, let no):
            return compileTernary(condition, yes, no, expression)
        }
    }

    /// Notes a fault at an offset of the expression.
    mutating func report(_ offset: Int, _ message: String, _ hint: String? = nil) {
        faults.append(LocatedFault(source.offsets[offset], message, hint))
    }

    /// Notes something that loads and rarely means what was meant.
    mutating func warn(_ code: LintCode, _ offset: Int, _ message: String, _ hint: String? = nil) {
        warnings.append(LocatedWarning(code, source.offsets[offset], message, hint))
    }

    mutating func emit(
        _ operation: Operation,
        _ type: ValueType,
        _ expression: Expression
    ) -> Piece {
        let (line, column) = text.position(of: source.offsets[expression.start])
        let span = SourceSpan(
            line: line,
            column: column,
            range: expression.start..<expression.end,
            textRange: source.offsets[expression.start]..<source.offsets[expression.end]
        )
        return Piece(type: type, operation: builder.append(operation, at: span))
    }

    mutating func constant(
        _ value: Constant,
        _ type: ValueType,
        _ expression: Expression
    ) -> Piece {
        emit(.constant(builder.add(constant: value)), type, expression)
    }

    /// The piece for a fault that is already reported.
    mutating func failed(_ expression: Expression) -> Piece {
        emit(.noValue, .error, expression)
    }

    private mutating func compileVariable(_ name: String, _ expression: Expression) -> Piece {
        switch name {
        case "auth": return emit(.auth, .auth, expression)
        case "now": return emit(.now, .number, expression)
        case "root": return emit(.root, .snapshot, expression)
        case "data": return emit(.data, .snapshot, expression)
        case "query": return emit(.queryVariable, .query, expression)
        case "newData":
            if kind != .read { return emit(.newData, .snapshot, expression) }
            report(
                expression.start,
                "newData is invalid in .read expressions.",
                "What is there now is data."
            )
            return failed(expression)
        default:
            if let capture = captures.first(where: { $0.name == name }) {
                return emit(.capture(Int32(capture.keyIndex)), .string, expression)
            }
            let known = ["auth", "now", "root", "data", "newData", "query"] + captures.map(\.name)
            report(
                expression.start,
                "Unknown variable '\(name)'.",
                Spelling.hint(for: name, among: known)
            )
            return failed(expression)
        }
    }

    private mutating func compilePattern(
        _ body: Range<Int>,
        _ flags: String,
        _ expression: Expression
    ) -> Piece {
        let isPattern = makePattern(body, flags, expression) != nil
        return emit(.noValue, isPattern ? .pattern : .error, expression)
    }

    /// Compiles a pattern literal; nil, and reported, when it is not one.
    mutating func makePattern(
        _ body: Range<Int>,
        _ flags: String,
        _ expression: Expression
    ) -> Int32? {
        if flags != "" && flags != "i" {
            report(expression.start, "regular expressions do not support flags other than i")
            return nil
        }
        var notes: [LocatedWarning] = []
        do throws(LocatedFault) {
            let pattern = try Pattern(
                source.scalars[body],
                ignoresCase: flags == "i",
                warnings: &notes
            )
            for note in notes { warn(note.code, note.offset, note.message, note.hint) }
            return builder.add(pattern: pattern)
        } catch {
            report(error.offset, error.message, error.hint)
            return nil
        }
    }
}
