package import JSONTree

/// Who is asking: the value of the variable `auth`.
///
/// Nobody signed in is `nil as AuthVariable?`. A present auth is never null in rules, even when it
/// is an empty object.
package struct AuthVariable: Sendable, Equatable {
    /// The object, with any keys; absent for an empty object.
    package let value: Node

    /// Wraps what a token or an override says.
    package init(_ value: Node) {
        self.value = value
    }
}

/// What a decision is made from, apart from the place and the new data.
package struct RulesRequest: Sendable {
    /// The whole tree before the write, or as it is read.
    package let root: Node
    /// Nil when nobody is signed in.
    package let auth: AuthVariable?
    /// The time of the whole request; the same that `{".sv":"timestamp"}` became.
    package let now: Timestamp
    /// Whether `query.orderByKey` holds on a read without a query; see decision 0004.
    package var plainReadsOrderByKey: Bool
    /// Steps that its rules may take; nil for what `RulesLimits` gives it.
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

/// What a decision notes down beside its verdict. The verdict is the same in every case.
package struct Recording: OptionSet, Sendable {
    package let rawValue: UInt8

    /// Makes a set of options; without a value, the verdict alone. `[]` is the same, made by a loop
    /// over no elements at every decision.
    package init(rawValue: UInt8 = 0) {
        self.rawValue = rawValue
    }

    /// The paths of the tree that rules looked at.
    package static let paths = Recording(rawValue: 1)
    /// Every rule consulted, in order.
    package static let trace = Recording(rawValue: 2)
    /// The value of each sub-expression of every rule consulted; implies `trace`.
    package static let values = Recording(rawValue: 2 | 4)
}

/// The verdict on one read or write.
package struct Decision: Sendable {
    /// Whether the request may go on.
    package let isAllowed: Bool

    /// The rule that decided: the one that granted, the `.validate` that did not hold, or the one
    /// that ran out of steps. Nil when nothing granted.
    package let rule: RuleOutcome?

    /// For a refused write the entry that was refused, an index of the targets given.
    package let deniedEntry: Int?

    /// Every rule consulted, in order; empty unless recorded. A rule that two entries of an update
    /// share is consulted once, for the first of them in path order. At most
    /// `RulesLimits.tracedRuleCount`.
    package let trace: [RuleOutcome]

    /// Paths whose data the rules looked at, without repetition, in the order of the first look;
    /// empty unless recorded.
    ///
    /// While the request stays as it is, only a commit at, above or below one of these can change
    /// the verdict.
    package let lookedAt: [Path]

    /// Whether a rule looked at `now`; false unless paths are recorded.
    package let lookedAtTime: Bool

    /// Whether a rule looked at `auth`; false unless paths are recorded.
    package let lookedAtAuth: Bool

    /// Whether the trace, or the values in it, ends before the decision did, for lack of room. The
    /// verdict is whole, and so is `rule`; so are `lookedAt` and what belongs to it.
    package let isCut: Bool

    /// A rule that met a hard limit: it took the last of the request's steps, or built too long a
    /// string. Nil for what is allowed.
    package var overLimit: RuleOutcome? { limited?.outcome }

    let limited: LimitedRule?

    /// Whether it is refused since no steps were left.
    package var ranOutOfSteps: Bool {
        guard case .error(let error) = overLimit?.result else { return false }
        return error.message == EvaluationFault.outOfSteps.message
    }

    /// The same with the rule that met a limit for its only trace: what is noted down of a decision
    /// that takes too long to be made twice.
    package var tracedToLimit: Decision {
        Decision(
            isAllowed: isAllowed,
            rule: rule,
            deniedEntry: deniedEntry,
            trace: trace.isEmpty ? [overLimit].compactMap(\.self) : trace,
            lookedAt: lookedAt,
            lookedAtTime: lookedAtTime,
            lookedAtAuth: lookedAtAuth,
            isCut: true,
            limited: limited
        )
    }
}

/// One rule consulted, and what came of it.
package struct RuleOutcome: Sendable {
    /// What a rule came to.
    package enum Result: Sendable, Equatable {
        case value(Bool)
        case error(RuleError)
    }

    let declaration: Rule

    /// The entry of the update it was consulted for; 0 otherwise.
    package var entry: Int { Int(entryIndex) }

    /// The path that was being judged, and how many of its keys are above the rule.
    private let judged: Path
    private let depth: Int32
    /// Small, as outcomes are passed around with every decision.
    private let entryIndex: Int32

    /// What it came to.
    package let result: Result

    /// The values of its sub-expressions; nil unless recorded.
    let observed: ObservedRun?

    init(
        _ declaration: Rule,
        entry: Int,
        within judged: Path,
        depth: Int,
        result: Result,
        observed: ObservedRun?
    ) {
        self.declaration = declaration
        entryIndex = Int32(entry)
        self.judged = judged
        self.depth = Int32(depth)
        self.result = result
        self.observed = observed
    }

    /// The first `count` keys of the path that was being judged.
    func judgedPath(_ count: Int) -> Path { judged.prefix(count) }

    /// The place of the tree it was consulted at; as long as the rule's own path.
    package var location: Path { judged.prefix(Int(depth)) }

    /// Which question the rule answers.
    package var kind: RuleKind { declaration.kind }

    /// Where the rule is declared, such as `/parties/$party`.
    package var path: String { declaration.path }

    /// What each wildcard of `path` took, from the root down.
    package var bindings: [(name: String, key: String)] {
        declaration.captures.map { ($0.name, judged.key(at: $0.keyIndex).string) }
    }

    /// Line of the rule's value in the rules text, from 1.
    package var line: Int { declaration.line }

    /// Column of the rule's value in the rules text, in Unicode scalars from 1; inside the quotes.
    package var column: Int { declaration.column }

    /// The expression, or `true` or `false`.
    package var source: String { declaration.source }
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
