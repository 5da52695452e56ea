import JSONTree
import Queries

/// Walks the rules of one request and comes to a decision.
struct Judge<P: Probe> {
    private let top: RuleNode
    private var evaluator: Evaluator<P>

    /// What a rule came to.
    private enum Verdict {
        case holds
        case fails
        case aborted(EvaluationFailure)
    }

    init(
        _ top: RuleNode,
        _ request: RulesRequest,
        query: QuerySpec?,
        newRoot: Node,
        target: Path,
        probe: P
    ) {
        self.top = top
        evaluator = Evaluator(
            request,
            query: query,
            newRoot: newRoot,
            target: target,
            probe: probe
        )
    }

    /// What was recorded.
    var probe: P { evaluator.probe }

    // MARK: Reads

    /// Whether the path may be read: the first `.read` from the root down that holds.
    mutating func judgeRead() -> Verdicts {
        switch grant(.read, entry: 0, from: top, depth: 0) {
        case .granted(let rule, _): Verdicts(isAllowed: true, rule: rule, deniedEntry: nil)
        case .denied(let rule): Verdicts(isAllowed: false, rule: rule, deniedEntry: nil)
        }
    }

    // MARK: Writes

    /// Whether all targets may be written as they are in the new tree.
    ///
    /// Entries are judged in path order, so that what two of them share is judged once: no grant
    /// was found and every `.validate` held on the keys that an entry shares with the one before.
    mutating func judgeWrite(_ targets: [WriteTarget]) -> Verdicts {
        var deciding: RuleOutcome?
        var last: (path: Path, grantDepth: Int)?
        let order =
            targets.count == 1
            ? [0] : targets.indices.sorted { targets[$0].path < targets[$1].path }
        for entry in order {
            let target = targets[entry]
            let common = last.map { commonKeyCount($0.path, target.path) } ?? -1
            evaluator.move(to: target.path, common: max(common, 0))
            var grantDepth = last?.grantDepth ?? .max
            if grantDepth > common {
                switch grantBelow(common, entry: entry) {
                case .denied(let rule):
                    return Verdicts(isAllowed: false, rule: rule, deniedEntry: entry)
                case .granted(let rule, let depth):
                    if deciding == nil { deciding = rule }
                    grantDepth = depth
                }
            }
            if top.validatesHereOrBelow,
                let failed = validateAlong(target, skipping: common, entry: entry)
            {
                return Verdicts(isAllowed: false, rule: failed, deniedEntry: entry)
            }
            last = (target.path, grantDepth)
        }
        return Verdicts(isAllowed: true, rule: deciding, deniedEntry: nil)
    }

    private func commonKeyCount(_ a: Path, _ b: Path) -> Int {
        let limit = min(a.keyCount, b.keyCount)
        for index in 0..<limit {
            let isSame = a.withKey(at: index) { key in b.withKey(at: index) { $0 == key } }
            if !isSame { return index }
        }
        return limit
    }

    // MARK: Grants

    private enum Grant {
        case granted(RuleOutcome, depth: Int)
        /// With the rule that ran out of steps, if one did.
        case denied(RuleOutcome?)
    }

    /// Looks for a `.write` that holds, below the first `common` keys, where none was found before.
    private mutating func grantBelow(_ common: Int, entry: Int) -> Grant {
        var node = top
        for depth in 0..<max(common + 1, 0) {
            if depth == evaluator.trail.target.keyCount { return .denied(nil) }
            guard let next = evaluator.trail.withKey(at: depth, { node.child($0) }) else {
                return .denied(nil)
            }
            node = next
        }
        return grant(.write, entry: entry, from: node, depth: common + 1)
    }

    /// Walks from a rule node under the first `depth` keys of the target down to the target.
    private mutating func grant(
        _ kind: RuleKind,
        entry: Int,
        from start: RuleNode,
        depth start_: Int
    ) -> Grant {
        var node = start
        var depth = start_
        while true {
            if let rule = kind == .read ? node.read : node.write {
                let verdict = consult(rule, depth: depth, entry: entry)
                if case .holds = verdict {
                    return .granted(outcome(rule, verdict, depth, entry), depth: depth)
                }
                if evaluator.stepsLeft < 0 {
                    return .denied(outcome(rule, verdict, depth, entry))
                }
            }
            if depth == evaluator.trail.target.keyCount { return .denied(nil) }
            guard let next = evaluator.trail.withKey(at: depth, { node.child($0) }) else {
                return .denied(nil)
            }
            node = next
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
        var node = top
        var depth = 0
        while true {
            if depth > skipping, let rule = node.validate {
                if P.isRecording {
                    let path = evaluator.trail.path(depth)
                    evaluator.probe.looked(at: path)
                }
                // Nothing is left here, nor below.
                if evaluator.prefixNode(isNew: true, depth).isAbsent { return nil }
                if let failed = validate(rule, depth: depth, entry: entry) { return failed }
            }
            if depth == target.path.keyCount { break }
            guard let next = evaluator.trail.withKey(at: depth, { node.child($0) }),
                next.validatesHereOrBelow
            else { return nil }
            node = next
            depth += 1
        }
        // A priority has nothing below it.
        if target.isPriority || !node.validatesBelow { return nil }
        let data = evaluator.prefixNode(isNew: true, depth)
        return validateBelow(node, data, depth: depth, entry: entry)
    }

    private mutating func validate(_ rule: Rule, depth: Int, entry: Int) -> RuleOutcome? {
        let verdict = consult(rule, depth: depth, entry: entry)
        if case .holds = verdict { return nil }
        return outcome(rule, verdict, depth, entry)
    }

    /// Validates the children that the write carries. Recursion is bounded by the depth of data.
    private mutating func validateBelow(
        _ node: RuleNode,
        _ data: Node,
        depth: Int,
        entry: Int
    ) -> RuleOutcome? {
        var failed: RuleOutcome?
        if node.wildcardValidates {
            data.visitChildren { bytes, child in
                evaluator.stepsLeft -= 1
                guard let next = node.child(bytes), next.validatesHereOrBelow else { return true }
                failed = validateChild(next, Key(bytes), child, depth: depth, entry: entry)
                return failed == nil
            }
            return failed
        }
        // Only named children have rules: look for those instead of visiting all data.
        for literal in node.literals where literal.node.validatesHereOrBelow {
            evaluator.stepsLeft -= 1
            let child = data.child(literal.key)
            if child.isAbsent { continue }
            failed = validateChild(literal.node, literal.key, child, depth: depth, entry: entry)
            if failed != nil { return failed }
        }
        return nil
    }

    private mutating func validateChild(
        _ node: RuleNode,
        _ key: Key,
        _ child: Node,
        depth: Int,
        entry: Int
    ) -> RuleOutcome? {
        evaluator.enter(key, newNode: child)
        defer { evaluator.leave() }
        if let rule = node.validate,
            let failed = validate(rule, depth: depth + 1, entry: entry)
        {
            return failed
        }
        if !node.validatesBelow { return nil }
        return validateBelow(node, child, depth: depth + 1, entry: entry)
    }

    // MARK: One rule

    private mutating func consult(_ rule: Rule, depth: Int, entry: Int) -> Verdict {
        let verdict = run(rule, depth: depth)
        if P.isRecording {
            let outcome = outcome(rule, verdict, depth, entry)
            evaluator.probe.consulted(outcome)
        }
        return verdict
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
            result: result
        )
    }
}

/// The verdict of a judge, without what was recorded.
struct Verdicts {
    let isAllowed: Bool
    let rule: RuleOutcome?
    let deniedEntry: Int?
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
