import JSONTree
import Queries

/// Walks the rules of one request and decides it.
///
/// The caller keeps the rules, the request and the new tree alive while this is in use.
struct Authorizer<P: Probe> {
    private let table: RuleTable
    private var evaluator: Evaluator<P>

    /// The rule that met a hard limit last: no steps were left, or a string grew too long.
    private(set) var overLimit: LimitedRule?

    /// The result of a rule.
    private enum Evaluation {
        case holds
        case fails
        case aborted(EvaluationFailure)
    }

    /// Makes an authorizer of requests for the path of `rulePath`.
    init(
        _ table: RuleTable,
        _ request: RulesRequest,
        query: QuerySpec?,
        newRoot: Node,
        _ rulePath: RulePath,
        pathCount: Int = 1,
        probe: P
    ) {
        self.table = table
        evaluator = Evaluator(
            request,
            query: query,
            newRoot: newRoot,
            rulePath,
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
    mutating func authorizeRead() -> UntracedDecision {
        switch grant(.read, entry: 0, from: table.top, depth: 0) {
        case .granted(let rule, _): UntracedDecision(isAllowed: true, rule: rule)
        case .denied(let rule): UntracedDecision(isAllowed: false, rule: rule, overLimit: overLimit)
        }
    }

    // MARK: Writes

    /// What the entries decided so far pass on to the next.
    struct WriteProgress {
        /// The rule that granted the first entry.
        fileprivate var deciding: RuleOutcome?
        fileprivate var last: (path: Path, grantDepth: Int)?

        /// The decision once all entries are decided.
        var decision: UntracedDecision { UntracedDecision(isAllowed: true, rule: deciding) }
    }

    /// Decides whether one target may be written as in the new tree; nil if it may.
    ///
    /// Entries come in path order, so that shared keys are decided once: on the keys that an entry
    /// shares with the one before, no rule granted and every `.validate` held.
    mutating func authorizeWrite(
        _ target: WriteTarget,
        _ keys: BorrowedKeys,
        entry: Int,
        after progress: inout WriteProgress
    ) -> UntracedDecision? {
        let common = progress.last.map { commonKeyCount($0.path, keys) } ?? -1
        evaluator.move(to: RulePath(target: target.path, keys), common: max(common, 0))
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

    /// What targets checked early pass on to the next: how far down the last one was followed.
    struct EarlyProgress {
        fileprivate var last: (path: Path, depth: Int)?
    }

    /// Whether one target is refused for every possible new tree: no `.write` on its path holds, and none of them reads
    /// new data. Does not run the rules again on keys that the target shares with the one before, as far as that was
    /// followed.
    mutating func refusesEarly(
        _ target: WriteTarget,
        _ keys: BorrowedKeys,
        after progress: inout EarlyProgress
    ) -> Bool {
        if let last = progress.last, commonKeyCount(last.path, keys) >= last.depth { return false }
        evaluator.move(to: RulePath(target: target.path, keys), common: 0)
        var row = table.top
        var depth = 0
        while true {
            if let index = row.write {
                let rule = table[index]
                var isOpen = rule.readsNewData
                if !isOpen, case .holds = run(rule, depth: depth) { isOpen = true }
                // Out of steps: the full decision will report it.
                if isOpen || evaluator.stepsLeft < 0 {
                    progress.last = (target.path, depth)
                    return false
                }
            }
            if depth == evaluator.rulePath.target.keyCount { return true }
            guard let next = table.child(of: row, evaluator.rulePath.key(at: depth)) else {
                return true
            }
            row = next
            depth += 1
        }
    }

    private func refusal(_ rule: RuleOutcome?, _ entry: Int) -> UntracedDecision {
        UntracedDecision(isAllowed: false, rule: rule, deniedEntry: entry, overLimit: overLimit)
    }

    private func commonKeyCount(_ path: Path, _ keys: BorrowedKeys) -> Int {
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

    /// Looks for a `.write` that holds below the first `common` keys; those above did not hold.
    private mutating func grantBelow(_ common: Int, entry: Int) -> Grant {
        var row = table.top
        for depth in 0..<max(common + 1, 0) {
            if depth == evaluator.rulePath.target.keyCount { return .denied(nil) }
            guard let next = table.child(of: row, evaluator.rulePath.key(at: depth)) else {
                return .denied(nil)
            }
            row = next
        }
        return grant(.write, entry: entry, from: row, depth: common + 1)
    }

    /// Walks from a rule node under the first `depth` keys of the target down to the target.
    private mutating func grant(
        _ kind: RuleKind,
        entry: Int,
        from start: RuleTable.Row,
        depth startDepth: Int
    ) -> Grant {
        var row = start
        var depth = startDepth
        while true {
            if let index = kind == .read ? row.read : row.write {
                let rule = table[index]
                let evaluation = consult(rule, depth: depth, entry: entry)
                if case .holds = evaluation {
                    return .granted(outcome(rule, evaluation, depth, entry), depth: depth)
                }
                if evaluator.stepsLeft < 0 {
                    return .denied(outcome(rule, evaluation, depth, entry))
                }
            }
            if depth == evaluator.rulePath.target.keyCount { return .denied(nil) }
            guard let next = table.child(of: row, evaluator.rulePath.key(at: depth)) else {
                return .denied(nil)
            }
            row = next
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
        var row = table.top
        var depth = 0
        while true {
            if depth > skipping, let rule = row.validate {
                if P.isRecording, evaluator.probe.hasRoomForPaths {
                    let path = evaluator.rulePath.path(depth)
                    evaluator.probe.looked(at: path)
                }
                // Nothing is here or below.
                if evaluator.prefixNode(isNew: true, depth).isAbsent { return nil }
                if let failed = validate(rule, depth: depth, entry: entry) { return failed }
            }
            if depth == evaluator.rulePath.target.keyCount { break }
            guard let next = table.child(of: row, evaluator.rulePath.key(at: depth)),
                next.validatesHereOrBelow
            else { return nil }
            row = next
            depth += 1
        }
        // A priority has nothing below it.
        if target.isPriority || !row.validatesBelow { return nil }
        let data = evaluator.prefixNode(isNew: true, depth)
        return validateBelow(row, data, depth: depth, entry: entry)
    }

    private mutating func validate(
        _ index: RuleTable.RuleIndex,
        depth: Int,
        entry: Int
    ) -> RuleOutcome? {
        let rule = table[index]
        let evaluation = consult(rule, depth: depth, entry: entry)
        if case .holds = evaluation { return nil }
        return refusing(rule, evaluation, depth, entry)
    }

    /// Validates the children that the write carries. Recursion is bounded by the depth of data.
    private mutating func validateBelow(
        _ row: RuleTable.Row,
        _ data: BorrowedNode,
        depth: Int,
        entry: Int
    ) -> RuleOutcome? {
        var failed: RuleOutcome?
        if row.wildcardValidates {
            data.visitChildren { key, child in
                evaluator.stepsLeft -= 1
                if evaluator.stepsLeft < 0 {
                    failed = outOfSteps(below: row, entry: entry)
                    return failed == nil
                }
                guard let next = table.child(of: row, key), next.validatesHereOrBelow else {
                    return true
                }
                failed = validateChild(next, key, child, depth: depth, entry: entry)
                return failed == nil
            }
            return failed
        }
        // Only named children have rules: look for those instead of visiting all data.
        for index in row.literals {
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
        _ row: RuleTable.Row,
        _ key: Bytes,
        _ child: BorrowedNode,
        depth: Int,
        entry: Int
    ) -> RuleOutcome? {
        evaluator.enter(key, newNode: child)
        defer { evaluator.leave() }
        if let rule = row.validate,
            let failed = validate(rule, depth: depth + 1, entry: entry)
        {
            return failed
        }
        if !row.validatesBelow { return nil }
        return validateBelow(row, child, depth: depth + 1, entry: entry)
    }

    /// Refuses new data after too many visited children; names a rule that has not run yet.
    private mutating func outOfSteps(below row: RuleTable.Row, entry: Int) -> RuleOutcome? {
        guard let wildcard = table.wildcardChild(of: row),
            let rule = table.anyValidation(from: wildcard)
        else { return nil }
        let path = evaluator.rulePath.path
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

    private mutating func consult(_ rule: Rule, depth: Int, entry: Int) -> Evaluation {
        let evaluation = run(rule, depth: depth)
        if P.isRecordingValues { evaluator.probe.end(rule) }
        if case .aborted = evaluation { noteLimit(rule, evaluation, depth: depth, entry: entry) }
        if P.isRecording, evaluator.probe.wants(rule) {
            let outcome = outcome(rule, evaluation, depth, entry)
            evaluator.probe.consulted(outcome)
        }
        return evaluation
    }

    /// Keeps the rule if a limit aborted it. Not inlined, to keep the usual path small.
    @inline(never)
    private mutating func noteLimit(_ rule: Rule, _ evaluation: Evaluation, depth: Int, entry: Int)
    {
        guard case .aborted(let failure) = evaluation, failure.fault.isLimit else { return }
        overLimit = LimitedRule(outcome(rule, evaluation, depth, entry))
    }

    /// The outcome of the last rule, which refuses the request. It has its values even when the
    /// trace is full, unless it takes many steps.
    private mutating func refusing(
        _ rule: Rule,
        _ evaluation: Evaluation,
        _ depth: Int,
        _ entry: Int
    ) -> RuleOutcome {
        if P.isRecordingValues, evaluator.probe.observed == nil,
            case .program(let program) = rule.body,
            evaluator.stepsLeft >= 0, evaluator.probe.makeRoom(for: program)
        {
            let value: Bool? =
                switch evaluation {
                case .holds: true
                case .fails: false
                case .aborted: nil
                }
            if evaluator.replay(program, depth: depth, expecting: value) {
                evaluator.probe.end(rule)
            }
        }
        return outcome(rule, evaluation, depth, entry)
    }

    private mutating func run(_ rule: Rule, depth: Int) -> Evaluation {
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
        _ evaluation: Evaluation,
        _ depth: Int,
        _ entry: Int
    ) -> RuleOutcome {
        let result: RuleOutcome.Result =
            switch evaluation {
            case .holds: .value(true)
            case .fails: .value(false)
            case .aborted(let failure): .error(rule.error(for: failure))
            }
        return RuleOutcome(
            rule,
            entry: entry,
            within: evaluator.rulePath.path,
            depth: depth,
            result: result,
            observed: P.isRecordingValues ? evaluator.probe.observed : nil
        )
    }
}

/// The decision of an authorizer, without the recording.
struct UntracedDecision {
    let isAllowed: Bool
    let rule: RuleOutcome?
    var deniedEntry: Int?
    /// See `Decision.overLimit`.
    var overLimit: LimitedRule?
}

/// A rule that met a hard limit. A box, since hardly any decision has one.
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
        return RuleError(message: failure.fault.message, line: span.line, column: span.column)
    }
}
