import DatabaseCore
import FileRules
import FileRulesTools
import JSONTree

/// Rules for files that are tried on live requests beside those in force, and how often the two differ. No answer
/// depends on them.
///
/// They are tried where the rules in force are those of every bucket that has no file of its own, which are what they
/// would replace. They decide with a budget of their own (`FileRulesBudget.trial`). Counts are in memory alone.
struct FileShadowRules {
    /// What the rules in force have decided.
    struct Outcome {
        let isAllowed: Bool
        /// The statement that allowed it; nil where none did, and where there are no rules.
        var allow: FileAllow?
        /// Whether an upload has only begun, so that something of its object is not known yet.
        var isEarly = false
    }

    let candidate: StoredRuleset
    let rules: FileRuleset
    /// The rules in force that they are compared with.
    let live: FileRulesInForce
    private(set) var report: ShadowReport

    init(
        _ candidate: StoredRuleset,
        _ rules: FileRuleset,
        live: FileRulesInForce,
        now: Timestamp
    ) {
        self.candidate = candidate
        self.rules = rules
        self.live = live
        report = ShadowReport(candidate: candidate.id, since: now)
    }

    mutating func reset(now: Timestamp) {
        report = ShadowReport(candidate: candidate.id, since: now)
    }

    /// Decides a request that the rules in force have decided.
    mutating func compare(
        _ outcome: Outcome,
        _ request: FileRulesRequest,
        database: FileDatabaseLookup
    ) {
        let decision = rules.decide(request, within: .trial, database: database)
        var isKnown = decision.overBudget == nil
        if outcome.isEarly, !decision.isAllowed, rules.mayChange(decision) { isKnown = false }
        report.add(
            liveAllows: outcome.isAllowed,
            shadowAllows: isKnown ? decision.isAllowed : nil
        ) {
            let difference = ShadowDifference(
                operation: request.operation.rawValue,
                isNewlyAllowed: decision.isAllowed,
                live: outcome.allow.map(DecidingRule.init),
                shadow: decision.allow.map(DecidingRule.init)
            )
            let example = ShadowDifference.Example(
                path: "\(request.bucket)/\(request.name)",
                uid: request.auth?.uid,
                time: request.time
            )
            return (difference, example)
        }
    }
}

extension DecidingRule {
    fileprivate init(_ allow: FileAllow) {
        self.init(
            kind: "allow \(allow.words)",
            path: allow.pattern,
            line: allow.position.line,
            column: allow.position.column,
            source: allow.condition
        )
    }
}

extension FileRuleset {
    /// Whether a denial at the start of an upload may be none at its end: its rules look at what is not known yet, or at
    /// what may be another then.
    func mayChange(_ denial: FileDecision) -> Bool {
        if !denial.lookups.isEmpty || denial.overBudget != nil { return true }
        return denial.candidates.contains { candidate in
            expressions(of: candidate.allow).contains { number in
                let text = expression(number).text
                return Self.unknownMembers.contains { text.contains($0) }
            }
        }
    }

    private static let unknownMembers = [
        "md5Hash", "crc32c", "etag", "eneration", "timeCreated", "updated", "request.time",
    ]
}

extension FileRulesInForce {
    /// Whether these are the very rules.
    func isIdentical(to other: FileRulesInForce) -> Bool {
        switch (self, other) {
        case (.loaded(let rules), .loaded(let others)): rules === others
        case (.open, .open), (.none, .none): true
        case (.loaded, _), (.open, _), (.none, _): false
        }
    }
}
