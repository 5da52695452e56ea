import JSONTree
import SecurityRules

/// The expression of a rule that was consulted, with the values of its pieces.
///
/// Parses the source again: few rules are explained, so rules do not keep their syntax.
struct ObservedExpression {
    let root: Expression
    private let scalars: [Unicode.Scalar]
    private let outcomes: [Range<Int>: SubexpressionValue.Outcome]

    /// Nil for a constant, and when no values were recorded.
    init?(_ outcome: RuleOutcome) {
        if outcome.values.isEmpty { return nil }
        scalars = Array(outcome.source.unicodeScalars)
        do throws(LocatedFault) { root = try ExpressionParser.parse(scalars) } catch {
            preconditionFailure("the source of a rule parses: \(error)")
        }
        var outcomes: [Range<Int>: SubexpressionValue.Outcome] = [:]
        for value in outcome.values { outcomes[value.range] = value.outcome }
        self.outcomes = outcomes
    }

    /// The value of a piece; nil when it was not looked at or failed, and for what has no value of its own.
    func value(of expression: Expression) -> ObservedValue? {
        switch expression.kind {
        // Literals are not recorded.
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .number(let value): return .number(value)
        case .string(let value): return .string(value, isCut: false)
        default: break
        }
        if case .value(let value) = outcomes[expression.start..<expression.end] { return value }
        return nil
    }

    /// Why a piece aborted the rule; nil when it did not.
    func failure(of expression: Expression) -> String? {
        if case .error(let text) = outcomes[expression.start..<expression.end] { text } else { nil }
    }

    /// Whether a piece holds; nil when it is not a boolean, failed or was not looked at.
    func truth(of expression: Expression) -> Bool? {
        if case .boolean(let truth) = value(of: expression) { truth } else { nil }
    }

    /// A piece as written, on one line, without the brackets of a group around it.
    func text(of expression: Expression) -> String {
        var range = expression.start..<expression.end
        if isGroup(expression) { range = (range.lowerBound + 1)..<(range.upperBound - 1) }
        return ExplanationText.line(scalars[range])
    }

    private func isGroup(_ expression: Expression) -> Bool {
        if scalars[expression.start] != "(" { return false }
        guard let first = expression.operands.first else { return true }
        return first.start != expression.start
    }
}

extension Expression {
    /// Whether it says its value itself.
    var isLiteral: Bool {
        switch kind {
        case .null, .boolean, .number, .string, .pattern: true
        case .negate(let operand): operand.isLiteral
        case .array(let elements): elements.allSatisfy(\.isLiteral)
        default: false
        }
    }
}
