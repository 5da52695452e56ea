import JSONTree

extension Evaluator {
    /// The value of an expression that must give a string.
    mutating func textValue(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Value {
        let value = try value(index, in: program)
        switch value {
        case .text, .borrowed: return value
        case .null, .boolean, .number, .object: break
        }
        throw EvaluationFailure(.wrongKind(needed: .string, found: value.kind), index)
    }

    /// The string an expression must give, as bytes of its own.
    mutating func text(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> [UInt8] {
        let value = try textValue(index, in: program)
        if case .text(let bytes) = value { return bytes }
        try charge(byteCount: value.byteCount, index)
        return value.withText { $0.array } ?? []
    }

    /// Refuses a string that is too long to be built.
    func checkLength(_ byteCount: Int, _ index: OperationIndex) throws(EvaluationFailure) {
        if byteCount > RulesLimits.builtStringByteCount {
            throw EvaluationFailure(.stringTooLong, index)
        }
    }

    /// Pays for a string of `byteCount` bytes before it is built, and refuses one that is too long.
    mutating func payForBuilding(
        _ byteCount: Int,
        _ index: OperationIndex
    ) throws(EvaluationFailure) {
        try checkLength(byteCount, index)
        try charge(byteCount: byteCount, index)
    }

    /// `toLowerCase()` and `toUpperCase()`, by the full mappings of Unicode, as in JavaScript.
    mutating func changedCase(
        _ index: OperationIndex,
        _ base: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Value {
        try step(index)
        let text = try text(base, in: program)
        // Beyond ASCII changing case is some sixteen times the work of copying.
        try charge(byteCount: text.count * 16, index)
        let string = String(decoding: text, as: UTF8.self)
        let changed: String
        if case .lowercase = program.operations[Int(index.number)] {
            changed = string.lowercased()
        } else {
            changed = string.uppercased()
        }
        let out = Array(changed.utf8)
        try payForBuilding(out.count, index)
        return .text(out)
    }

    /// `replace(old, new)`: every occurrence, plain text. An empty `old` is nowhere.
    mutating func replacement(
        _ index: OperationIndex,
        _ base: OperationIndex,
        _ old: OperationIndex,
        _ new: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Value {
        try step(index)
        let text = try text(base, in: program)
        let old = try self.text(old, in: program)
        let new = try self.text(new, in: program)
        if old.isEmpty { return .text(text) }
        var search = TextSearch(comparisonLimit: stepsLeft * TextSearch.comparisonsPerStep)
        var out: [UInt8] = []
        var start = 0
        while !search.isExhausted, let offset = find(old, in: text, from: start, &search) {
            let byteCount = offset - start + new.count
            try checkLength(out.count + byteCount, index)
            // Paid during the work: the result may be discarded, or never built.
            search.countOccurrence(building: byteCount)
            out.append(contentsOf: text[start..<offset])
            out.append(contentsOf: new)
            start = offset + old.count
        }
        try pay(for: search, index)
        try checkLength(out.count + text.count - start, index)
        try charge(byteCount: text.count - start, index)
        out.append(contentsOf: text[start...])
        return .text(out)
    }

    private func find(
        _ needle: [UInt8],
        in text: [UInt8],
        from start: Int,
        _ search: inout TextSearch
    ) -> Int? {
        text.withBytes { text in
            needle.withBytes { search.find($0, in: text, from: start) }
        }
    }

    /// Charges the comparisons of a search as steps.
    private mutating func pay(
        for search: TextSearch,
        _ index: OperationIndex
    ) throws(EvaluationFailure) {
        stepsLeft = min(stepsLeft, search.comparisonsLeft / TextSearch.comparisonsPerStep)
        if search.isExhausted {
            stepsLeft = -1
            throw EvaluationFailure(.outOfSteps, index)
        }
    }

    mutating func contains(
        _ index: OperationIndex,
        _ base: OperationIndex,
        _ part: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Bool {
        try step(index)
        let text = try textValue(base, in: program)
        let part = try textValue(part, in: program)
        var search = TextSearch(comparisonLimit: stepsLeft * TextSearch.comparisonsPerStep)
        let offset = text.withText { text in
            part.withText { search.find($0, in: text, from: 0) } ?? nil
        }
        try pay(for: search, index)
        return (offset ?? nil) != nil
    }

    /// `beginsWith(part)` and `endsWith(part)`.
    mutating func hasEnd(
        _ index: OperationIndex,
        _ base: OperationIndex,
        _ part: OperationIndex,
        atStart: Bool,
        in program: Program
    ) throws(EvaluationFailure) -> Bool {
        try step(index)
        let text = try textValue(base, in: program)
        let part = try textValue(part, in: program)
        if part.byteCount > text.byteCount { return false }
        try charge(byteCount: part.byteCount, index)
        let holds = text.withText { text in
            part.withText { part in
                let start = atStart ? 0 : text.count - part.count
                return text.slice(start..<start + part.count) == part
            }
        }
        return (holds ?? nil) ?? false
    }

    mutating func matches(
        _ index: OperationIndex,
        _ base: OperationIndex,
        _ pattern: Pattern,
        in program: Program
    ) throws(EvaluationFailure) -> Bool {
        try step(index)
        let text = try textValue(base, in: program)
        var steps = stepsLeft
        let isMatch = text.withText { pattern.matches($0, stepsLeft: &steps) } ?? nil
        stepsLeft = steps
        guard let isMatch else {
            stepsLeft = -1
            throw EvaluationFailure(.outOfSteps, index)
        }
        return isMatch
    }
}
