import JSONTree
import SecurityRules

/// The middle of an explanation: the rules consulted, in order, each with its reasons.
///
/// Of rules that hold beside those that decide, only the first are listed.
struct RulesSection {
    private let decision: Decision
    private let request: ExplainedRequest
    private let context: ReasonContext

    init(_ decision: Decision, _ request: ExplainedRequest) {
        self.decision = decision
        self.request = request
        context = ReasonContext(isSignedIn: request.auth != nil, newRoot: request.newRoot)
    }

    /// Writes the section; nothing when no rule was consulted.
    func write(to writer: inout ExplanationWriter) {
        var passing = 0
        var left = 0
        var entry: Int?
        for (index, rule) in decision.trace.enumerated() {
            let isPassing = rule.result == .value(true) && rule.kind == .validate
            if isPassing {
                passing += 1
                if passing > RulesLimits.explanationPassingCount {
                    left += 1
                    continue
                }
            } else if index >= RulesLimits.explanationRuleCount, !isDecisive(rule) {
                left += 1
                continue
            }
            writer.blank()
            if request.entries.count > 1, rule.entry != entry {
                entry = rule.entry
                writer.line(entryHeading(rule.entry))
            }
            write(rule, isPassing: isPassing, to: &writer)
        }
        if left > 0 {
            writer.blank()
            writer.line("(and \(left) more)")
        }
        if decision.isCut {
            writer.blank()
            writer.line("(The trace is cut: the decision is complete, the list of rules is not.)")
        }
    }

    private func isDecisive(_ rule: RuleOutcome) -> Bool {
        guard let deciding = decision.rule else { return rule.entry == decision.deniedEntry }
        return rule.line == deciding.line && rule.column == deciding.column
            && rule.location == deciding.location
    }

    private func entryHeading(_ entry: Int) -> String {
        let location = request.entry(entry).map(ExplanationText.path) ?? "number \(entry)"
        return "for \(location):"
    }

    private func write(_ rule: RuleOutcome, isPassing: Bool, to writer: inout ExplanationWriter) {
        let result =
            switch rule.result {
            case .value(let value): "is \(value)"
            case .error(let error): "failed at \(error.line):\(error.column)"
            }
        let bindings = rule.bindings.map { "\($0.name) = \(ExplanationText.quoted($0.key))" }
        let with = bindings.isEmpty ? "" : ", with " + bindings.joined(separator: ", ")
        writer.line("\(Explanation.location(of: rule)) \(result)\(with):")
        writer.line("    " + ExplanationText.line(rule.source.unicodeScalars))
        if case .error(let error) = rule.result {
            writer.line("  error: " + error.message)
        }
        // Why a rule holds is of interest only where it decides.
        if isPassing || (rule.result == .value(true) && !isDecisive(rule)) { return }
        guard let observed = ObservedExpression(rule) else { return }
        var reasons = RuleReasons(observed, context)
        reasons.explain()
        if !reasons.lines.isEmpty { writer.line("  because") }
        for line in reasons.lines { writer.line("    " + line) }
        if reasons.isCut { writer.line("    ...") }
        if rule.result == .value(false) { writeNeeds(observed, to: &writer) }
    }

    /// What would have to change for a false `&&` or `||`; of a single condition the reasons say it.
    private func writeNeeds(_ observed: ObservedExpression, to writer: inout ExplanationWriter) {
        guard case .logic(let symbol, let operands) = observed.root.kind else { return }
        switch symbol {
        case .or:
            let list = operands.prefix(RulesLimits.explanationReasonCount)
            writer.line("  any one of these would do:")
            for operand in list { writer.line("    " + observed.text(of: operand)) }
        case .and:
            guard let first = operands.firstIndex(where: { observed.truth(of: $0) == false }) else {
                return
            }
            writer.line("  it would hold if this did: " + observed.text(of: operands[first]))
            let later = operands[(first + 1)...].prefix(RulesLimits.explanationReasonCount)
            if later.isEmpty { return }
            writer.line("  and these, not looked at because that was false:")
            for operand in later { writer.line("    " + observed.text(of: operand)) }
        }
    }
}
