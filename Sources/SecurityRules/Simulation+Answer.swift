package import JSONTree

extension SimulationRequest {
    /// Judges the request, under its own rules if it brings any, and on its own data.
    ///
    /// - Parameters:
    ///   - rules: those in force.
    ///   - root: the tree as it is.
    ///   - now: the present.
    /// - Returns: what would come of it, and the request as an explanation names it.
    package func judged(
        under rules: Ruleset,
        on root: Node,
        at now: Timestamp
    ) -> (result: SimulationResult, explained: ExplainedRequest) {
        let ruleset = self.rules ?? rules
        let request = RulesRequest(root: data ?? root, auth: auth, now: self.now ?? now)
        let result = ruleset.simulate(operation, request, recording: .values)
        return (result, operation.explained(by: auth, under: ruleset, result))
    }

    /// Judges the request as `judged` does, and writes the answer: the explanation in words, or
    /// `{"allowed", "rule", "trace", "newData"?}`.
    ///
    /// Pure: any thread may do it.
    package func answer(
        under rules: Ruleset,
        on root: Node,
        at now: Timestamp
    ) -> SimulationAnswer {
        let (result, explained) = judged(under: rules, on: root, at: now)
        let isAllowed = result.decision.isAllowed
        if isAnsweredInWords {
            let text = Explanation.text(of: result.decision, for: explained)
            return SimulationAnswer(isAllowed: isAllowed, isText: true, body: Array(text.utf8))
        }
        let body = result.decision.simulatorJSON(newData: result.newData)
        return SimulationAnswer(isAllowed: isAllowed, isText: false, body: body)
    }
}

/// What a simulator answers.
package struct SimulationAnswer: Sendable, Equatable {
    package let isAllowed: Bool
    /// Whether the body is plain text; JSON otherwise.
    package let isText: Bool
    /// UTF-8.
    package let body: [UInt8]
}
