package import SecurityRules

/// What came of a case.
package struct CaseOutcome: Sendable {
    package let example: RuleCase

    /// The decision; nil when the rules do not load.
    package let decision: Decision?

    /// What came otherwise than expected, for people; empty when the case passed.
    package let problems: [String]

    /// The decision as an explanation; nil when the rules do not load.
    let explained: ExplainedRequest?

    /// Whether everything came as expected.
    package var isPassed: Bool { problems.isEmpty }

    /// The explanation of the decision, made on demand; nil when the rules do not load.
    package var explanation: String? {
        guard let decision, let explained else { return nil }
        return Explanation.text(of: decision, for: explained)
    }
}

extension RuleCase {
    /// Runs the case. One that expects the error of a rule takes a recording of `.trace` at least.
    package func run(under rules: LoadedRules, recording: Recording = .values) -> CaseOutcome {
        switch rules {
        case .failure(let error): return outcome(of: error)
        case .success(let ruleset):
            let request = RulesRequest(root: data, auth: auth, now: now)
            let result = ruleset.simulate(operation, request, recording: recording)
            return CaseOutcome(
                example: self,
                decision: result.decision,
                problems: problems(of: result.decision, isTraced: recording.contains(.trace)),
                explained: operation.explained(by: auth, under: ruleset, result)
            )
        }
    }

    private func outcome(of error: RulesError) -> CaseOutcome {
        var problems: [String] = []
        if expected == .invalidRules {
            let found = error.faults.map(\.description)
            if let errors, errors != found {
                problems.append("expected the faults \(list(errors)), got \(list(found))")
            }
        } else {
            let faults = list(error.faults.map(\.description))
            problems.append("expected \(expected.rawValue), but the rules do not load: \(faults)")
        }
        return CaseOutcome(example: self, decision: nil, problems: problems, explained: nil)
    }

    private func problems(of decision: Decision, isTraced: Bool) -> [String] {
        var problems: [String] = []
        let actual: Expectation = decision.isAllowed ? .allow : .deny
        if expected == .invalidRules {
            problems.append("expected rules that do not load, but they do")
            return problems
        }
        if actual != expected {
            problems.append("expected \(expected.rawValue), got \(actual.rawValue)")
        }
        let decider = decision.decider
        if let decidedBy, decidedBy != decider {
            problems.append(
                "expected to be decided by \(decidedBy.words), was decided by \(decider.words)"
            )
        }
        if let error, isTraced {
            let messages = decision.trace.compactMap { rule in
                if case .error(let error) = rule.result { error.message } else { nil }
            }
            if !messages.contains(error) {
                problems.append("expected a rule to fail with \"\(error)\", got \(list(messages))")
            }
        }
        return problems
    }

    private func list(_ texts: [String]) -> String {
        if texts.isEmpty { return "none" }
        return texts.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
            + (texts.count > 10 ? ", ..." : "")
    }
}

extension Decision {
    /// The rule that decided, as cases name it.
    package var decider: RuleCase.Decider {
        rule.map { .rule("\($0.kind.rawValue) \($0.path)") } ?? .none
    }
}

extension RuleCase.Decider {
    /// For people.
    package var words: String {
        switch self {
        case .rule(let name): name
        case .none: "no rule"
        }
    }
}
