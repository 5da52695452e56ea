import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// Rules that are tried on live traffic beside those in force, and how often the two differ. No decision, event or
/// commit depends on them.
///
/// The candidate decides everything once more, with few steps of its own (`RulesLimits.stepsPerTrial`): what takes
/// more is left undecided. Counts are in memory alone, and begin anew with either ruleset.
final class ShadowRules {
    let candidate: StoredRuleset
    let rules: Ruleset
    /// The rules in force that it is compared with.
    let live: Ruleset
    private(set) var report: ShadowReport

    init(_ candidate: StoredRuleset, _ rules: Ruleset, live: Ruleset, now: Timestamp) {
        self.candidate = candidate
        self.rules = rules
        self.live = live
        report = ShadowReport(candidate: candidate.id, since: now)
    }

    func reset(now: Timestamp) {
        report = ShadowReport(candidate: candidate.id, since: now)
    }

    /// Decides a read that the rules in force have decided.
    func compare(_ decision: Decision, with read: Read, _ request: RulesRequest) {
        // Listens are authorized again when data changes, thousands at once: that is no traffic of clients.
        if read.requester.operation == .recheck { return }
        var request = request
        request.stepLimit = RulesLimits.stepsPerTrial
        let shadow = rules.decideRead(read.path, query: read.rulesQuery, request)
        note(decision, shadow, read.requester, request.now) { _ in read.path }
    }

    /// Decides a write that the rules in force have decided.
    func compareWrite(
        _ decision: Decision,
        of targets: [WriteTarget],
        newRoot: Node,
        _ request: RulesRequest,
        _ requester: Requester
    ) {
        var request = request
        request.stepLimit = RulesLimits.stepsPerTrial
        let shadow = rules.decideWrite(targets, newRoot: newRoot, request)
        note(decision, shadow, requester, request.now) { entry in
            targets.isEmpty ? .root : targets[entry ?? 0].path
        }
    }

    /// Counts a request; `path` is that of an entry, and of the whole request for nil.
    private func note(
        _ live: Decision,
        _ shadow: Decision,
        _ requester: Requester,
        _ time: Timestamp,
        path: (Int?) -> Path
    ) {
        let shadowAllows = shadow.ranOutOfSteps ? nil : shadow.isAllowed
        report.add(liveAllows: live.isAllowed, shadowAllows: shadowAllows) {
            let refusal = shadow.isAllowed ? live : shadow
            let difference = ShadowDifference(
                operation: requester.operation.rawValue,
                isNewlyAllowed: shadow.isAllowed,
                live: live.rule.map(DecidingRule.init),
                shadow: shadow.rule.map(DecidingRule.init)
            )
            let example = ShadowDifference.Example(
                path: path(refusal.deniedEntry).description,
                uid: requester.identity.auth?.uid,
                time: time
            )
            return (difference, example)
        }
    }
}

extension DecidingRule {
    fileprivate init(_ outcome: RuleOutcome) {
        self.init(
            kind: outcome.kind.rawValue,
            path: outcome.path,
            line: outcome.line,
            column: outcome.column,
            source: outcome.source
        )
    }
}

extension Database {
    /// Puts the stored ruleset that is labelled `canary` beside the rules in force; counts begin anew where either is
    /// another one now. Rules among `loaded` are not loaded once more.
    func renewShadow(_ loaded: [Ruleset] = [], now: Timestamp) {
        guard let candidate = settings.labels.canary.flatMap({ settings.ruleset($0) }) else {
            shadow = nil
            return
        }
        var known = loaded.first { candidate.isText(of: $0) }
        if let shadow, shadow.candidate == candidate {
            if shadow.live === rules { return }
            known = shadow.rules
        }
        do throws(RulesError) {
            let rules: Ruleset
            if let known { rules = known } else { rules = try Ruleset.load(candidate.text) }
            shadow = ShadowRules(candidate, rules, live: self.rules, now: commitTime(now))
        } catch {
            // Only rules that load are stored, but an older server may have taken what this one does not: they
            // have no effect, so they must not keep anything from working.
            shadow = nil
        }
    }
}
