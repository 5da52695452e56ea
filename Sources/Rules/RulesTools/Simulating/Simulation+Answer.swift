package import JSONTree
package import SecurityRules

extension SimulationRequest {
    /// Decides the request under its own rules, on its own data and at its own time if it has them, else as given.
    ///
    /// - Returns: the result, and the request as an explanation names it.
    package func simulate(
        under rules: Ruleset,
        on root: Node,
        at now: Timestamp
    ) -> (result: SimulationResult, explained: ExplainedRequest) {
        let ruleset = self.rules ?? rules
        let request = RulesRequest(root: data ?? root, auth: auth, now: self.now ?? now)
        let result = ruleset.simulate(operation, request, recording: .values)
        return (result, operation.explained(by: auth, under: ruleset, result))
    }

    /// Decides the request as `simulate` does, and writes the answer: the explanation in words, or
    /// `{"allowed", "rule", "trace", "newData"?}`.
    ///
    /// Pure: any thread may do it.
    package func answer(
        under rules: Ruleset,
        on root: Node,
        at now: Timestamp
    ) -> SimulationAnswer {
        let (result, explained) = simulate(under: rules, on: root, at: now)
        let isAllowed = result.decision.isAllowed
        if isAnsweredInWords {
            let text = Explanation.text(of: result.decision, for: explained)
            return SimulationAnswer(isAllowed: isAllowed, words: text)
        }
        let body = result.decision.simulatorJSON(newData: result.newData)
        return SimulationAnswer(isAllowed: isAllowed, json: body)
    }
}

/// The answer of a simulator.
package struct SimulationAnswer: Sendable, Equatable {
    package let isAllowed: Bool
    /// Whether the body is plain text; JSON otherwise.
    package let isText: Bool
    /// UTF-8.
    package let body: [UInt8]

    /// An answer in words.
    package init(isAllowed: Bool, words: String) {
        (self.isAllowed, isText, body) = (isAllowed, true, Array(words.utf8))
    }

    /// An answer as JSON.
    package init(isAllowed: Bool, json: [UInt8]) {
        (self.isAllowed, isText, body) = (isAllowed, false, json)
    }
}
