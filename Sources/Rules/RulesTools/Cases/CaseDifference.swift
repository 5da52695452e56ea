package import SecurityRules

/// A case that two rulesets decide differently.
package struct CaseDifference: Sendable {
    /// What is different.
    package enum Kind: Sendable, Equatable {
        case nowAllowed
        case nowRefused
        /// The decision is the same, the rule that decides is another.
        case decidedBy(RuleCase.Decider, before: RuleCase.Decider)
    }

    package let example: RuleCase
    package let kind: Kind
    /// Under the old rules, and under the new ones.
    package let old: CaseOutcome
    package let new: CaseOutcome
}

extension RuleCase {
    /// The difference of two rulesets in a case; nil when there is none.
    package func difference(from old: Ruleset, to new: Ruleset) -> CaseDifference? {
        let before = run(under: .success(old))
        let after = run(under: .success(new))
        guard let first = before.decision, let second = after.decision else { return nil }
        let kind: CaseDifference.Kind
        if first.isAllowed != second.isAllowed {
            kind = second.isAllowed ? .nowAllowed : .nowRefused
        } else if first.decider != second.decider {
            kind = .decidedBy(second.decider, before: first.decider)
        } else {
            return nil
        }
        return CaseDifference(example: self, kind: kind, old: before, new: after)
    }

    /// The request in a line: `write /a/b as "ann"`.
    package var summary: String {
        let who =
            auth.map { $0.uid.map { "as \"\($0)\"" } ?? "as a caller without uid" } ?? "signed out"
        switch operation {
        case .read(let path, let query): return "\(query == nil ? "read" : "query") \(path) \(who)"
        case .write(let target, _): return "write \(target) \(who)"
        case .update(let base, _): return "update \(base) \(who)"
        }
    }
}
