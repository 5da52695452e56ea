extension FileRuleset {
    /// Decides a request: the first `allow` whose pattern matches the path, that is for the operation, and whose
    /// condition is true, allows it; without one it is denied.
    ///
    /// Pure. O(patterns) to find those that match, then at most what the budget allows.
    ///
    /// With `isRecorded` candidates carry the values of their expressions. `database` is what `database.get` and
    /// `database.exists` read.
    package func decide(
        _ request: FileRulesRequest,
        isRecorded: Bool = false,
        within budget: FileRulesBudget = .request,
        database: FileDatabaseLookup = { _, _ in nil }
    ) -> FileDecision {
        let path = request.path
        // In version 1 nothing allows a list.
        let blocks = version == 1 && request.operation == .list ? [] : syntax.blocks
        return withoutActuallyEscaping(database) { database in
            var evaluator = FileEvaluator(self, request, path, isRecorded, budget, database)
            var candidates: [FileCandidate] = []
            var deciding: FileAllow?
            search: for block in blocks {
                let open = block.allows.filter {
                    syntax.allows[$0].operations.contains(request.operation)
                }
                guard !open.isEmpty,
                    let captures = block.match(path, restMinimum: version == 1 ? 1 : 0)
                else { continue }
                for index in open {
                    let candidate = evaluator.run(allows[index], captures, block.captures)
                    candidates.append(candidate)
                    if candidate.result == .value(true) { deciding = candidate.allow }
                    if deciding != nil || evaluator.overBudget != nil { break search }
                }
            }
            return FileDecision(
                isAllowed: deciding != nil,
                allow: deciding,
                overBudget: evaluator.overBudget,
                candidates: candidates,
                lookups: evaluator.lookups.made,
                debugged: evaluator.debugged,
                expressionCount: budget.expressionCount - evaluator.expressionsLeft
            )
        }
    }
}

/// What one decision may take.
package struct FileRulesBudget: Sendable {
    /// Expressions that are evaluated.
    let expressionCount: Int
    /// Bytes that are compared, built, hashed or matched.
    let workByteCount: Int

    /// Of a request that is answered.
    package static let request = FileRulesBudget(
        expressionCount: FileRulesLimits.expressionCount,
        workByteCount: FileRulesLimits.workByteCount
    )

    /// Of shadow rules.
    package static let trial = FileRulesBudget(
        expressionCount: FileRulesLimits.expressionsPerTrial,
        workByteCount: FileRulesLimits.workBytesPerTrial
    )
}
