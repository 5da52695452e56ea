import SecurityRules

/// Lints of rules that say nothing.
extension Lint {
    static let reachLints = [constantRule, unreachableRule]

    /// A rule, or an operand of `&&`, `||` or `?:`, that can never be true, or always is and never fails. A rule that is plainly `true`
    /// or `false`, and plain branches of `?:`, are meant.
    private static let constantRule = Lint(
        code: .constantRule,
        summary: "A rule, or a part of one, that is never true or always true.",
        reason: """
            Comparisons that can never hold, parts that exclude each other and literals left behind from a trial make a rule grant nothing, \
            or everything. A wildcard is a string and never equals a number; '.validate' is not asked about what is deleted, so \
            'newData.exists()' there is always true.
            """,
        wrong: """
            /pages/$page .read $page == 1
            /pages/$page .write auth != null && false
            """,
        right: """
            /pages/$page .read $page == '1'
            /pages/$page .write false
            """,
        find: partsOfEachRule { rule in
            if rule.isLiteral { return [Finding]() }
            if rule.isNeverTrue {
                let part = rule.flow.neverTruePart(rule.expression, rule.facts)
                let what =
                    rule.kind == .validate
                    ? "so this '.validate' refuses every write"
                    : "so this '.\(rule.kind.rawValue)' grants nothing"
                return [
                    rule.finding(
                        at: part,
                        "This is never true, \(what).",
                        "Correct the comparison, or write false if it shall grant nothing."
                    )
                ]
            }
            if rule.isAlwaysTrue {
                let what =
                    rule.kind == .validate
                    ? "so this '.validate' checks nothing; it is not asked about what is deleted"
                    : "so this '.\(rule.kind.rawValue)' grants to everybody"
                return [
                    rule.finding(
                        "This is always true, \(what).",
                        rule.kind == .validate
                            ? "Check the value, as newData.isString(); ask for a child in the parent's .validate."
                            : "Ask who it is, as auth != null && auth.uid == $uid; or write true if everybody is meant."
                    )
                ]
            }
            return rule.flow.constantParts(rule.expression, rule.facts).map { part, value in
                rule.finding(
                    at: part,
                    value
                        ? "This part is always true, so it checks nothing."
                        : "This part is never true, so it lets no caller through.",
                    "Remove it, or correct the comparison."
                )
            }
        }
    )

    /// A `.read` or `.write` below one that always holds, or that holds whenever this one does; a `.validate` below one
    /// that never holds, or on no path with a `.write`. Removing it changes no decision.
    private static let unreachableRule = Lint(
        code: .unreachableRule,
        summary: "A rule that decides nothing, because one above has decided already.",
        reason: """
            The first '.read' or '.write' on the way down that holds decides. Below one that always holds, the others are never asked: a 'false' \
            there takes nothing back, and an owner's rule protects nothing. Below a '.validate' that never holds nothing is ever accepted; and where no '.write' stands on the way, no '.validate' is ever \
            asked: it narrows a grant and is none.
            """,
        wrong: """
            /posts .read true
            /posts/drafts .read false
            """,
        right: """
            /posts/published .read true
            /posts/drafts .read false
            """,
        find: eachRule { rule in
            let above = rule.node.ancestors.compactMap { $0.rule(rule.kind) }
            if rule.kind == .validate {
                if !rule.node.hasWrites, rule.node.ancestors.allSatisfy({ $0.write == nil }) {
                    return rule.finding(
                        "No '.write' stands here, above or below, so nothing comes here to be checked.",
                        "Say who may write: a '.validate' narrows what a '.write' grants and grants nothing itself."
                    )
                }
                guard let closed = above.first(where: \.isNeverTrue) else { return nil }
                return rule.finding(
                    "\(closed.name) never holds, so nothing that this rule would accept is ever accepted.",
                    "Remove one of them."
                )
            }
            if let open = above.first(where: \.isAlwaysTrue) {
                return rule.finding(
                    "\(open.name) lets everybody through before this rule is asked; it protects nothing.",
                    "Remove the grant above; a rule below can add to it but take nothing back."
                )
            }
            guard !rule.isNeverTrue, let same = above.first(where: { rule.implies($0) })
            else { return nil }
            return rule.finding(
                "Whenever this holds, \(same.name) has let through already; this rule decides nothing.",
                "Remove this rule, or narrow the one above."
            )
        }
    )
}

extension LintRule {
    /// Whether another rule on the same path certainly holds whenever this one does.
    fileprivate func implies(_ other: LintRule) -> Bool {
        guard other.flow.cannotFail(other.expression) else { return false }
        let held = flow.facts(facts, when: expression, true)
        return other.flow.facts(held, when: other.expression, false).isContradictory
    }
}

extension RuleFlow {
    private func isNeverTrue(_ expression: Expression, _ known: Facts) -> Bool {
        facts(known, when: expression, true).isContradictory
    }

    private func isAlwaysTrue(_ expression: Expression, _ known: Facts) -> Bool {
        facts(known, when: expression, false).isContradictory && cannotFail(expression)
    }

    /// The smallest part of an expression that is never true that makes it so.
    func neverTruePart(_ expression: Expression, _ known: Facts) -> Expression {
        guard case .logic(.and, let operands) = expression.kind,
            let part = operands.first(where: { isNeverTrue($0, known) })
        else { return expression }
        return neverTruePart(part, known)
    }

    /// The operands that are constant by themselves, the largest of each, and their values.
    func constantParts(_ expression: Expression, _ known: Facts) -> [(Expression, Bool)] {
        guard step() else { return [] }
        func look(_ part: Expression) -> [(Expression, Bool)] {
            if isNeverTrue(part, known) { return [(part, false)] }
            if isAlwaysTrue(part, known) { return [(part, true)] }
            return constantParts(part, known)
        }
        switch expression.kind {
        case .not(let operand): return constantParts(operand, known)
        case .logic(_, let operands): return operands.flatMap(look)
        case .ternary(let condition, let yes, let no):
            return look(condition)
                + [yes, no].flatMap { branch in
                    if case .boolean = branch.kind { return [(Expression, Bool)]() }
                    return look(branch)
                }
        default: return []
        }
    }
}
