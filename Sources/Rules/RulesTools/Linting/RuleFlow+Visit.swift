import SecurityRules

extension RuleFlow {
    /// A comparison or a call, its outcome, and what is known whenever the whole has its outcome.
    struct Atom {
        let expression: Expression
        let outcome: Bool
        let facts: Facts
    }

    /// Calls `body` with every part of a boolean expression that can bring it to `outcome`.
    ///
    /// The facts of a part hold in every evaluation in which the part and the whole have their outcomes; those that the
    /// other operands of `&&` give, before and after it, are among them.
    func visitAtoms(
        _ expression: Expression,
        _ outcome: Bool,
        _ facts: Facts,
        _ body: (Atom) -> Void
    ) {
        guard step() else { return }
        var known = facts
        switch expression.kind {
        case .not(let operand): visitAtoms(operand, !outcome, facts, body)
        case .logic(let symbol, let operands):
            if (symbol == .and) == outcome {
                learn(expression, outcome, into: &known)
                if known.isContradictory { return }
                for operand in operands { visitAtoms(operand, outcome, known, body) }
            } else {
                for operand in operands {
                    if known.isContradictory { return }
                    visitAtoms(operand, outcome, known, body)
                    learn(operand, !outcome, into: &known)
                }
            }
        case .ternary(let condition, let yes, let no):
            for (test, branch) in [(true, yes), (false, no)] {
                var known = facts
                learn(condition, test, into: &known)
                learn(branch, outcome, into: &known)
                if known.isContradictory { continue }
                visitAtoms(condition, test, known, body)
                visitAtoms(branch, outcome, known, body)
            }
        default:
            if let (operand, value) = comparedBoolean(expression) {
                return visitAtoms(operand, value == outcome, facts, body)
            }
            learn(expression, outcome, into: &known)
            if known.isContradictory { return }
            body(Atom(expression: expression, outcome: outcome, facts: known))
        }
    }

    /// The two sides of `x == true` and its kin where x is a boolean expression: x, and what it is when
    /// the comparison holds.
    private func comparedBoolean(_ expression: Expression) -> (Expression, Bool)? {
        guard case .binary(let symbol, let left, let right) = expression.kind,
            symbol == .equal || symbol == .notEqual
        else { return nil }
        for (side, other) in [(left, right), (right, left)] {
            if case .boolean(let value)? = Literal(other), side.staticKind == .boolean,
                Literal(side) == nil
            {
                return (side, value == (symbol == .equal))
            }
        }
        return nil
    }

    /// Whether no evaluation of an expression can fail, for any request; false when unsure.
    func cannotFail(_ expression: Expression) -> Bool {
        guard step() else { return false }
        switch expression.kind {
        case .null, .boolean, .number, .string, .name: return true
        case .pattern, .array, .index: return false
        case .member(let base, let name, _):
            if name == "length", !base.isAuth { return base.isPlainText }
            return cannotFail(base)
        case .call(let callee, let arguments):
            return cannotFail(callee: callee, arguments)
        case .not(let operand): return cannotFail(operand)
        case .negate(let operand): return operand.staticKind == .number && cannotFail(operand)
        case .logic(_, let operands): return operands.allSatisfy { cannotFail($0) }
        case .ternary(let condition, let yes, let no):
            return cannotFail(condition) && cannotFail(yes) && cannotFail(no)
        case .binary(let symbol, let left, let right):
            guard cannotFail(left), cannotFail(right) else { return false }
            switch symbol {
            case .equal, .notEqual: return true
            case .less, .lessOrEqual, .greater, .greaterOrEqual:
                let kind = left.staticKind
                return kind == right.staticKind && (kind == .number || kind == .string)
            default: return left.staticKind == .number && right.staticKind == .number
            }
        }
    }

    private func cannotFail(callee: Expression, _ arguments: [Expression]) -> Bool {
        guard case .member(let base, let name, _) = callee.kind else { return false }
        if SnapshotMethod(rawValue: name) != nil {
            return reader.snapshot(base) != nil && cannotFail(base)
                && arguments.allSatisfy {
                    if case .array(let elements) = $0.kind {
                        elements.allSatisfy(\.isPlainText)
                    } else {
                        $0.isPlainText
                    }
                }
        }
        return name != "replace" && base.isPlainText
            && arguments.allSatisfy {
                if case .pattern = $0.kind { true } else { $0.isPlainText }
            }
    }
}

extension Expression {
    /// Whether it is a string literal or a wildcard.
    var isPlainText: Bool {
        switch kind {
        case .string: true
        case .name(let name): name.hasPrefix("$")
        default: false
        }
    }
}
