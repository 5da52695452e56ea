import JSONTree

extension Evaluator {
    /// The value of an expression that must give a boolean.
    @inline(__always)
    mutating func boolean(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Bool {
        if P.isRecordingValues, probe.isObserving { return try observedBoolean(index, in: program) }
        return try computeBoolean(index, in: program)
    }

    private mutating func observedBoolean(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Bool {
        probe.began(index)
        let value = try computeBoolean(index, in: program)
        probe.gave(.boolean(value), index)
        return value
    }

    mutating func computeBoolean(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Bool {
        switch program.operations[Int(index.number)] {
        case .boolean(let value):
            try step(index)
            return value
        case .all(let list):
            try step(index)
            for slot in program.lists[Int(list)] {
                if !(try boolean(program.operands[slot], in: program)) { return false }
            }
            return true
        case .any(let list):
            try step(index)
            for slot in program.lists[Int(list)] {
                if try boolean(program.operands[slot], in: program) { return true }
            }
            return false
        case .not(let operand):
            try step(index)
            return !(try boolean(operand, in: program))
        case .equal(let left, let right):
            return try isEqual(index, left, right, in: program)
        case .notEqual(let left, let right):
            return !(try isEqual(index, left, right, in: program))
        case .ordered(let symbol, let left, let right):
            return try isOrdered(index, symbol, left, right, in: program)
        case .exists(let base):
            try step(index)
            return !(try node(base, in: program).isAbsent)
        case .hasChildren(let base):
            try step(index)
            return try node(base, in: program).isMap
        case .hasAllChildren(let base, let list):
            return try hasAllChildren(index, base, program.childLists[Int(list)], in: program)
        case .isKind(let base, let kind):
            try step(index)
            return try node(base, in: program).kind == kind
        case .contains(let base, let part):
            return try contains(index, base, part, in: program)
        case .beginsWith(let base, let part):
            return try hasEnd(index, base, part, atStart: true, in: program)
        case .endsWith(let base, let part):
            return try hasEnd(index, base, part, atStart: false, in: program)
        case .matches(let base, let pattern):
            return try matches(index, base, program.patterns[Int(pattern)], in: program)
        case .ternary(let condition, let yes, let no):
            try step(index)
            return try boolean(boolean(condition, in: program) ? yes : no, in: program)
        default:
            let value = try computeValue(index, in: program)
            if case .boolean(let boolean) = value { return boolean }
            throw EvaluationFailure(.wrongKind(needed: .boolean, found: value.kind), index)
        }
    }

    /// Equality converts nothing; an object equals nothing, not even itself.
    private mutating func isEqual(
        _ index: OperationIndex,
        _ left: OperationIndex,
        _ right: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Bool {
        try step(index)
        let a = try value(left, in: program)
        let b = try value(right, in: program)
        switch (a, b) {
        case (.null, .null): return true
        case (.boolean(let x), .boolean(let y)): return x == y
        case (.number(let x), .number(let y)): return x == y
        case (.null, _), (.boolean, _), (.number, _), (.object, _): return false
        case (.borrowed(let x), .borrowed(let y)):
            if x.count != y.count { return false }
            try charge(byteCount: x.count, index)
            return x == y
        case (.text, _), (.borrowed, _):
            if b.kind != .string || a.byteCount != b.byteCount { return false }
            try charge(byteCount: a.byteCount, index)
            let isSame = a.withText { text in b.withText { $0 == text } }
            return (isSame ?? nil) ?? false
        }
    }

    /// Two numbers, or two strings by code unit; anything else has no order.
    private mutating func isOrdered(
        _ index: OperationIndex,
        _ symbol: BinaryOperator,
        _ left: OperationIndex,
        _ right: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Bool {
        try step(index)
        let a = try value(left, in: program)
        let b = try value(right, in: program)
        if case .number(let x) = a, case .number(let y) = b { return symbol.holds(x, y) }
        // Byte by byte, some four times the work of comparing for equality.
        try charge(byteCount: min(a.byteCount, b.byteCount) * 4, index)
        let found = a.withText { text in b.withText { compareCodeUnits(text, $0) } } ?? nil
        guard let order = found else {
            throw EvaluationFailure(.noOrder(a.kind, b.kind), index)
        }
        return symbol.holds(order, 0)
    }

    /// `hasChildren([...])`: every path exists; an empty list always holds.
    private mutating func hasAllChildren(
        _ index: OperationIndex,
        _ base: OperationIndex,
        _ list: Range<Int>,
        in program: Program
    ) throws(EvaluationFailure) -> Bool {
        try step(index)
        let base = try location(base, in: program)
        // Arguments are values, computed before the method looks at anything; literals are ready.
        var computed: [Value] = []
        for slot in list {
            guard case .text(let argument) = program.arguments[slot] else { continue }
            computed.append(try pathText(argument, in: program))
        }
        defer { leave(base) }
        let depth = walkDepth
        var next = 0
        for slot in list {
            try step(index)
            switch program.arguments[slot] {
            case .path(let path): descend(base, program.paths[Int(path)], in: program)
            case .text:
                descendPath(base, computed[next])
                next += 1
            }
            let isThere = !look(at: base).isAbsent
            leave(to: depth)
            if !isThere { return false }
        }
        return true
    }
}
