package import JSONTree

/// How shadow rules, of a database or for files, compare with those in force.
package struct ShadowReport: Sendable {
    /// The identifier of the ruleset; nil when there is none.
    package let candidate: String?
    /// When counting began.
    package let since: Timestamp
    package private(set) var totals = ShadowTotals()
    /// In the order in which they were first seen; their number is bounded by `Limits.shadowDifferences`.
    package private(set) var differences: [ShadowDifference] = []
    /// Requests that differed in further ways.
    package private(set) var unlistedCount = 0

    /// With nothing counted.
    package init(candidate: String?, since: Timestamp) {
        self.candidate = candidate
        self.since = since
    }

    /// Counts a request that both have decided; `shadowAllows` is nil where the shadow rules left it undecided.
    ///
    /// `difference` is asked where they differ: of which kind, and who asked for what.
    package mutating func add(
        liveAllows: Bool,
        shadowAllows: Bool?,
        _ difference: () -> (ShadowDifference, ShadowDifference.Example)
    ) {
        totals.decidedCount += 1
        guard let shadowAllows else {
            totals.undecidedCount += 1
            return
        }
        if liveAllows == shadowAllows { return }
        if shadowAllows {
            totals.newlyAllowedCount += 1
        } else {
            totals.newlyRefusedCount += 1
        }
        var (difference, example) = difference()
        if let index = differences.firstIndex(where: difference.isOfKind) {
            differences[index].add(example)
        } else if differences.count < Limits.shadowDifferences {
            difference.add(example)
            differences.append(difference)
        } else {
            unlistedCount += 1
        }
    }
}

/// How many requests the shadow rules have decided, and how many otherwise than the rules in force.
package struct ShadowTotals: Sendable, Equatable {
    package fileprivate(set) var decidedCount = 0
    package fileprivate(set) var newlyAllowedCount = 0
    package fileprivate(set) var newlyRefusedCount = 0
    /// Requests that take the shadow rules more than they may use, such as `RulesLimits.stepsPerTrial` steps.
    package fileprivate(set) var undecidedCount = 0

    /// With nothing counted.
    package init() {}

    package var agreedCount: Int {
        decidedCount - newlyAllowedCount - newlyRefusedCount - undecidedCount
    }
}

/// Requests of one kind on which the shadow rules differ, for the same reason.
package struct ShadowDifference: Sendable {
    /// Such as `set` or `update`; of files `get` or `create`.
    package let operation: String
    /// Whether the shadow rules allow what the rules in force refuse; else the reverse.
    package let isNewlyAllowed: Bool
    /// The rule that decided; nil where nothing granted.
    package let live: DecidingRule?
    package let shadow: DecidingRule?
    package private(set) var count = 0
    /// The oldest first, at most `Limits.shadowExamples`.
    package private(set) var examples: [Example] = []

    /// Without examples.
    package init(
        operation: String,
        isNewlyAllowed: Bool,
        live: DecidingRule?,
        shadow: DecidingRule?
    ) {
        self.operation = operation
        self.isNewlyAllowed = isNewlyAllowed
        self.live = live
        self.shadow = shadow
    }

    /// One such request.
    package struct Example: Sendable, Equatable {
        /// Where, in at most `Limits.shadowTextByteCount` bytes; of an update the entry that was refused.
        package let path: String
        /// Who; nil for a signed-out client, or one without an identifier.
        package let uid: String?
        package let time: Timestamp

        /// A request at a place, which is cut when it is long.
        package init(path: String, uid: String?, time: Timestamp) {
            self.path = path.cut
            self.uid = uid?.cut
            self.time = time
        }
    }

    /// Whether another is of the same kind. Within one ruleset a position in the text identifies a rule.
    fileprivate func isOfKind(_ other: ShadowDifference) -> Bool {
        operation == other.operation && isNewlyAllowed == other.isNewlyAllowed
            && live == other.live && shadow == other.shadow
    }

    fileprivate mutating func add(_ example: Example) {
        count += 1
        if examples.count == Limits.shadowExamples { examples.removeFirst() }
        examples.append(example)
    }
}

/// The rule that decided, as a report names it.
package struct DecidingRule: Sendable, Equatable {
    /// Such as `write`; of files `allow get, list`.
    package let kind: String
    /// Such as `/parties/$party`; of files the pattern.
    package let path: String
    /// Of its value in the rules text, of files of the statement; both from 1.
    package let line: Int
    package let column: Int
    /// The expression, in at most `Limits.shadowTextByteCount` bytes.
    package let source: String

    /// A rule; a long expression is cut.
    package init(kind: String, path: String, line: Int, column: Int, source: String) {
        self.kind = kind
        self.path = path
        self.line = line
        self.column = column
        self.source = source.cut
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
