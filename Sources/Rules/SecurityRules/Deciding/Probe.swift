import JSONTree

/// What watches a decision being made.
///
/// The evaluator is compiled once for each: with `SilentProbe`, whose `isRecording` is a constant
/// false, the calls vanish, so that recording costs nothing when it is off.
protocol Probe {
    /// Whether anything is recorded; if false, nothing is called.
    static var isRecording: Bool { get }
    /// Whether it may take values; if false, the calls for values are left out.
    static var isRecordingValues: Bool { get }

    /// Whether it takes paths that rules look at.
    var wantsPaths: Bool { get }
    /// Whether it takes one more of them.
    var hasRoomForPaths: Bool { get }
    /// A rule looked at the data of a path.
    mutating func looked(at path: Path)
    mutating func lookedAtTime()
    mutating func lookedAtAuth()
    /// Whether it takes one more consulted rule; called once for each, and notes a cut when there is no room.
    mutating func wants(_ rule: Rule) -> Bool
    /// A rule was consulted.
    mutating func consulted(_ outcome: RuleOutcome)

    /// Whether the values of the rule that runs are taken; the same until the next one begins.
    var isObserving: Bool { get }
    /// The values of the rule that ended last; nil when they were not taken.
    var observed: ObservedRun? { get }
    /// A rule is about to run.
    mutating func begin(_ program: Program)
    /// A rule, maybe a constant, ended.
    mutating func end(_ rule: Rule)
    /// A sub-expression is about to be computed.
    mutating func began(_ index: OperationIndex)
    /// A sub-expression gave a value.
    mutating func gave(_ value: Value, _ index: OperationIndex)
    /// A sub-expression gave a snapshot of `node`: the first `prefix` keys of the path that is being
    /// decided, then `keys`.
    mutating func gave(
        snapshotOf node: BorrowedNode,
        isNew: Bool,
        prefix: Int,
        _ keys: ArraySlice<Key>,
        _ index: OperationIndex
    )
    /// Makes room for the values of one more run of a rule, in spite of all caps; whether it did.
    mutating func makeRoom(for program: Program) -> Bool

    /// A decision with what was recorded of it.
    func complete(_ decision: UntracedDecision) -> Decision
}

extension Probe {
    var isObserving: Bool { false }
    var observed: ObservedRun? { nil }
    mutating func begin(_ program: Program) {}
    mutating func end(_ rule: Rule) {}
    mutating func began(_ index: OperationIndex) {}
    mutating func gave(_ value: Value, _ index: OperationIndex) {}
    mutating func gave(
        snapshotOf node: BorrowedNode,
        isNew: Bool,
        prefix: Int,
        _ keys: ArraySlice<Key>,
        _ index: OperationIndex
    ) {}
    mutating func makeRoom(for program: Program) -> Bool { false }
    func complete(_ decision: UntracedDecision) -> Decision { Decision(decision) }
}

/// Records nothing.
struct SilentProbe: Probe {
    static var isRecording: Bool { false }
    static var isRecordingValues: Bool { false }

    var wantsPaths: Bool { false }
    var hasRoomForPaths: Bool { false }
    @inline(__always) mutating func wants(_ rule: Rule) -> Bool { false }
    @inline(__always) mutating func looked(at path: Path) {}
    @inline(__always) mutating func lookedAtTime() {}
    @inline(__always) mutating func lookedAtAuth() {}
    @inline(__always) mutating func consulted(_ outcome: RuleOutcome) {}
}

/// Records what is requested, except values.
struct Recorder: Probe {
    static var isRecording: Bool { true }
    static var isRecordingValues: Bool { false }

    let recording: Recording
    private(set) var trace: [RuleOutcome] = []
    /// Whether a rule was left out of the trace for lack of room.
    private(set) var isCut = false
    private var sourceByteCount = 0
    private(set) var paths: [Path] = []
    /// Whether they were too many, and are gone.
    private(set) var isOverfull = false
    private(set) var hasLookedAtTime = false
    private(set) var hasLookedAtAuth = false

    /// The members of `paths` once they are many; its order is never used.
    private var known: Set<Path> = []

    /// Up to here a look through all paths is cheaper than hashing one.
    private static let fewPaths = 16

    init(_ recording: Recording) {
        self.recording = recording
    }

    var wantsPaths: Bool { recording.contains(.paths) }

    var hasRoomForPaths: Bool { wantsPaths && !isOverfull }

    mutating func looked(at path: Path) {
        if !hasRoomForPaths { return }
        if paths.count < Recorder.fewPaths {
            if !paths.contains(path) { paths.append(path) }
            return
        }
        if known.isEmpty { known = Set(paths) }
        if known.insert(path).inserted { paths.append(path) }
        if recording.contains(.pathsIfFew), paths.count > RulesLimits.fewPathCount {
            (isOverfull, paths, known) = (true, [], [])
        }
    }

    mutating func lookedAtTime() {
        if wantsPaths { hasLookedAtTime = true }
    }

    mutating func lookedAtAuth() {
        if wantsPaths { hasLookedAtAuth = true }
    }

    mutating func wants(_ rule: Rule) -> Bool {
        if isCut || !recording.contains(.trace) { return false }
        sourceByteCount += rule.source.utf8.count
        isCut =
            trace.count == RulesLimits.tracedRuleCount
            || sourceByteCount > RulesLimits.tracedSourceByteCount
        return !isCut
    }

    mutating func consulted(_ outcome: RuleOutcome) { trace.append(outcome) }

    func complete(_ decision: UntracedDecision) -> Decision {
        Decision(decision, self, isCut: isCut)
    }
}
