package import JSONTree
package import SecurityRules

/// How a database's shadow rules compare with those in force.
package struct ShadowReport: Sendable {
    /// The identifier of the ruleset; nil when there is none.
    package let candidate: String?
    /// When counting began.
    package let since: Timestamp
    package internal(set) var totals = ShadowTotals()
    /// In the order in which they were first seen; their number is bounded by `Limits.shadowDifferences`.
    package internal(set) var differences: [ShadowDifference] = []
    /// Requests that differed in further ways.
    package internal(set) var unlistedCount = 0
}

/// How many requests the shadow rules have decided, and how many otherwise than the rules in force.
package struct ShadowTotals: Sendable, Equatable {
    package internal(set) var decidedCount = 0
    package internal(set) var newlyAllowedCount = 0
    package internal(set) var newlyRefusedCount = 0
    /// Requests that take the shadow rules more than `RulesLimits.stepsPerTrial` steps.
    package internal(set) var undecidedCount = 0

    package var agreedCount: Int {
        decidedCount - newlyAllowedCount - newlyRefusedCount - undecidedCount
    }
}

/// Requests of one kind on which the shadow rules differ, for the same reason.
package struct ShadowDifference: Sendable {
    package let operation: DecisionRecord.Operation
    /// Whether the shadow rules allow what the rules in force refuse; else the reverse.
    package let isNewlyAllowed: Bool
    /// The rule that decided; nil where nothing granted.
    package let live: DecidingRule?
    package let shadow: DecidingRule?
    package internal(set) var count = 0
    /// The oldest first, at most `Limits.shadowExamples`.
    package internal(set) var examples: [Example] = []

    /// One such request.
    package struct Example: Sendable, Equatable {
        /// Where, in at most `Limits.shadowTextByteCount` bytes; of an update the entry that was refused.
        package let path: String
        /// Who; nil for a signed-out client, or one without an identifier.
        package let uid: String?
        package let time: Timestamp

        init(path: Path, auth: AuthVariable?, time: Timestamp) {
            self.path = path.description.cut
            uid = auth?.uid?.cut
            self.time = time
        }
    }

    /// Whether another is of the same kind. Within one ruleset a position in the text identifies a rule.
    func isOfKind(_ other: ShadowDifference) -> Bool {
        operation == other.operation && isNewlyAllowed == other.isNewlyAllowed
            && live == other.live && shadow == other.shadow
    }

    mutating func add(_ example: Example) {
        count += 1
        if examples.count == Limits.shadowExamples { examples.removeFirst() }
        examples.append(example)
    }
}

/// The rule that decided, as a report names it.
package struct DecidingRule: Sendable, Equatable {
    package let kind: RuleKind
    /// Such as `/parties/$party`.
    package let path: String
    /// Of its value in the rules text, both from 1.
    package let line: Int
    package let column: Int
    /// The expression, in at most `Limits.shadowTextByteCount` bytes.
    package let source: String

    init(_ outcome: RuleOutcome) {
        kind = outcome.kind
        path = outcome.path
        line = outcome.line
        column = outcome.column
        source = outcome.source.cut
    }
}

extension String {
    /// As much of it as a report keeps.
    fileprivate var cut: String {
        let limit = Limits.shadowTextByteCount
        if utf8.count <= limit { return self }
        // A scalar that the limit would split goes.
        var bytes = Array(utf8.prefix(limit))
        while String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self) + "..."
    }
}
