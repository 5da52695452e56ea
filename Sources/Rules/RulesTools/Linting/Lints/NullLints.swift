import SecurityRules

/// Lints of comparisons that go wrong for signed-out callers.
extension Lint {
    static let nullLints = [nullEquality, concatBeforeAuth]

    /// An equality between a member of `auth` and stored data that can hold because both are null; or an inequality
    /// with a member of `auth` that holds for every signed-out caller.
    ///
    /// No warning where the rest of the rule, before or after it, cannot be true with that null: `auth != null`, `$uid
    /// == auth.uid`, `exists()` of the other side, a claim equal to a literal, a key built with it. `.validate` never
    /// sees null as `newData` itself, and knows the conditions of every `.write` that leads there.
    private static let nullEquality = Lint(
        code: .nullEquality,
        summary: "A comparison with 'auth' that also holds when both sides are null.",
        reason: """
            Members of 'auth' are null when the caller is signed out, data that is missing is null, and null equals null. So \
            'data.child('owner').val() === auth.uid' holds for a signed-out caller wherever there is no owner, and 'auth.uid != 'x'' \
            holds for everybody signed out. A claim that a token lacks is null as well.
            """,
        wrong: "/parties/$party .read data.child('owner').val() === auth.uid",
        right: "/parties/$party .read auth != null && data.child('owner').val() === auth.uid",
        find: partsOfEachRule { rule in
            rule.findings(rule.knownFacts) { atom in
                guard case .binary(let symbol, let left, let right) = atom.expression.kind,
                    symbol == .equal || symbol == .notEqual
                else { return nil }
                return (symbol == .equal) == atom.outcome
                    ? nullFinding(left, right, atom, in: rule)
                    : differenceFinding(left, right, atom, in: rule)
            }
        }
    )

    private static func nullFinding(
        _ left: Expression,
        _ right: Expression,
        _ atom: RuleFlow.Atom,
        in rule: LintRule
    ) -> Finding? {
        let reader = rule.flow.reader
        for (side, other) in [(left, right), (right, left)] {
            let (one, another) = (reader.term(side), reader.term(other))
            guard one.isAuth, Literal(other) == nil, !other.isNeverNull, !another.isAuth,
                !atom.facts.isSafe(one), !atom.facts.isPresent(another)
            else { continue }
            let name = one.name
            let isClaim = atom.facts.isPresent(.auth)
            let who = isClaim ? "every user without \(name)" : "everybody who is signed out"
            return rule.finding(
                at: atom.expression,
                "Holds for \(who) where the other side is missing, since null equals null.",
                isClaim
                    ? "Begin with \(name) != null &&." : "Begin with auth != null &&."
            )
        }
        return nil
    }

    private static func differenceFinding(
        _ left: Expression,
        _ right: Expression,
        _ atom: RuleFlow.Atom,
        in rule: LintRule
    ) -> Finding? {
        let reader = rule.flow.reader
        for (side, other) in [(left, right), (right, left)] {
            let one = reader.term(side)
            guard one.isAuth, Literal(other) != .null, !atom.facts.isPresent(.auth),
                !atom.facts.isMissing(.auth), !other.isAuth
            else { continue }
            return rule.finding(
                at: atom.expression,
                "Holds for everybody who is signed out: \(one.name) is null for them, which differs from the other side.",
                "Begin with auth != null &&."
            )
        }
        return nil
    }

    /// A key or a text built from a member of `auth` that is null when signed out, at a point from which a later
    /// alternative of `||` could still have held for a signed-out caller: a failure ends the whole rule.
    private static let concatBeforeAuth = Lint(
        code: .concatBeforeAuth,
        summary:
            "Building a key from 'auth' ends the rule for signed-out callers, also the alternatives after it.",
        reason: """
            'data.child(auth.uid)' and ''members/' + auth.uid' fail for a signed-out caller, and a failure is not false: it ends the \
            whole rule. An alternative after '||' that was meant for everybody is then never reached.
            """,
        wrong: """
            /rooms/$room .read data.child('members').child(auth.uid).exists() || data.child('public').val() == true
            """,
        right: """
            /rooms/$room .read auth != null && data.child('members').child(auth.uid).exists() || data.child('public').val() == true
            """,
        find: partsOfEachRule { rule in
            rule.expression.pieces.compactMap { piece -> Finding? in
                guard case .logic(.or, let operands) = piece.kind else { return nil }
                var known = rule.knownFacts
                for (index, operand) in operands.dropLast().enumerated() {
                    let later = operands[(index + 1)...]
                    if rule.flow.failsSignedOut(operand, known),
                        later.contains(where: { rule.flow.canHoldSignedOut($0, rule.facts) })
                    {
                        return rule.finding(
                            at: operand,
                            "Fails for signed-out callers, and ends the whole rule: the alternatives after it never let "
                                + "them through.",
                            "Begin this alternative with auth != null &&."
                        )
                    }
                    rule.flow.learn(operand, false, into: &known)
                }
                return nil
            }
        }
    )
}

extension Facts {
    /// Whether a member of `auth` is known not to be null; everybody signed in has a uid.
    func isSafe(_ term: Term) -> Bool {
        if isPresent(term) { return true }
        let everyone = ["uid", "provider", "token"]
        return isPresent(.auth)
            && (term.path.isEmpty || term.path.count == 1 && everyone.contains(term.path[0]))
    }
}

extension Term {
    /// A member of `auth` as people write it.
    var name: String {
        (["auth"] + path.map { $0.hasPrefix("\u{0}") ? "[...]" : $0 }).joined(separator: ".")
    }
}

extension RuleFlow {
    /// Whether an expression certainly fails for signed-out callers, unless an earlier part excludes them.
    func failsSignedOut(_ expression: Expression, _ known: Facts) -> Bool {
        var facts = known
        facts.noteMissing(.auth)
        if facts.isContradictory { return false }
        // What is evaluated in any case: the first operand of a chain, and those after it that follow for certain.
        if case .logic(let symbol, let operands) = expression.kind {
            for operand in operands {
                if failsSignedOut(operand, facts) { return true }
                learn(operand, symbol == .and, into: &facts)
                if facts.isContradictory { return false }
                if symbol == .or { return false }
            }
            return false
        }
        demand(expression, into: &facts)
        return facts.isContradictory
    }

    /// Whether an expression may let a signed-out caller through.
    func canHoldSignedOut(_ expression: Expression, _ known: Facts) -> Bool {
        var facts = known
        facts.noteMissing(.auth)
        return !self.facts(facts, when: expression, true).isContradictory
    }
}
