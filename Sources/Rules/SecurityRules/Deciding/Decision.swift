package import JSONTree

/// The caller: the value of the variable `auth`.
///
/// Signed out is `nil as AuthVariable?`. A present auth is never null in rules, even when it is an empty object.
package struct AuthVariable: Sendable, Equatable {
    /// The object, with any keys; absent for an empty object.
    package let value: Node

    /// Wraps what a token or an override says.
    package init(_ value: Node) {
        self.value = value
    }

    /// The user's id; nil when it is not a string.
    package var uid: String? { "uid".withBytes { value.child($0).string } }
}

/// What a decision is made from, apart from the location and the new data.
package struct RulesRequest: Sendable {
    /// The whole tree: before the write, or the one that is read.
    package let root: Node
    /// Nil when signed out.
    package let auth: AuthVariable?
    /// The time of the whole request; the same that `{".sv":"timestamp"}` became.
    package let now: Timestamp
    /// Whether `query.orderByKey` holds on a read without a query; see decision 0004.
    package var plainReadsOrderByKey: Bool
    /// Steps that its rules may take; nil for the limit of `RulesLimits`.
    package var stepLimit: Int?

    /// Gathers the parts of a request.
    package init(
        root: Node,
        auth: AuthVariable?,
        now: Timestamp,
        plainReadsOrderByKey: Bool = false
    ) {
        self.root = root
        self.auth = auth
        self.now = now
        self.plainReadsOrderByKey = plainReadsOrderByKey
    }
}

/// What a decision records besides its result. The result does not depend on it.
package struct Recording: OptionSet, Sendable {
    package let rawValue: UInt8

    /// Makes a set of options; without a value, nothing is recorded. `[]` is the same, but costs a
    /// loop at every decision.
    package init(rawValue: UInt8 = 0) {
        self.rawValue = rawValue
    }

    /// The paths of the tree that rules looked at.
    package static let paths = Recording(rawValue: 1)
    /// The same when they are at most `RulesLimits.fewPathCount`; of more, none.
    package static let pathsIfFew = Recording(rawValue: 1 | 8)
    /// Every rule consulted, in order.
    package static let trace = Recording(rawValue: 2)
    /// The value of each sub-expression of every rule consulted; implies `trace`.
    package static let values = Recording(rawValue: 2 | 4)
}

/// The decision on one read or write.
package struct Decision: Sendable {
    /// Whether the request is allowed.
    package let isAllowed: Bool

    /// The rule that decided: the one that granted, the `.validate` that did not hold, or the one
    /// that ran out of steps. Nil when nothing granted.
    package let rule: RuleOutcome?

    /// For a refused write the entry that was refused, an index of the targets given.
    package let deniedEntry: Int?

    /// Every rule consulted, in order; empty unless recorded. A rule that two entries of an update share is consulted
    /// once, for the first of them in path order. At most `RulesLimits.tracedRuleCount`.
    package private(set) var trace: [RuleOutcome] = []

    /// Paths whose data the rules read, without repetition, in the order of the first read; empty unless recorded.
    ///
    /// For the same request, only a commit at, above or below one of these can change the decision.
    package private(set) var lookedAt: [Path] = []

    /// Whether the rules read more paths than `pathsIfFew` records, so that `lookedAt` is empty.
    package private(set) var lookedAtMany = false

    /// Whether a rule looked at `now`; false unless paths are recorded.
    package private(set) var lookedAtTime = false

    /// Whether a rule looked at `auth`; false unless paths are recorded.
    package private(set) var lookedAtAuth = false

    /// Whether the trace, or the values in it, is cut for lack of room. The decision, `rule` and
    /// `lookedAt` are complete.
    package private(set) var isCut = false

    /// A rule that met a hard limit: it took the last of the request's steps, or built too long a
    /// string. Nil for allowed requests.
    package var overLimit: RuleOutcome? { limited?.outcome }

    private let limited: LimitedRule?

    init(_ decision: UntracedDecision) {
        isAllowed = decision.isAllowed
        rule = decision.rule
        deniedEntry = decision.deniedEntry
        limited = decision.overLimit
    }

    init(_ decision: UntracedDecision, _ recorder: Recorder, isCut: Bool) {
        self.init(decision)
        trace = recorder.trace
        lookedAt = recorder.paths
        lookedAtMany = recorder.isOverfull
        lookedAtTime = recorder.hasLookedAtTime
        lookedAtAuth = recorder.hasLookedAtAuth
        self.isCut = isCut
    }

    /// Whether it is refused since no steps were left.
    package var ranOutOfSteps: Bool {
        guard case .error(let error) = overLimit?.result else { return false }
        return error.message == EvaluationFault.outOfSteps.message
    }

    /// The same, traced only with the rule that met a limit: the record of a decision that is too slow to repeat.
    package var tracedToLimit: Decision {
        var decision = self
        if trace.isEmpty { decision.trace = [overLimit].compactMap(\.self) }
        decision.isCut = true
        return decision
    }
}

/// One rule consulted, and its result.
package struct RuleOutcome: Sendable {
    /// The result of a rule.
    package enum Result: Sendable, Equatable {
        case value(Bool)
        case error(RuleError)
    }

    /// The rule itself.
    package let declaration: Rule

    /// The entry of the update it was consulted for; 0 otherwise.
    package var entry: Int { Int(entryIndex) }

    /// The path that was decided, and how many of its keys are above the rule.
    private let fullPath: Path
    private let depth: Int32
    /// Small, as outcomes are passed around with every decision.
    private let entryIndex: Int32

    /// The result.
    package let result: Result

    /// The values of its sub-expressions; nil unless recorded.
    package let observed: ObservedRun?

    init(
        _ declaration: Rule,
        entry: Int,
        within fullPath: Path,
        depth: Int,
        result: Result,
        observed: ObservedRun?
    ) {
        self.declaration = declaration
        entryIndex = Int32(entry)
        self.fullPath = fullPath
        self.depth = Int32(depth)
        self.result = result
        self.observed = observed
    }

    /// The first `count` keys of the path that was decided.
    package func evaluatedPath(_ count: Int) -> Path { fullPath.prefix(count) }

    /// The location of the tree it was consulted at; as long as the rule's own path.
    package var location: Path { fullPath.prefix(Int(depth)) }

    /// Which question the rule answers.
    package var kind: RuleKind { declaration.kind }

    /// Where the rule is declared, such as `/parties/$party`.
    package var path: String { declaration.path }

    /// The key that each wildcard of `path` matched, from the root down.
    package var bindings: [(name: String, key: String)] {
        declaration.captures.map { ($0.name, fullPath.key(at: $0.keyIndex).string) }
    }

    /// Line of the rule's value in the rules text, from 1.
    package var line: Int { declaration.line }

    /// Column of the rule's value in the rules text, in Unicode scalars from 1; inside the quotes.
    package var column: Int { declaration.column }

    /// The expression, or `true` or `false`.
    package var source: String { declaration.source }

    /// Bytes of memory that it holds on to and shares with no other outcome. O(1).
    package var heldByteCount: Int {
        guard let observed else { return MemoryLayout<RuleOutcome>.stride }
        return MemoryLayout<RuleOutcome>.stride + 64 + observed.bytes.count
            + observed.slots.count * MemoryLayout<ObservedRun.Slot>.stride
    }
}

/// Why a rule was aborted, and where; it then neither grants nor holds.
package struct RuleError: Error, Sendable, Equatable {
    /// For people.
    package let message: String
    /// Line of the part that failed in the rules text, from 1.
    package let line: Int
    /// Column of the part that failed in the rules text, in Unicode scalars from 1.
    package let column: Int
}
