package import FileRules
import JSONTree
import RulesTools
import SecurityRules

/// The text for people about a request for a file that was refused or allowed: the decision in one sentence, then every
/// `allow` that was tried with the values that decided it, then who asked.
///
///     get photos/a.png of bucket B refused: no allow of get is true.
///
///     allow read of /b/{bucket}/o/photos/{id} (rules 4:9) is false, with bucket = "B", id = "a.png":
///         request.auth != null && request.auth.uid == resource.metadata.owner
///       because
///         request.auth != null is false
///           request.auth is null
///
///     asked by a signed-out caller: request.auth is null
package enum FileExplanation {
    /// Explains a decision that was recorded; of one that was not it says less.
    ///
    /// - Returns: lines of plain text, the last one without a newline at its end, some
    ///   `RulesLimits.explanationByteCount` long at most.
    package static func text(
        of decision: FileDecision,
        for request: FileRulesRequest,
        under rules: FileRuleset
    ) -> String {
        var lines = [sentence(of: decision, for: request), ""]
        for candidate in decision.candidates.prefix(RulesLimits.explanationRuleCount) {
            lines += section(candidate, rules) + [""]
        }
        let left = decision.candidates.count - RulesLimits.explanationRuleCount
        if left > 0 { lines += ["(and \(left) more)", ""] }
        for lookup in decision.lookups {
            lines.append(
                "read \(ExplanationText.line(lookup.path.description.unicodeScalars)) of \(lookup.database ?? "the bucket's database")"
            )
        }
        for debugged in decision.debugged {
            lines.append("debug \(debugged.position): \(debugged.text)")
        }
        lines.append(asker(request.auth))
        return cut(lines)
    }

    /// Explains what becomes of a request in a bucket without rules.
    static func text(of request: FileRulesRequest, withoutRules isAllowed: Bool) -> String {
        let why =
            isAllowed
            ? "allowed: the bucket has no rules, and in development everything is allowed then."
            : "refused: the bucket has no rules, so everything is refused."
        return "\(what(request)) \(why)\n\n\(asker(request.auth))"
    }

    private static func what(_ request: FileRulesRequest) -> String {
        let name = ExplanationText.line(request.name.unicodeScalars)
        let bucket = ExplanationText.line(request.bucket.unicodeScalars)
        return
            "\(request.operation.rawValue) \(name.isEmpty ? "everything" : name) of bucket \(bucket)"
    }

    /// The first line: the request, whether it was allowed, and why.
    package static func sentence(of decision: FileDecision, for request: FileRulesRequest) -> String
    {
        let what = what(request)
        if let allow = decision.allow {
            return "\(what) allowed: \(title(allow)) is true."
        }
        if let failure = decision.overBudget {
            return "\(what) refused: \(failure.message) It ended at \(failure.position)."
        }
        let isNone = decision.candidates.isEmpty
        return
            "\(what) refused: no allow of \(request.operation.rawValue) \(isNone ? "matches the path" : "is true")."
    }

    private static func title(_ allow: FileAllow) -> String {
        "allow \(allow.words) of \(ExplanationText.line(allow.pattern.unicodeScalars)) (rules \(allow.position))"
    }

    private static func asker(_ auth: FileAuth?) -> String {
        guard let auth else { return "asked by a signed-out caller: request.auth is null" }
        let claims = String(decoding: auth.claims, as: UTF8.self)
        return
            "asked by \(ExplanationText.quoted(auth.uid)): \(ExplanationText.line(claims.unicodeScalars))"
    }

    private static func section(_ candidate: FileCandidate, _ rules: FileRuleset) -> [String] {
        let bindings = candidate.bindings.map {
            "\($0.name) = \(ExplanationText.line($0.value.unicodeScalars))"
        }
        let result =
            switch candidate.result {
            case .value(let value): "is \(value)"
            case .error(let failure): "failed at \(failure.position)"
            }
        var lines = [
            "\(title(candidate.allow)) \(result)"
                + (bindings.isEmpty ? ":" : ", with \(bindings.joined(separator: ", ")):"),
            "    " + ExplanationText.line(candidate.allow.condition.unicodeScalars),
        ]
        if case .error(let failure) = candidate.result {
            lines.append("  error: " + failure.message)
        }
        var reasons = FileReasons(candidate.observations, rules)
        reasons.explain()
        if !reasons.lines.isEmpty { lines.append("  because") }
        return lines + reasons.lines.map { "    " + $0 }
    }

    private static func cut(_ lines: [String]) -> String {
        var text = ""
        for line in lines {
            if text.utf8.count + line.utf8.count > RulesLimits.explanationByteCount {
                return text + "\n... (cut: an explanation has a limit)"
            }
            text += (text.isEmpty ? "" : "\n") + line
        }
        return text
    }
}

/// The expressions that decided a condition, with their values, from what was observed.
///
/// `&&` and `||` stand for the operands that decided them. The value that a member was taken from is left out.
private struct FileReasons {
    private let observations: [FileObservation]
    private let rules: FileRuleset
    private(set) var lines: [String] = []
    private var said: Set<String> = []

    init(_ observations: [FileObservation], _ rules: FileRuleset) {
        self.observations = observations
        self.rules = rules
    }

    mutating func explain() {
        if !observations.isEmpty { explain(0, 0) }
    }

    /// Explains one; recursion is bounded by the depth of evaluation.
    private mutating func explain(_ index: Int, _ indent: Int) {
        if lines.count >= RulesLimits.explanationReasonCount { return }
        let observation = observations[index]
        let shape = rules.shape(observation.expression)
        if shape == .allOf || shape == .anyOf {
            let truth = observation.truth
            for operand in operands(of: index) {
                // One that decides alone is enough.
                if truth == (shape == .anyOf), observations[operand].truth != truth { continue }
                explain(operand, indent)
            }
            return
        }
        // Where an error began says more than what it went through.
        if case .error = observation.outcome,
            let origin = operands(of: index).first(where: {
                observations[$0].outcome == observation.outcome
            })
        {
            return explain(origin, indent)
        }
        let text = ExplanationText.line(
            rules.expression(observation.expression).text.unicodeScalars
        )
        let line =
            switch observation.outcome {
            case .value(let value, _): "\(text) is \(ExplanationText.line(value.unicodeScalars))"
            case .error(let message): "\(text) failed: \(message)"
            }
        if said.insert(line).inserted {
            lines.append(String(repeating: "  ", count: min(indent, 12)) + line)
        }
        for operand in operands(of: index) {
            let isBase = shape == .member && rules.shape(observations[operand].expression) != .other
            if isBase, case .value = observations[operand].outcome { continue }
            explain(operand, indent + 1)
        }
    }

    /// Those one level deeper, up to the next that is not.
    private func operands(of index: Int) -> [Int] {
        let depth = observations[index].depth
        var found: [Int] = []
        var next = index + 1
        while next < observations.count, observations[next].depth > depth {
            if observations[next].depth == depth + 1 { found.append(next) }
            next += 1
        }
        return found
    }
}

extension FileObservation {
    /// The bool that it is; nil for another value, and for an error.
    package var truth: Bool? {
        if case .value(_, let truth) = outcome { truth } else { nil }
    }
}
