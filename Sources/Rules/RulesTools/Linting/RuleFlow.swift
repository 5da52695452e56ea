import SecurityRules

/// Follows one expression and collects the facts known at each part.
///
/// An evaluation that fails has no value and ends the whole rule. So every condition for not failing is known of each
/// evaluation with a value.
final class RuleFlow {
    let reader: TermReader

    /// Steps left; a rule that takes more is only analysed in part, with fewer warnings.
    private var stepsLeft = 200_000

    init(keys: [String]) {
        reader = TermReader(keys: keys)
    }

    /// Whether there are steps left; takes one.
    func step() -> Bool {
        stepsLeft -= 1
        return stepsLeft >= 0
    }

    /// What is known when a boolean expression has `outcome`, beside what is known already.
    func facts(_ known: Facts, when expression: Expression, _ outcome: Bool) -> Facts {
        var facts = known
        learn(expression, outcome, into: &facts)
        return facts
    }

    /// Adds what is known when a boolean expression has `outcome`.
    func learn(_ expression: Expression, _ outcome: Bool, into facts: inout Facts) {
        guard step(), !facts.isContradictory else { return }
        switch expression.kind {
        case .boolean(let value):
            if value != outcome { facts.contradict() }
        case .not(let operand): learn(operand, !outcome, into: &facts)
        case .logic(let symbol, let operands):
            if (symbol == .and) == outcome {
                for operand in operands { learn(operand, outcome, into: &facts) }
            } else {
                learnOne(of: operands, outcome, into: &facts)
            }
        case .ternary(let condition, let yes, let no):
            var other = facts
            learn(condition, true, into: &facts)
            learn(yes, outcome, into: &facts)
            learn(condition, false, into: &other)
            learn(no, outcome, into: &other)
            facts.meet(other)
        case .binary(let symbol, let left, let right):
            learnComparison(expression, symbol, left, right, outcome, into: &facts)
        case .call(let callee, let arguments):
            learnCall(expression, callee, arguments, outcome, into: &facts)
        default: facts.note(reader.text(expression), outcome)
        }
    }

    /// Adds what is known when the first operand with `outcome` ends a chain: the earlier ones had the opposite.
    private func learnOne(of operands: [Expression], _ outcome: Bool, into facts: inout Facts) {
        var before = facts
        var joined: Facts?
        for operand in operands {
            if before.isContradictory { break }
            var branch = before
            learn(operand, outcome, into: &branch)
            if joined == nil { joined = branch } else { joined?.meet(branch) }
            learn(operand, !outcome, into: &before)
        }
        if let joined { facts = joined } else { facts.contradict() }
    }

    // MARK: Comparisons

    private func learnComparison(
        _ expression: Expression,
        _ symbol: BinaryOperator,
        _ left: Expression,
        _ right: Expression,
        _ outcome: Bool,
        into facts: inout Facts
    ) {
        demand(left, into: &facts)
        demand(right, into: &facts)
        switch symbol {
        case .equal: learnEquality(left, right, outcome, into: &facts)
        case .notEqual: learnEquality(left, right, !outcome, into: &facts)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            notePresent(left, into: &facts)
            notePresent(right, into: &facts)
            learnOrder(symbol, left, right, outcome, into: &facts)
            facts.note(reader.text(expression), outcome)
        case .add, .subtract, .multiply, .divide, .remainder: break
        }
    }

    private func learnEquality(
        _ left: Expression,
        _ right: Expression,
        _ isEqual: Bool,
        into facts: inout Facts
    ) {
        if let literal = Literal(right) {
            return learnLiteral(left, literal, isEqual, into: &facts)
        }
        if let literal = Literal(left) {
            return learnLiteral(right, literal, isEqual, into: &facts)
        }
        let kinds = (left.staticKind, right.staticKind)
        if let one = kinds.0, let other = kinds.1, one != other {
            if isEqual { facts.contradict() }
            return
        }
        facts.note([left, right].map(reader.text).sorted().joined(separator: " == "), isEqual)
        guard isEqual else { return }
        let (one, other) = (reader.term(left), reader.term(right))
        if left.isNeverNull { facts.notePresent(other) }
        if right.isNeverNull { facts.notePresent(one) }
        facts.link(one, other)
    }

    private func learnLiteral(
        _ expression: Expression,
        _ literal: Literal,
        _ isEqual: Bool,
        into facts: inout Facts
    ) {
        if let other = Literal(expression) {
            if (other == literal) != isEqual { facts.contradict() }
            return
        }
        if let kind = expression.staticKind, kind != literal.kind {
            if isEqual { facts.contradict() }
            return
        }
        if literal == .null, expression.isNeverNull {
            if isEqual { facts.contradict() }
            return
        }
        if expression.staticKind == .boolean, case .boolean(let value) = literal {
            return learn(expression, value == isEqual, into: &facts)
        }
        facts.note(reader.term(expression), isEqual, to: literal)
    }

    private func learnOrder(
        _ symbol: BinaryOperator,
        _ left: Expression,
        _ right: Expression,
        _ outcome: Bool,
        into facts: inout Facts
    ) {
        // One kind on each side, and not the same: it fails.
        let kinds = (left.staticKind, right.staticKind)
        if let one = kinds.0, let other = kinds.1, one != other { return facts.contradict() }
        if left.isTextLength, case .number(let bound)? = Literal(right) {
            // No text is shorter than nothing.
            let holds: Bool? =
                switch symbol {
                case .less where bound <= 0, .lessOrEqual where bound < 0: false
                case .greaterOrEqual where bound <= 0, .greater where bound < 0: true
                default: nil
                }
            if let holds, holds != outcome { facts.contradict() }
            return
        }
        guard case .number(let one)? = Literal(left), case .number(let other)? = Literal(right)
        else { return }
        if symbol.holds(one, other) != outcome { facts.contradict() }
    }

    // MARK: Calls

    private func learnCall(
        _ expression: Expression,
        _ callee: Expression,
        _ arguments: [Expression],
        _ outcome: Bool,
        into facts: inout Facts
    ) {
        demand(expression, into: &facts)
        guard case .member(let base, let name, _) = callee.kind,
            let method = SnapshotMethod(rawValue: name), let location = reader.snapshot(base)
        else { return facts.note(reader.text(expression), outcome) }
        switch method {
        case .exists: facts.note(location, !outcome, to: .null)
        case .hasChild:
            if let child = arguments.first.flatMap({ reader.child(of: location, $0) }) {
                facts.note(child, !outcome, to: .null)
            } else {
                facts.note(reader.text(expression), outcome)
            }
        case .hasChildren where outcome:
            guard case .array(let elements)? = arguments.first?.kind else {
                facts.note(location, is: .object)
                return facts.notePresent(location)
            }
            for element in elements {
                if let child = reader.child(of: location, element) { facts.notePresent(child) }
            }
        case .isString where outcome: note(location, is: .string, into: &facts)
        case .isNumber where outcome: note(location, is: .number, into: &facts)
        case .isBoolean where outcome: note(location, is: .boolean, into: &facts)
        default: break
        }
        if method != .exists, method != .hasChild {
            facts.note(reader.text(expression), outcome)
        }
    }

    private func note(_ location: Term, is kind: ScalarKind, into facts: inout Facts) {
        facts.notePresent(location)
        facts.note(location, is: kind)
    }

    // MARK: Demands

    /// Notes that an expression is not null, since what uses it would have failed.
    private func notePresent(_ expression: Expression, into facts: inout Facts) {
        if case .null = expression.kind { return facts.contradict() }
        if expression.isNeverNull || Literal(expression) != nil { return }
        if case .ternary = expression.kind { return }
        facts.notePresent(reader.term(expression))
    }

    /// Adds what must hold for an expression to be evaluated without failing.
    func demand(_ expression: Expression, into facts: inout Facts) {
        guard step() else { return }
        switch expression.kind {
        case .null, .boolean, .number, .string, .pattern, .name: return
        case .array(let elements):
            for element in elements {
                demand(element, into: &facts)
                notePresent(element, into: &facts)
            }
        case .member(let base, let name, _):
            demand(base, into: &facts)
            if name == "length", !base.isAuth { notePresent(base, into: &facts) }
        case .index(let base, _): demand(base, into: &facts)
        case .call(let callee, let arguments):
            guard case .member(let base, let name, _) = callee.kind else { return }
            demand(base, into: &facts)
            if StringMethod(rawValue: name) != nil { notePresent(base, into: &facts) }
            for argument in arguments {
                demand(argument, into: &facts)
                if case .array = argument.kind { continue }
                if case .pattern = argument.kind { continue }
                notePresent(argument, into: &facts)
            }
        case .not(let operand): demand(operand, into: &facts)
        case .negate(let operand):
            demand(operand, into: &facts)
            notePresent(operand, into: &facts)
        case .binary(let symbol, let left, let right):
            demand(left, into: &facts)
            demand(right, into: &facts)
            if symbol != .equal, symbol != .notEqual {
                notePresent(left, into: &facts)
                notePresent(right, into: &facts)
            }
        case .logic(_, let operands): demand(operands[0], into: &facts)
        case .ternary(let condition, _, _): demand(condition, into: &facts)
        }
    }
}
