package import JSONTree
package import SecurityRules

/// The value of a sub-expression, as it is shown to people.
///
/// Equal values are equal: not-a-number is equal to itself, and 0 to -0.
package indirect enum ObservedValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    case number(Double)
    /// At most `RulesLimits.tracedStringByteCount` bytes of a string; `isCut` when it is longer.
    case string(String, isCut: Bool)
    /// Something with children: the value of an object is opaque to rules. Also the variable `query`.
    case object
    /// A location of the tree before the write, or of the one after it if `isNew`, and the value there:
    /// null, a scalar or an object.
    ///
    /// The path is nil when a key is none that data could have, so that nothing is there, or when it
    /// is longer than `RulesLimits.tracedKeyByteCount`.
    case snapshot(Path?, isNew: Bool, of: ObservedValue)

    package static func == (a: ObservedValue, b: ObservedValue) -> Bool {
        switch (a, b) {
        case (.null, .null), (.object, .object): true
        case (.boolean(let x), .boolean(let y)): x == y
        case (.number(let x), .number(let y)): x == y || (x.isNaN && y.isNaN)
        case (.string(let x, let isCut), .string(let y, let isOtherCut)):
            x == y && isCut == isOtherCut
        case (.snapshot(let x, let isNew, let value), .snapshot(let y, let isOtherNew, let other)):
            x == y && isNew == isOtherNew && value == other
        case (.null, _), (.boolean, _), (.number, _), (.string, _), (.object, _), (.snapshot, _):
            false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value.isNaN ? 0 : value)
        case .string(let text, _): hasher.combine(text)
        case .object: hasher.combine(1)
        case .snapshot(let path, let isNew, let value):
            hasher.combine(path)
            hasher.combine(isNew)
            hasher.combine(value)
        }
    }
}

/// The value of a sub-expression of a rule.
package struct SubexpressionValue: Sendable, Equatable {
    /// What became of it.
    package enum Outcome: Sendable, Equatable, Hashable {
        case value(ObservedValue)
        /// It failed, or something in it did, with the message of the rule's error. Of those that
        /// failed in one rule the last in source order is where it began.
        case error(String)
        /// Nothing needed it: an operand of `&&` or `||`, or a branch, that was left out, or what
        /// would have come after an error.
        case unevaluated
    }

    /// The piece of the expression as written, at most `RulesLimits.tracedTextScalarCount` scalars;
    /// longer texts end with `…`.
    package let text: String

    /// Line where it begins in the rules text, from 1.
    package let line: Int

    /// Column where it begins in the rules text, in Unicode scalars from 1.
    package let column: Int

    /// Scalars of the rule's expression, brackets around it included; one range lies in another or
    /// apart from it, so that they make a tree.
    package let range: Range<Int>

    /// What became of it.
    package let outcome: Outcome
}

extension RuleOutcome {
    /// The value of each sub-expression, in source order, outer ones before inner ones.
    ///
    /// Every variable, member, call and operator is there once; literals are left out, and
    /// `child('a').child('b')` is one. Empty for the constants `true` and `false`, unless values were
    /// recorded, and where `Decision.isCut` says that the trace ran out of room.
    ///
    /// Computed, O(length of the expression and of the values).
    package var values: [SubexpressionValue] {
        guard let observed, case .program(let program) = declaration.body else { return [] }
        let source = Array(declaration.source.unicodeScalars)
        return program.subexpressions.map { index in
            let span = program.spans[Int(index.number)]
            return SubexpressionValue(
                text: RuleOutcome.quote(source[span.range]),
                line: span.line,
                column: span.column,
                range: span.range,
                outcome: shown(observed.slots[Int(index.number)], of: observed)
            )
        }
    }

    private static func quote(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        let limit = RulesLimits.tracedTextScalarCount
        return String(scalars: scalars.prefix(limit)) + (scalars.count > limit ? "…" : "")
    }

    private func shown(
        _ slot: ObservedRun.Slot,
        of run: ObservedRun
    ) -> SubexpressionValue.Outcome {
        switch slot {
        case .unevaluated: return .unevaluated
        case .value(let leaf): return .value(run.shown(leaf))
        case .snapshot(let isNew, let prefix, let keys, let leaf):
            let path = run.path(keys, below: evaluatedPath(Int(prefix)))
            return .value(.snapshot(path, isNew: isNew, of: run.shown(leaf)))
        case .begun:
            guard case .error(let error) = result else {
                preconditionFailure("only an aborted rule leaves an operation unfinished")
            }
            return .error(error.message)
        }
    }
}

extension ObservedRun {
    /// The text of some of the bytes.
    func text(_ piece: Piece) -> String {
        let start = Int(piece.start)
        return String(decoding: bytes[start..<start + Int(piece.byteCount)], as: UTF8.self)
    }

    /// The shown value of a leaf.
    func shown(_ leaf: Leaf) -> ObservedValue {
        switch leaf {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .number(let value): .number(value)
        case .object: .object
        case .string(let piece, let isCut): .string(text(piece), isCut: isCut)
        }
    }

    /// The path of a snapshot; nil when no data could be there, or when it was not noted down.
    func path(_ keys: Keys, below prefix: Path) -> Path? {
        guard case .some(let piece) = keys else { return nil }
        let start = Int(piece.start)
        let names = bytes[start..<start + Int(piece.byteCount)].split(separator: UInt8(ascii: "/"))
        return prefix.appending(Path(names.map { Key(unchecked: Array($0)) }))
    }
}
