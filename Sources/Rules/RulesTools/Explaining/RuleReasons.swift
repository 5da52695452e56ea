import JSONTree
import SecurityRules

/// Finds why an expression has its value: the pieces that decided it, with their values.
///
/// Each line is indented by two spaces for every level of the expression. At most
/// `RulesLimits.explanationReasonCount` lines a rule.
struct RuleReasons {
    private let observed: ObservedExpression
    private let context: ReasonContext
    private(set) var lines: [String] = []
    /// Facts that have been said; each is said once a rule.
    private var said: Set<String> = []
    private(set) var isCut = false

    init(_ observed: ObservedExpression, _ context: ReasonContext) {
        self.observed = observed
        self.context = context
    }

    /// Explains the whole expression.
    mutating func explain() {
        let root = observed.root
        switch root.kind {
        case .logic, .not, .ternary: explain(root, 0)
        default: if observed.truth(of: root) == nil { explain(root, 0) } else { atom(root, 0) }
        }
    }

    private mutating func say(_ line: String, _ indent: Int) {
        if lines.count == RulesLimits.explanationReasonCount {
            isCut = true
            return
        }
        lines.append(String(repeating: "  ", count: min(indent, 12)) + line)
    }

    /// Explains a piece that was looked at. Recursion is bounded by the nesting of expressions.
    private mutating func explain(_ expression: Expression, _ indent: Int) {
        if isCut { return }
        if let message = observed.failure(of: expression) {
            return explainFailure(expression, message, indent)
        }
        guard let truth = observed.truth(of: expression) else { return fact(expression, indent) }
        switch expression.kind {
        case .logic(let symbol, let operands): explain(symbol, operands, truth, indent)
        case .not(let operand):
            let note = observed.value(of: operand).flatMap {
                context.note(on: operand, $0, in: observed)
            }
            let location = note.map { " (\($0))" } ?? ""
            say("\(observed.text(of: expression)) is \(truth)\(location)", indent)
            explainBelow(operand, indent + 1)
        case .ternary(let condition, let yes, let no):
            let isFirst = observed.truth(of: condition) == true
            say(
                "\(observed.text(of: condition)) is \(isFirst), so what counts is "
                    + "\(observed.text(of: isFirst ? yes : no))",
                indent
            )
            explainBelow(condition, indent + 1)
            explain(isFirst ? yes : no, indent)
        default: atom(expression, indent)
        }
    }

    /// Explains a piece whose text and value were just said.
    private mutating func explainBelow(_ expression: Expression, _ indent: Int) {
        switch expression.kind {
        case .logic, .ternary, .not: explain(expression, indent)
        default: details(expression, indent)
        }
    }

    private mutating func explain(
        _ symbol: LogicOperator,
        _ operands: [Expression],
        _ truth: Bool,
        _ indent: Int
    ) {
        // `&&` is false by its first false operand, and `||` true by its first true one; else all count.
        let decides = symbol == .or
        for operand in operands {
            if decides == truth, observed.truth(of: operand) != truth { continue }
            explain(operand, indent)
            if decides == truth { break }
        }
    }

    /// A piece without logic operators: its value, and the operands it was computed from.
    private mutating func atom(_ expression: Expression, _ indent: Int) {
        guard let value = observed.value(of: expression) else { return }
        let note = context.note(on: expression, value, in: observed).map { " (\($0))" } ?? ""
        let line = "\(observed.text(of: expression)) is \(ExplanationText.words(value))\(note)"
        if said.insert(line).inserted { say(line, indent) }
        details(expression, indent + 1)
    }

    /// The facts below a piece: what its operands were.
    private mutating func details(_ expression: Expression, _ indent: Int) {
        switch expression.kind {
        case .binary(let symbol, let left, let right):
            for operand in [left, right] {
                // The value of a long sum is enough; its parts are left out.
                if symbol == .add, case .binary(.add, _, _) = operand.kind {
                    details(operand, indent)
                } else {
                    fact(operand, indent)
                }
            }
            if let note = mismatch(symbol, left, right) { say(note, indent) }
        case .call(let callee, let arguments): factsOfCall(callee, arguments, indent)
        case .member(let base, _, _): factOfBase(base, indent)
        case .index(let base, let argument):
            factOfBase(base, indent)
            fact(argument, indent)
        case .negate(let operand): fact(operand, indent)
        case .ternary(let condition, let yes, let no):
            let isFirst = observed.truth(of: condition) == true
            say("\(observed.text(of: condition)) is \(isFirst)", indent)
            explainBelow(condition, indent + 1)
            fact(isFirst ? yes : no, indent)
        case .not, .logic: explain(expression, indent)
        case .null, .boolean, .number, .string, .pattern, .array, .name: break
        }
    }

    /// The value of an operand, and its parts.
    private mutating func fact(_ expression: Expression, _ indent: Int) {
        if isCut || expression.isLiteral { return }
        if let message = observed.failure(of: expression) {
            return explainFailure(expression, message, indent)
        }
        guard let value = observed.value(of: expression) else { return }
        if case .logic = expression.kind { return explain(expression, indent) }
        // A wildcard is named above, the caller below.
        if case .name(let name) = expression.kind, name.hasPrefix("$") || value == .object {
            return
        }
        let location =
            context.location(of: expression, value, in: observed).map { " (\($0))" } ?? ""
        let text = observed.text(of: expression)
        let line = "\(text) is \(ExplanationText.words(value))\(location)"
        if said.insert(line).inserted {
            say(line, indent)
            details(expression, indent + 1)
        }
    }

    /// The receiver of a member: only when it is null itself, else the member says it all.
    private mutating func factOfBase(_ base: Expression, _ indent: Int) {
        if case .name = base.kind { return }
        guard observed.value(of: base) == .null else { return details(base, indent) }
        fact(base, indent)
    }

    private mutating func factsOfCall(
        _ callee: Expression,
        _ arguments: [Expression],
        _ indent: Int
    ) {
        if case .member(let base, let name, _) = callee.kind {
            // The location of `val()` is written beside the value.
            if SnapshotMethod(rawValue: name) != nil {
                argumentsAlong(base, indent)
            } else {
                fact(base, indent)
            }
        }
        for argument in arguments { fact(argument, indent) }
    }

    /// What the arguments along a chain of `child()` calls were, in the order of the text.
    private mutating func argumentsAlong(_ base: Expression, _ indent: Int) {
        guard case .call(let callee, let arguments) = base.kind else { return }
        if case .member(let inner, _, _) = callee.kind { argumentsAlong(inner, indent) }
        for argument in arguments { fact(argument, indent) }
    }

    private func mismatch(
        _ symbol: BinaryOperator,
        _ left: Expression,
        _ right: Expression
    ) -> String? {
        guard symbol == .equal || symbol == .notEqual,
            let a = observed.value(of: left)?.kindInWords,
            let b = observed.value(of: right)?.kindInWords, a != b
        else { return nil }
        return "\(a) never equals \(b)"
    }

    /// Finds the innermost piece that failed, and says why and what its operands were.
    private mutating func explainFailure(
        _ expression: Expression,
        _ message: String,
        _ indent: Int
    ) {
        var innermost = expression
        while let next = failedOperand(of: innermost) { innermost = next }
        say("\(observed.text(of: innermost)) failed: \(message)", indent)
        details(innermost, indent + 1)
    }

    /// A callee has no value of its own; its receiver has.
    private func failedOperand(of expression: Expression) -> Expression? {
        for operand in expression.operands {
            if observed.failure(of: operand) != nil { return operand }
            if case .member(let base, _, _) = operand.kind, case .call = expression.kind,
                observed.failure(of: base) != nil
            {
                return base
            }
            if case .array(let elements) = operand.kind,
                let element = elements.first(where: { observed.failure(of: $0) != nil })
            {
                return element
            }
        }
        return nil
    }
}

extension ObservedValue {
    /// The kind of a value that equals only its like; nil for null, which everything may be.
    fileprivate var kindInWords: String? {
        switch self {
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .object: "an object"
        case .null, .snapshot: nil
        }
    }
}
