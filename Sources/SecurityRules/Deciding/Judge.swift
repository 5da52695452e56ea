import JSONTree
import Queries

/// Walks the rules of one request and comes to a decision.
///
/// Whoever makes a judge keeps the rules, the request and the new tree alive for as long.
struct Judge<P: Probe> {
    private let table: RuleTable
    private var evaluator: Evaluator<P>

    /// The rule that met a hard limit last: no steps were left, or a string grew too long.
    private(set) var overLimit: LimitedRule?

    /// What a rule came to.
    private enum Verdict {
        case holds
        case fails
        case aborted(EvaluationFailure)
    }

    /// Makes a judge of requests for one path, whose keys are `keys`.
    init(
        _ table: RuleTable,
        _ request: RulesRequest,
        query: QuerySpec?,
        newRoot: Node,
        _ trail: Trail,
        pathCount: Int = 1,
        probe: P
    ) {
        self.table = table
        evaluator = Evaluator(
            request,
            query: query,
            newRoot: newRoot,
            trail,
            pathCount: pathCount,
            probe: probe
        )
    }

    /// What was recorded.
    var probe: P { evaluator.probe }

    /// Steps that the request may still take; below 0 when it has taken too many.
    var stepsLeft: Int { evaluator.stepsLeft }

    // MARK: Reads

    /// Whether the path may be read: the first `.read` from the root down that holds.
    mutating func judgeRead() -> Verdicts {
        switch grant(.read, entry: 0, from: table.top, depth: 0) {
        case .granted(let rule, _): Verdicts(isAllowed: true, rule: rule)
        case .denied(let rule): Verdicts(isAllowed: false, rule: rule, overLimit: overLimit)
        }
    }

    // MARK: Writes

    /// What the entries of a write judged so far leave for the next.
    struct WriteProgress {
        /// The rule that granted the first entry.
        fileprivate var deciding: RuleOutcome?
        fileprivate var last: (path: Path, grantDepth: Int)?

        /// The verdict once all entries are judged.
        var verdicts: Verdicts { Verdicts(isAllowed: true, rule: deciding) }
    }

    /// Whether one target may be written as it is in the new tree; nil if it may.
    ///
    /// Entries come in path order, so that what two of them share is judged once: no grant was found
    /// and every `.validate` held on the keys that an entry shares with the one before.
    mutating func judgeWrite(
        _ target: WriteTarget,
        _ keys: LentKeys,
        entry: Int,
        after progress: inout WriteProgress
    ) -> Verdicts? {
        let common = progress.last.map { commonKeyCount($0.path, keys) } ?? -1
        evaluator.move(to: Trail(target: target.path, keys), common: max(common, 0))
        var grantDepth = progress.last?.grantDepth ?? .max
        if grantDepth > common {
            switch grantBelow(common, entry: entry) {
            case .denied(let rule):
                return refusal(rule, entry)
            case .granted(let rule, let depth):
                if progress.deciding == nil { progress.deciding = rule }
                grantDepth = depth
            }
        }
        if table.top.validatesHereOrBelow,
            let failed = validateAlong(target, skipping: common, entry: entry)
        {
            return refusal(failed, entry)
        }
        progress.last = (target.path, grantDepth)
        return nil
    }

    /// What targets that were asked about early leave for the next: how far down the last one had to be followed.
    struct EarlyProgress {
        fileprivate var last: (path: Path, depth: Int)?
    }

    /// Whether one target is refused whatever the new tree holds: no `.write` on its way holds, and none of them looks
    /// at new data. What a target shares with the one before, as far as that was followed, need not be asked again.
    mutating func refusesEarly(
        _ target: WriteTarget,
        _ keys: LentKeys,
        after progress: inout EarlyProgress
    ) -> Bool {
        if let last = progress.last, commonKeyCount(last.path, keys) >= last.depth { return false }
        evaluator.move(to: Trail(target: target.path, keys), common: 0)
        var spot = table.top
        var depth = 0
        while true {
            if let index = spot.write {
                let rule = table[index]
                var isOpen = rule.readsNewData
                if !isOpen, case .holds = run(rule, depth: depth) { isOpen = true }
                // Out of steps: for those who decide all of it to say.
                if isOpen || evaluator.stepsLeft < 0 {
                    progress.last = (target.path, depth)
                    return false
                }
            }
            if depth == evaluator.trail.target.keyCount { return true }
            guard let next = table.child(of: spot, evaluator.trail.key(at: depth)) else {
                return true
            }
            spot = next
            depth += 1
        }
    }

    private func refusal(_ rule: RuleOutcome?, _ entry: Int) -> Verdicts {
        Verdicts(isAllowed: false, rule: rule, deniedEntry: entry, overLimit: overLimit)
    }

    private func commonKeyCount(_ path: Path, _ keys: LentKeys) -> Int {
        path.withKeys { last in
            let limit = min(last.count, keys.count)
            for index in 0..<limit where last[index] != keys[index] { return index }
            return limit
        }
    }

    // MARK: Grants

    private enum Grant {
        case granted(RuleOutcome, depth: Int)
        /// With the rule that ran out of steps, if one did.
        case denied(RuleOutcome?)
    }

    /// Looks for a `.write` that holds, below the first `common` keys, where none was found before.
    private mutating func grantBelow(_ common: Int, entry: Int) -> Grant {
        var spot = table.top
        for depth in 0..<max(common + 1, 0) {
            if depth == evaluator.trail.target.keyCount { return .denied(nil) }
            guard let next = table.child(of: spot, evaluator.trail.key(at: depth)) else {
                return .denied(nil)
            }
            spot = next
        }
        return grant(.write, entry: entry, from: spot, depth: common + 1)
    }

    /// Walks from a rule node under the first `depth` keys of the target down to the target.
    private mutating func grant(
        _ kind: RuleKind,
        entry: Int,
        from start: RuleTable.Spot,
        depth startDepth: Int
    ) -> Grant {
        var spot = start
        var depth = startDepth
        while true {
            if let index = kind == .read ? spot.read : spot.write {
                let rule = table[index]
                let verdict = consult(rule, depth: depth, entry: entry)
                if case .holds = verdict {
                    return .granted(outcome(rule, verdict, depth, entry), depth: depth)
                }
                if evaluator.stepsLeft < 0 {
                    return .denied(outcome(rule, verdict, depth, entry))
                }
            }
            if depth == evaluator.trail.target.keyCount { return .denied(nil) }
            guard let next = table.child(of: spot, evaluator.trail.key(at: depth)) else {
                return .denied(nil)
            }
            spot = next
            depth += 1
        }
    }

    // MARK: Validation

    /// Runs every `.validate` from the root to the target and below it; the first that does not
    /// hold, or nil. Those on the first `skipping` keys are known to hold.
    private mutating func validateAlong(
        _ target: WriteTarget,
        skipping: Int,
        entry: Int
    ) -> RuleOutcome? {
        var spot = table.top
        var depth = 0
        while true {
            if depth > skipping, let rule = spot.validate {
                if P.isRecording, evaluator.probe.wantsPaths {
                    let path = evaluator.trail.path(depth)
                    evaluator.probe.looked(at: path)
                }
                // Nothing is left here, nor below.
                if evaluator.prefixNode(isNew: true, depth).isAbsent { return nil }
                if let failed = validate(rule, depth: depth, entry: entry) { return failed }
            }
            if depth == evaluator.trail.target.keyCount { break }
            guard let next = table.child(of: spot, evaluator.trail.key(at: depth)),
                next.validatesHereOrBelow
            else { return nil }
            spot = next
            depth += 1
        }
        // A priority has nothing below it.
        if target.isPriority || !spot.validatesBelow { return nil }
        let data = evaluator.prefixNode(isNew: true, depth)
        return validateBelow(spot, data, depth: depth, entry: entry)
    }

    private mutating func validate(
        _ index: RuleTable.RuleIndex,
        depth: Int,
        entry: Int
    ) -> RuleOutcome? {
        let rule = table[index]
        let verdict = consult(rule, depth: depth, entry: entry)
        if case .holds = verdict { return nil }
        return refusing(rule, verdict, depth, entry)
    }

    /// Validates the children that the write carries. Recursion is bounded by the depth of data.
    private mutating func validateBelow(
        _ spot: RuleTable.Spot,
        _ data: LentNode,
        depth: Int,
        entry: Int
    ) -> RuleOutcome? {
        var failed: RuleOutcome?
        if spot.wildcardValidates {
            data.visitChildren { key, child in
                evaluator.stepsLeft -= 1
                if evaluator.stepsLeft < 0 {
                    failed = outOfSteps(below: spot, entry: entry)
                    return failed == nil
                }
                guard let next = table.child(of: spot, key), next.validatesHereOrBelow else {
                    return true
                }
                failed = validateChild(next, key, child, depth: depth, entry: entry)
                return failed == nil
            }
            return failed
        }
        // Only named children have rules: look for those instead of visiting all data.
        for index in spot.literals {
            let (key, next) = table.literal(index)
            if !next.validatesHereOrBelow { continue }
            evaluator.stepsLeft -= 1
            let child = data.child(key)
            if child.isAbsent { continue }
            failed = validateChild(next, key, child, depth: depth, entry: entry)
            if failed != nil { return failed }
        }
        return nil
    }

    private mutating func validateChild(
        _ spot: RuleTable.Spot,
        _ key: Bytes,
        _ child: LentNode,
        depth: Int,
        entry: Int
    ) -> RuleOutcome? {
        evaluator.enter(key, newNode: child)
        defer { evaluator.leave() }
        if let rule = spot.validate,
            let failed = validate(rule, depth: depth + 1, entry: entry)
        {
            return failed
        }
        if !spot.validatesBelow { return nil }
        return validateBelow(spot, child, depth: depth + 1, entry: entry)
    }

    /// Refuses new data of which too much has been visited, for a rule that it has not been judged by yet.
    private mutating func outOfSteps(below spot: RuleTable.Spot, entry: Int) -> RuleOutcome? {
        guard let wildcard = table.wildcardChild(of: spot),
            let rule = table.anyValidation(from: wildcard)
        else { return nil }
        let path = evaluator.trail.path
        let rest = rule.path.split(separator: "/").dropFirst(path.keyCount)
        let error = RuleError(
            message: EvaluationFault.outOfSteps.message,
            line: rule.line,
            column: rule.column
        )
        let outcome = RuleOutcome(
            rule,
            entry: entry,
            within: path.appending(Path(rest.map { Key(unchecked: Array($0.utf8)) })),
            depth: path.keyCount + rest.count,
            result: .error(error),
            observed: nil
        )
        overLimit = LimitedRule(outcome)
        return outcome
    }

    // MARK: One rule

    private mutating func consult(_ rule: Rule, depth: Int, entry: Int) -> Verdict {
        let verdict = run(rule, depth: depth)
        if P.isRecordingValues { evaluator.probe.end(rule) }
        if case .aborted = verdict { noteLimit(rule, verdict, depth: depth, entry: entry) }
        if P.isRecording, evaluator.probe.wants(rule) {
            let outcome = outcome(rule, verdict, depth, entry)
            evaluator.probe.consulted(outcome)
        }
        return verdict
    }

    /// Keeps the rule if what aborted it is a limit. Apart, so that it stays out of the way of all others.
    @inline(never)
    private mutating func noteLimit(_ rule: Rule, _ verdict: Verdict, depth: Int, entry: Int) {
        guard case .aborted(let failure) = verdict, failure.fault.isLimit else { return }
        overLimit = LimitedRule(outcome(rule, verdict, depth, entry))
    }

    /// The outcome of the rule consulted last, which refuses the request. It has its values even
    /// where the trace has no more room for them, unless it takes many steps.
    private mutating func refusing(
        _ rule: Rule,
        _ verdict: Verdict,
        _ depth: Int,
        _ entry: Int
    ) -> RuleOutcome {
        if P.isRecordingValues, evaluator.probe.observed == nil,
            case .program(let program) = rule.body,
            evaluator.stepsLeft >= 0, evaluator.probe.makeRoom(for: program)
        {
            let value: Bool? =
                switch verdict {
                case .holds: true
                case .fails: false
                case .aborted: nil
                }
            if evaluator.replay(program, depth: depth, expecting: value) {
                evaluator.probe.end(rule)
            }
        }
        return outcome(rule, verdict, depth, entry)
    }

    private mutating func run(_ rule: Rule, depth: Int) -> Verdict {
        switch rule.body {
        case .constant(let value):
            return value ? .holds : .fails
        case .program(let program):
            do throws(EvaluationFailure) {
                return try evaluator.run(program, depth: depth) ? .holds : .fails
            } catch {
                return .aborted(error)
            }
        }
    }

    private func outcome(
        _ rule: Rule,
        _ verdict: Verdict,
        _ depth: Int,
        _ entry: Int
    ) -> RuleOutcome {
        let result: RuleOutcome.Result =
            switch verdict {
            case .holds: .value(true)
            case .fails: .value(false)
            case .aborted(let failure): .error(rule.error(for: failure))
            }
        return RuleOutcome(
            rule,
            entry: entry,
            within: evaluator.trail.path,
            depth: depth,
            result: result,
            observed: P.isRecordingValues ? evaluator.probe.observed : nil
        )
    }
}

/// The verdict of a judge, without what was recorded.
struct Verdicts {
    let isAllowed: Bool
    let rule: RuleOutcome?
    let deniedEntry: Int?
    /// See `Decision.overLimit`.
    let overLimit: LimitedRule?

    init(
        isAllowed: Bool,
        rule: RuleOutcome?,
        deniedEntry: Int? = nil,
        overLimit: LimitedRule? = nil
    ) {
        self.isAllowed = isAllowed
        self.rule = rule
        self.deniedEntry = deniedEntry
        self.overLimit = overLimit
    }
}

/// A rule that met a hard limit, in a box: every decision has the room for one, and hardly any has one.
final class LimitedRule: Sendable {
    let outcome: RuleOutcome

    init(_ outcome: RuleOutcome) {
        self.outcome = outcome
    }
}

extension Rule {
    /// Why and where in the rules text this rule was aborted.
    func error(for failure: EvaluationFailure) -> RuleError {
        guard case .program(let program) = body else {
            preconditionFailure("a constant is never aborted")
        }
        let span = program.spans[Int(failure.operation.number)]
        return RuleError(
            message: failure.fault.message,
            line: span.line,
            column: span.column
        )
    }
}
