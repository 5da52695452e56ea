import JSONTree
import Queries

extension Evaluator {
    /// The value of an expression of any kind but a snapshot.
    @inline(__always)
    mutating func value(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Value {
        if P.isRecordingValues, probe.isObserving { return try observedValue(index, in: program) }
        return try computeValue(index, in: program)
    }

    private mutating func observedValue(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Value {
        probe.began(index)
        let value = try computeValue(index, in: program)
        probe.gave(value, index)
        return value
    }

    mutating func computeValue(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Value {
        switch program.operations[Int(index.number)] {
        case .constant(let constant):
            try step(index)
            switch program.constants[Int(constant)] {
            case .null: return .null
            case .number(let number): return .number(number)
            case .text(let text): return Value(text)
            }
        case .now:
            try step(index)
            probe.lookedAtTime()
            return .number(Double(now.milliseconds))
        case .auth:
            try step(index)
            return authValue()
        case .capture(let keyIndex):
            try step(index)
            return .borrowed(rulePath.key(at: Int(keyIndex)))
        case .authMember(let base, let key):
            try step(index)
            return member(try value(base, in: program), program.key(key))
        case .authLength(let base, let key):
            try step(index)
            let target = try value(base, in: program)
            if target.kind == .string { return try length(target, index) }
            return member(target, program.key(key))
        case .authIndex(let base, let argument):
            return try authElement(index, base, argument, in: program)
        case .query(let property, let base):
            try step(index)
            try runQueryVariable(base, in: program)
            return try queryValue(property, index)
        case .val(let base):
            try step(index)
            let value = Value(try node(base, in: program))
            if case .object = value { return .object(.absent) }
            return value
        case .priority(let base):
            try step(index)
            return Value(try node(base, in: program).priority)
        case .length(let base):
            try step(index)
            let text = try textValue(base, in: program)
            return try length(text, index)
        case .replace(let base, let old, let new):
            return try replacement(index, base, old, new, in: program)
        case .lowercase(let base), .uppercase(let base):
            return try changedCase(index, base, in: program)
        case .negate(let operand):
            try step(index)
            return .number(-(try number(operand, in: program)))
        case .add(let left, let right):
            return try sum(index, left, right, in: program)
        case .arithmetic(let symbol, let left, let right):
            try step(index)
            let a = try number(left, in: program)
            return .number(Self.arithmetic(symbol, a, try number(right, in: program)))
        case .ternary(let condition, let yes, let no):
            try step(index)
            return try value(boolean(condition, in: program) ? yes : no, in: program)
        case .data, .newData, .root, .child, .childAt, .parent, .queryVariable, .noValue:
            throw EvaluationFailure(.noValue, index)
        case .boolean, .exists, .hasChildren, .hasAllChildren, .isKind, .contains, .beginsWith,
            .endsWith, .matches, .not, .all, .any, .equal, .notEqual, .ordered:
            return .boolean(try computeBoolean(index, in: program))
        }
    }

    /// The length of a string, in code units.
    private mutating func length(
        _ text: Value,
        _ index: OperationIndex
    ) throws(EvaluationFailure) -> Value {
        try charge(byteCount: text.byteCount, index)
        return .number(Double(text.withText { codeUnitCount($0) } ?? 0))
    }

    // MARK: Auth

    private mutating func authValue() -> Value {
        probe.lookedAtAuth()
        guard let auth else { return .null }
        return auth.isAbsent ? .object(.absent) : Value(auth)
    }

    /// A member of an auth value; null for a value without members.
    private func member(_ value: Value, _ key: Bytes) -> Value {
        guard case .object(let node) = value else { return .null }
        return Value(node.child(key))
    }

    private mutating func authElement(
        _ index: OperationIndex,
        _ base: OperationIndex,
        _ argument: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Value {
        try step(index)
        let target = try value(base, in: program)
        let key = try value(argument, in: program)
        let found: Value?
        if case .number(let number) = key {
            try chargeForNumberText(index)
            found = numberText(number).withBytes { member(target, $0) }
        } else {
            found = key.withText { member(target, $0) }
        }
        guard let found else {
            throw EvaluationFailure(.wrongKind(needed: .index, found: key.kind), argument)
        }
        return found
    }

    // MARK: Query

    /// Runs the part before the dot of a query property: the variable, or a ternary of it.
    private mutating func runQueryVariable(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) {
        if P.isRecordingValues, probe.isObserving { probe.began(index) }
        try step(index)
        if case .ternary(let condition, let yes, let no) = program.operations[Int(index.number)] {
            try runQueryVariable(boolean(condition, in: program) ? yes : no, in: program)
        }
        if P.isRecordingValues, probe.isObserving { probe.gave(.object(.absent), index) }
    }

    private mutating func queryValue(
        _ property: QueryProperty,
        _ index: OperationIndex
    ) throws(EvaluationFailure) -> Value {
        let isPlain = query == nil
        let spec = query ?? .everything
        switch property {
        case .orderByKey:
            return .boolean(isPlain ? plainReadsOrderByKey : spec.index == .key)
        case .orderByPriority:
            return .boolean(isPlain ? !plainReadsOrderByKey : spec.index == .priority)
        case .orderByValue: return .boolean(spec.index == .value)
        case .orderByChild:
            guard case .child(let path) = spec.index else { return .null }
            try charge(byteCount: path.wireByteCount * 4, index)
            return .text(Array(path.wireText.utf8))
        case .startAt: return spec.start.map { Value(BorrowedNode($0.value)) } ?? .null
        case .endAt: return spec.end.map { Value(BorrowedNode($0.value)) } ?? .null
        case .equalTo:
            try charge(byteCount: spec.start?.value.encodingByteCount ?? 0, index)
            return equalTo(spec)
        case .limitToFirst: return limit(spec, .first)
        case .limitToLast: return limit(spec, .last)
        }
    }

    /// On the wire `equalTo` is exactly an inclusive start and end at one value and key.
    private func equalTo(_ spec: QuerySpec) -> Value {
        guard let start = spec.start, let end = spec.end else { return .null }
        let isOneLocation =
            start.isInclusive && end.isInclusive && start.value == end.value
            && start.key == end.key
        return isOneLocation ? Value(BorrowedNode(start.value)) : .null
    }

    private func limit(_ spec: QuerySpec, _ side: QuerySpec.Side) -> Value {
        guard let limit = spec.limit, spec.side == side else { return .null }
        return .number(Double(limit))
    }

    // MARK: Numbers

    /// The number an expression must give.
    mutating func number(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Double {
        let value = try value(index, in: program)
        if case .number(let number) = value { return number }
        throw EvaluationFailure(.wrongKind(needed: .number, found: value.kind), index)
    }

    /// Division by zero gives not-a-number, never infinity; a remainder has the dividend's sign.
    private static func arithmetic(_ symbol: BinaryOperator, _ a: Double, _ b: Double) -> Double {
        switch symbol {
        case .subtract: a - b
        case .multiply: a * b
        case .divide: b == 0 ? .nan : a / b
        case .remainder: b == 0 ? .nan : a.truncatingRemainder(dividingBy: b)
        case .add, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            preconditionFailure("only these four operators take numbers alone")
        }
    }

    /// Numbers add; a string and a string or number join; all other types fail.
    private mutating func sum(
        _ index: OperationIndex,
        _ left: OperationIndex,
        _ right: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Value {
        try step(index)
        let a = try value(left, in: program)
        let b = try value(right, in: program)
        if case .number(let x) = a, case .number(let y) = b { return .number(x + y) }
        let isJoined =
            (a.kind == .string || b.kind == .string)
            && (a.kind == .string || a.kind == .number)
            && (b.kind == .string || b.kind == .number)
        if !isJoined {
            throw EvaluationFailure(.noSum(a.kind, b.kind), index)
        }
        if a.kind == .number || b.kind == .number { try chargeForNumberText(index) }
        try payForBuilding(a.byteCount + b.byteCount, index)
        var out: [UInt8] = []
        out.reserveCapacity(a.byteCount + b.byteCount)
        append(a, to: &out)
        append(b, to: &out)
        return .text(out)
    }

    private func append(_ value: Value, to out: inout [UInt8]) {
        if case .number(let number) = value {
            out.append(contentsOf: numberText(number).utf8)
        } else {
            value.withText { out.append(contentsOf: $0) }
        }
    }
}
