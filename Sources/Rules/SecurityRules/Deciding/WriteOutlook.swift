package import JSONTree

/// Decides whether some `.write` may grant a write whose data is not known yet.
///
/// It never denies what the rules would grant: a condition on the new data, or on unknown keys, may hold. Everything
/// else is evaluated as by the authorizer:
///
///     auth != null && newData.child('by').val() === auth.uid      signed out: cannot hold, whatever comes
///     newData.exists() || root.child('open').val() === true       may hold
struct WriteOutlook {
    private let table: RuleTable
    private var evaluator: Evaluator<SilentProbe>
    private let keyCount: Int

    /// Considers writes to the path whose keys are `keys`. The caller keeps rules and request alive.
    init(_ table: RuleTable, _ request: RulesRequest, _ path: Path, _ keys: BorrowedKeys) {
        self.table = table
        keyCount = keys.count
        evaluator = Evaluator(
            request,
            query: nil,
            newRoot: request.root,
            RulePath(target: path, keys),
            pathCount: 1,
            probe: SilentProbe()
        )
    }

    /// Whether a rule on the way to the path may hold, or for an update one below it.
    mutating func mayBeGranted(isUpdate: Bool) -> Bool {
        var row = table.top
        var depth = 0
        while true {
            if mayGrant(row, depth: depth) { return true }
            if depth == keyCount { break }
            guard let next = table.child(of: row, evaluator.rulePath.key(at: depth)) else {
                return false
            }
            row = next
            depth += 1
        }
        return isUpdate && mayGrantBelow(row, depth: depth)
    }

    /// Recursion is bounded by the nesting of the rules text.
    private mutating func mayGrantBelow(_ row: RuleTable.Row, depth: Int) -> Bool {
        for index in row.literals where mayGrantAtOrBelow(table.literal(index).row, depth + 1) {
            return true
        }
        guard let wildcard = table.wildcardChild(of: row) else { return false }
        return mayGrantAtOrBelow(wildcard, depth + 1)
    }

    private mutating func mayGrantAtOrBelow(_ row: RuleTable.Row, _ depth: Int) -> Bool {
        mayGrant(row, depth: depth) || mayGrantBelow(row, depth: depth)
    }

    private mutating func mayGrant(_ row: RuleTable.Row, depth: Int) -> Bool {
        guard let index = row.write else { return false }
        switch table[index].body {
        case .constant(let value): return value
        case .program(let program):
            // Without steps nothing is known.
            return !cannotHold(program.entry, program, depth) || evaluator.stepsLeft < 0
        }
    }

    /// Whether an expression is false, or fails, for every value of what is unknown.
    private mutating func cannotHold(
        _ index: OperationIndex,
        _ program: Program,
        _ depth: Int
    ) -> Bool {
        if isKnown(index, program, depth) {
            do throws(EvaluationFailure) {
                return try !evaluator.run(program, from: index, depth: depth)
            } catch {
                return true
            }
        }
        switch program.operations[Int(index.number)] {
        case .all(let list):
            return program.lists[Int(list)].contains {
                cannotHold(program.operands[$0], program, depth)
            }
        case .any(let list):
            return program.lists[Int(list)].allSatisfy {
                cannotHold(program.operands[$0], program, depth)
            }
        case .ternary(_, let yes, let no):
            return cannotHold(yes, program, depth) && cannotHold(no, program, depth)
        case .equal(let left, let right):
            // A key is a string.
            return isCapture(left, program) && isNull(right, program, depth)
                || isCapture(right, program) && isNull(left, program, depth)
        default: return false
        }
    }

    /// Whether all that an expression is made of is known: those operations stand within its text.
    private func isKnown(_ index: OperationIndex, _ program: Program, _ depth: Int) -> Bool {
        let text = program.spans[Int(index.number)].range
        return (0...Int(index.number)).allSatisfy { other in
            let span = program.spans[other].range
            guard span.lowerBound >= text.lowerBound, span.upperBound <= text.upperBound else {
                return true
            }
            switch program.operations[other] {
            case .newData: return false
            case .data: return depth <= keyCount
            case .capture(let key): return key < keyCount
            default: return true
            }
        }
    }

    private func isCapture(_ index: OperationIndex, _ program: Program) -> Bool {
        if case .capture = program.operations[Int(index.number)] { true } else { false }
    }

    private mutating func isNull(
        _ index: OperationIndex,
        _ program: Program,
        _ depth: Int
    ) -> Bool {
        guard isKnown(index, program, depth) else { return false }
        do throws(EvaluationFailure) {
            if case .null = try evaluator.value(index, in: program) { return true }
            return false
        } catch {
            return true
        }
    }
}

extension Ruleset {
    /// Whether some write at a path may be granted; with `isUpdate` one of any paths at or below it.
    ///
    /// False only when `decideWrite` refuses each of them in the tree of the request at its time. O(rules) for an
    /// update.
    package func mayGrantWrite(at path: Path, isUpdate: Bool, _ request: RulesRequest) -> Bool {
        withExtendedLifetime((request, table)) {
            path.withKeys { keys in
                var outlook = WriteOutlook(table, request, path, keys)
                return outlook.mayBeGranted(isUpdate: isUpdate)
            }
        }
    }
}
