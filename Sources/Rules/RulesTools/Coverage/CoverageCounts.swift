import SecurityRules

/// The results of a rule, with counts.
struct CoveredRule: Sendable {
    private(set) var trueCount = 0
    private(set) var falseCount = 0
    private(set) var errors = CoveredErrors()

    var count: Int { trueCount + falseCount + errors.count }

    mutating func add(_ result: RuleOutcome.Result) {
        switch result {
        case .value(true): trueCount += 1
        case .value(false): falseCount += 1
        case .error(let error): errors.add(error.message)
        }
    }
}

/// Errors by message, which are few: one for each way to fail and kind of value.
struct CoveredErrors: Sendable {
    /// In the order in which they first came.
    private(set) var messages: [(text: String, count: Int)] = []

    var count: Int { messages.reduce(0) { $0 + $1.count } }

    mutating func add(_ message: String) {
        if let index = messages.firstIndex(where: { $0.text == message }) {
            messages[index].count += 1
        } else {
            messages.append((message, 1))
        }
    }
}

/// The values of a sub-expression, with counts.
struct CoveredExpression: Sendable {
    /// A value as it is counted: a snapshot counts by the kind of its value.
    enum Value: Sendable, Equatable {
        case value(ObservedValue)
        case snapshot(ValueKind)
    }

    /// The first `RulesLimits.coveredValueCount` different ones, in the order in which they came.
    private(set) var values: [(value: Value, count: Int)] = []
    /// Evaluations that gave any other value.
    private(set) var otherCount = 0
    private(set) var errors = CoveredErrors()
    /// Evaluations of its rule that did not need it.
    private(set) var unevaluatedCount = 0

    /// How often it gave a value or an error.
    var evaluatedCount: Int {
        values.reduce(otherCount + errors.count) { $0 + $1.count }
    }

    /// Counts its value in `run`; `failure` is the message of the rule's error, if it has one, and
    /// `bytesLeft` the room for strings in the whole coverage.
    mutating func add(
        _ slot: ObservedRun.Slot,
        of run: ObservedRun,
        _ failure: String,
        _ bytesLeft: inout Int
    ) {
        switch slot {
        case .unevaluated: unevaluatedCount += 1
        case .begun: errors.add(failure)
        case .snapshot(_, _, _, let leaf):
            add(.snapshot(CoveredExpression.kind(of: leaf)), 0, &bytesLeft)
        case .value(.string(let piece, let isCut)): add(run, piece, isCut, &bytesLeft)
        case .value(let leaf): add(.value(run.shown(leaf)), 0, &bytesLeft)
        }
    }

    /// Counts a value; a new one takes `byteCount` of the room for strings.
    private mutating func add(_ value: Value, _ byteCount: Int, _ bytesLeft: inout Int) {
        if let index = values.firstIndex(where: { $0.value == value }) {
            values[index].count += 1
        } else if values.count < RulesLimits.coveredValueCount, bytesLeft >= byteCount {
            bytesLeft -= byteCount
            values.append((value, 1))
        } else {
            otherCount += 1
        }
    }

    /// Counts a string; longer ones that begin alike are counted as one.
    private mutating func add(
        _ run: ObservedRun,
        _ piece: ObservedRun.Piece,
        _ isCut: Bool,
        _ bytesLeft: inout Int
    ) {
        let start = Int(piece.start)
        var end = start + min(Int(piece.byteCount), RulesLimits.coveredStringByteCount)
        let isShortened = isCut || end < start + Int(piece.byteCount)
        // Not within a scalar.
        while isShortened, end > start, end < run.bytes.count, run.bytes[end] & 0xC0 == 0x80 {
            end -= 1
        }
        let text = String(decoding: run.bytes[start..<end], as: UTF8.self)
        add(.value(.string(text, isCut: isShortened)), end - start, &bytesLeft)
    }

    private static func kind(of leaf: ObservedRun.Leaf) -> ValueKind {
        switch leaf {
        case .null: .null
        case .boolean: .boolean
        case .number: .number
        case .string: .string
        case .object: .object
        }
    }
}
