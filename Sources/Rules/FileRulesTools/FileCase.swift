package import FileRules
package import JSONTree
import RulesTools
package import SecurityRules

/// Rules for files that were given: loaded, or why they do not.
package typealias LoadedFileRules = Result<FileRuleset, RulesError>

/// One request for a file with the expected outcome.
package struct FileCase: Sendable {
    /// The expected outcome.
    package enum Expectation: String, Sendable, CaseIterable {
        case allow, deny
        /// The rules of the case do not load.
        case invalidRules = "invalid-rules"
    }

    /// Its name, for people.
    package let name: String
    /// The offset of its opening brace in the file, in bytes.
    package let offset: Int
    package let request: FileRulesRequest
    /// What databases hold: under "" that of the bucket, the others under their names.
    package let databases: [String: Node]
    package let expected: Expectation
    /// Why, for people.
    package let why: String?
    /// The `allow` that must decide, such as `read /b/{bucket}/o/{id}`; nil inside when none may, nil when any may.
    package let decidedBy: String??
    /// A message that some condition must have failed with.
    package let error: String?
    /// The faults of rules that must not load, each as `line:column: message`.
    package let errors: [String]?
    /// Rules of its own.
    package let ownRules: LoadedFileRules?

    /// What is tried, for people: `get users/ann/a.png as "ann"`.
    package var summary: String {
        let name = request.name.isEmpty ? "everything" : request.name
        let who = request.auth.map { "as \(ExplanationText.quoted($0.uid))" } ?? "signed out"
        let path = ExplanationText.line(name.unicodeScalars)
        return "\(request.operation.rawValue) \(path) \(who)"
    }

    /// Runs the case under its own rules, else under `shared`; nil when there are none.
    package func run(under shared: LoadedFileRules?) -> FileCaseOutcome? {
        switch ownRules ?? shared {
        case nil: return nil
        case .failure(let error)?:
            return FileCaseOutcome(self, nil, nil, problems: problems(of: error))
        case .success(let rules)?:
            let decision = rules.decide(request, isRecorded: true) { name, path in
                databases[name ?? ""]?.descendant(at: path)
            }
            return FileCaseOutcome(self, rules, decision, problems: problems(of: decision))
        }
    }

    private func problems(of error: RulesError) -> [String] {
        let found = error.faults.map(\.description)
        if expected != .invalidRules {
            return ["expected \(expected.rawValue), but the rules do not load: \(list(found))"]
        }
        if let errors, errors != found {
            return ["expected the faults \(list(errors)), got \(list(found))"]
        }
        return []
    }

    private func problems(of decision: FileDecision) -> [String] {
        if expected == .invalidRules { return ["expected rules that do not load, but they do"] }
        var problems: [String] = []
        let actual: Expectation = decision.isAllowed ? .allow : .deny
        if actual != expected {
            problems.append("expected \(expected.rawValue), got \(actual.rawValue)")
        }
        if let decidedBy, decidedBy != decision.allow?.name {
            let (wanted, got) = (decidedBy ?? "no allow", decision.allow?.name ?? "no allow")
            problems.append("expected to be decided by \(wanted), was decided by \(got)")
        }
        if let error {
            let messages = decision.candidates.compactMap { candidate in
                if case .error(let failure) = candidate.result { failure.message } else { nil }
            }
            if !messages.contains(error) {
                problems.append(
                    "expected a condition to fail with \"\(error)\", got \(list(messages))"
                )
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

/// What came of a case.
package struct FileCaseOutcome: Sendable {
    package let example: FileCase
    /// The rules that decided; nil when they do not load.
    package let rules: FileRuleset?
    /// The decision, recorded; nil when the rules do not load.
    package let decision: FileDecision?
    /// What came otherwise than expected, for people; empty when the case passed.
    package let problems: [String]

    init(_ example: FileCase, _ rules: FileRuleset?, _ decision: FileDecision?, problems: [String])
    {
        self.example = example
        self.rules = rules
        self.decision = decision
        self.problems = problems
    }

    /// Whether everything came as expected.
    package var isPassed: Bool { problems.isEmpty }

    /// The explanation of the decision, made on demand; nil when the rules do not load.
    package var explanation: String? {
        guard let rules, let decision else { return nil }
        return FileExplanation.text(of: decision, for: example.request, under: rules)
    }
}
