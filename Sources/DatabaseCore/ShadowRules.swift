import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// Rules that are tried on live traffic beside those in force, and how often the two differ. Nobody else notices: no
/// verdict, no event and no commit depends on them.
///
/// The candidate decides everything once more, with few steps of its own (`RulesLimits.stepsPerTrial`): what takes
/// more is left undecided. What is counted is in memory alone, and begins anew with either ruleset.
final class ShadowRules {
    let candidate: StoredRuleset
    let rules: Ruleset
    /// The rules in force that it is compared with.
    let live: Ruleset
    private(set) var report: ShadowReport
    private var indexes: [DifferenceKey: Int] = [:]

    /// What makes two differences of one kind. Within one ruleset a place in the text names a rule.
    private struct DifferenceKey: Hashable {
        let operation: DecisionRecord.Operation
        let isNewlyAllowed: Bool
        let live: RulePlace?
        let shadow: RulePlace?
    }

    private struct RulePlace: Hashable {
        let line: Int
        let column: Int

        init(_ outcome: RuleOutcome) {
            line = outcome.line
            column = outcome.column
        }
    }

    /// Somebody's question, as examples show it.
    private struct Case {
        let requester: Requester
        let time: Timestamp
        /// The place of an entry, and of the whole request for nil.
        let path: (Int?) -> Path
    }

    init(_ candidate: StoredRuleset, _ rules: Ruleset, live: Ruleset, now: Timestamp) {
        self.candidate = candidate
        self.rules = rules
        self.live = live
        report = ShadowReport(candidate: candidate.id, since: now)
    }

    /// Forgets what was counted.
    func reset(now: Timestamp) {
        report = ShadowReport(candidate: candidate.id, since: now)
        indexes = [:]
    }

    /// Decides a read that the rules in force have decided.
    func judgeRead(
        _ path: Path,
        _ query: QuerySpec?,
        _ request: RulesRequest,
        _ requester: Requester,
        against decision: Decision
    ) {
        // What is there is judged again when data changes, thousands at once: no traffic of anybody.
        if requester.operation == .recheck { return }
        var request = request
        request.stepLimit = RulesLimits.stepsPerTrial
        let shadow = rules.decideRead(path, query: query, request)
        note(decision, shadow, Case(requester: requester, time: request.now) { _ in path })
    }

    /// Decides a write that the rules in force have decided.
    func judgeWrite(
        _ targets: [WriteTarget],
        newRoot: Node,
        _ request: RulesRequest,
        _ requester: Requester,
        against decision: Decision
    ) {
        var request = request
        request.stepLimit = RulesLimits.stepsPerTrial
        let shadow = rules.decideWrite(targets, newRoot: newRoot, request)
        let path = { (entry: Int?) in targets.isEmpty ? Path.root : targets[entry ?? 0].path }
        note(decision, shadow, Case(requester: requester, time: request.now, path: path))
    }

    private func note(_ live: Decision, _ shadow: Decision, _ asked: Case) {
        report.totals.judgedCount += 1
        if shadow.ranOutOfSteps {
            report.totals.undecidedCount += 1
            return
        }
        if live.isAllowed == shadow.isAllowed { return }
        let isNewlyAllowed = shadow.isAllowed
        if isNewlyAllowed {
            report.totals.newlyAllowedCount += 1
        } else {
            report.totals.newlyRefusedCount += 1
        }
        let key = DifferenceKey(
            operation: asked.requester.operation,
            isNewlyAllowed: isNewlyAllowed,
            live: live.rule.map(RulePlace.init),
            shadow: shadow.rule.map(RulePlace.init)
        )
        let refusal = isNewlyAllowed ? live : shadow
        let example = ShadowDifference.Example(
            path: asked.path(refusal.deniedEntry),
            auth: asked.requester.identity.auth,
            time: asked.time
        )
        if let index = indexes[key] {
            report.differences[index].add(example)
            return
        }
        guard report.differences.count < Limits.shadowDifferences else {
            report.unlistedCount += 1
            return
        }
        indexes[key] = report.differences.count
        var difference = ShadowDifference(
            operation: asked.requester.operation,
            isNewlyAllowed: isNewlyAllowed,
            live: live.rule.map(DecidingRule.init),
            shadow: shadow.rule.map(DecidingRule.init)
        )
        difference.add(example)
        report.differences.append(difference)
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
