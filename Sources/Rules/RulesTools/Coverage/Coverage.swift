package import SecurityRules

/// How often each rule of a ruleset, and each sub-expression of it, was evaluated, and what came of it.
///
/// A value: a copy costs nothing until the next count, then O(sub-expressions). Its memory is bounded
/// by the size of the rules and by `RulesLimits.coveredByteCount`.
package struct Coverage: Sendable {
    /// How much of a ruleset was evaluated.
    package struct Summary: Sendable, Equatable {
        /// Rules, and those of them that were consulted.
        package let rules: Int
        package let consulted: Int
        /// Sub-expressions of rules, without literals, and those that were evaluated.
        package let subexpressions: Int
        package let evaluated: Int
    }

    let plan: CoveragePlan
    /// By rule of the plan.
    private(set) var rules: [CoveredRule]
    /// By expression of the plan.
    private(set) var expressions: [CoveredExpression]
    /// Decisions counted.
    private(set) var decisionCount = 0
    /// Those of them whose trace was cut, so that their last rules are missing.
    private(set) var cutCount = 0
    private var bytesLeft = RulesLimits.coveredByteCount

    /// Begins with nothing counted.
    package init(_ rules: Ruleset) {
        plan = CoveragePlan(rules)
        self.rules = Array(repeating: CoveredRule(), count: plan.rules.count)
        expressions = Array(repeating: CoveredExpression(), count: plan.expressionCount)
    }

    /// Counts what a decision consulted.
    ///
    /// - Parameter decision: of these rules, recorded with `Recording.values`; the rules of any other
    ///   count for nothing, and without values only rules count, not their parts.
    package mutating func add(_ decision: Decision) {
        decisionCount += 1
        if decision.isCut { cutCount += 1 }
        for outcome in decision.trace { count(outcome) }
    }

    private mutating func count(_ outcome: RuleOutcome) {
        guard let index = plan.index(of: outcome.declaration) else { return }
        rules[index].add(outcome.result)
        guard let run = outcome.observed, case .program(let program) = outcome.declaration.body
        else { return }
        var failure = ""
        if case .error(let error) = outcome.result { failure = error.message }
        let first = plan.rules[index].firstExpression
        for (position, operation) in program.subexpressions.enumerated() {
            expressions[first + position].add(
                run.slots[Int(operation.number)],
                of: run,
                failure,
                &bytesLeft
            )
        }
    }

    /// How much was evaluated so far. O(sub-expressions).
    package var summary: Summary {
        Summary(
            rules: rules.count,
            consulted: rules.count { $0.count > 0 },
            subexpressions: expressions.count,
            evaluated: expressions.count { $0.evaluatedCount > 0 }
        )
    }
}
