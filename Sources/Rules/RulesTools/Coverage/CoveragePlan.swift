import SecurityRules

/// The rules of a ruleset in the order of the text, and a number for each of their sub-expressions.
final class CoveragePlan: Sendable {
    struct PlannedRule: Sendable {
        let rule: Rule
        /// The number of its first sub-expression; the others follow in source order.
        let firstExpression: Int

        /// The spans of its sub-expressions, in source order; none for a constant.
        var spans: [SourceSpan] {
            guard case .program(let program) = rule.body else { return [] }
            return program.subexpressions.map { program.spans[Int($0.number)] }
        }

        /// Where it is declared, for people: the end of a path that is very long.
        var shownPath: String {
            let limit = 300
            let scalars = rule.path.unicodeScalars
            return scalars.count <= limit ? rule.path : "…" + String(scalars.suffix(limit))
        }
    }

    let ruleset: Ruleset
    /// In the order of the text.
    let rules: [PlannedRule]
    let expressionCount: Int

    private let indexes: [ObjectIdentifier: Int]

    init(_ ruleset: Ruleset) {
        self.ruleset = ruleset
        var rules: [PlannedRule] = []
        var indexes: [ObjectIdentifier: Int] = [:]
        var count = 0
        let sorted = ruleset.rules.sorted {
            $0.textRange.lowerBound < $1.textRange.lowerBound
        }
        for rule in sorted {
            indexes[ObjectIdentifier(rule)] = rules.count
            rules.append(PlannedRule(rule: rule, firstExpression: count))
            if case .program(let program) = rule.body { count += program.subexpressions.count }
        }
        self.rules = rules
        self.indexes = indexes
        expressionCount = count
    }

    /// The index of a rule in `rules`; nil for a rule of another ruleset.
    func index(of rule: Rule) -> Int? { indexes[ObjectIdentifier(rule)] }
}
