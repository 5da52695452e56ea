import JSONTree
import Queries

/// Runs the rules of one request: holds the state that its rules share.
///
/// Copies and keeps no data: a snapshot is a tree and a path, with borrowed nodes that are found once for the path of
/// the request. The caller keeps the request, the new tree and the rules alive while this is in use.
struct Evaluator<P: Probe> {
    let now: Timestamp
    let plainReadsOrderByKey: Bool
    let query: QuerySpec?
    /// Nil when signed out.
    let auth: BorrowedNode?
    private let oldRoot: BorrowedNode
    /// The tree as the write would leave it; for a read the tree itself.
    private let newRoot: BorrowedNode
    /// The path whose rules run.
    private(set) var rulePath: RulePath
    var probe: P
    /// Below 0 when the request has taken too many.
    var stepsLeft: Int

    /// The number of keys above the rule that runs.
    private(set) var ruleDepth = 0

    /// Element i is the node under the first i keys of the current path, as far as known.
    private var oldNodes: [BorrowedNode] = []
    private var newNodes: [BorrowedNode] = []

    /// The nodes of the snapshots under way, each below the one before; the innermost is the last.
    private var walk: [BorrowedNode] = []
    /// The keys of `walk`, if the probe wants paths or values of this rule.
    private var walkKeys: [Key] = []

    init(
        _ request: RulesRequest,
        query: QuerySpec?,
        newRoot: Node,
        _ rulePath: RulePath,
        pathCount: Int,
        probe: P
    ) {
        now = request.now
        stepsLeft = request.stepLimit ?? RulesLimits.steps(pathCount: pathCount)
        plainReadsOrderByKey = request.plainReadsOrderByKey
        self.query = query
        auth = request.auth.map { BorrowedNode($0.value) }
        oldRoot = BorrowedNode(request.root)
        self.newRoot = BorrowedNode(newRoot)
        self.rulePath = rulePath
        self.probe = probe
    }

    /// Nodes along a path for which room is made at once.
    private static var usualDepth: Int { 8 }

    /// Runs a rule at the first `depth` keys of the current path.
    @inline(__always)
    mutating func run(_ program: Program, depth: Int) throws(EvaluationFailure) -> Bool {
        try run(program, from: program.entry, depth: depth)
    }

    /// Runs a part of such a rule that gives a boolean.
    @inline(__always)
    mutating func run(
        _ program: Program,
        from entry: OperationIndex,
        depth: Int
    ) throws(EvaluationFailure) -> Bool {
        ruleDepth = depth
        // What an aborted rule left.
        if !walk.isEmpty { leaveAll() }
        if P.isRecordingValues { probe.begin(program) }
        return try boolean(entry, in: program)
    }

    /// Runs a rule again to record its values, in a few steps that are not counted. Returns whether
    /// it had the same result.
    ///
    /// - Precondition: the rule did not end for lack of steps.
    mutating func replay(_ program: Program, depth: Int, expecting result: Bool?) -> Bool {
        let saved = stepsLeft
        defer { stepsLeft = saved }
        stepsLeft = RulesLimits.replayStepCount
        do throws(EvaluationFailure) {
            return try run(program, depth: depth) == result
        } catch {
            return result == nil && error.fault != .outOfSteps
        }
    }

    // MARK: The current path

    /// Moves to another entry, whose path shares its first `common` keys with the last one.
    mutating func move(to rulePath: RulePath, common: Int) {
        self.rulePath = rulePath
        forgetNodes(below: common)
    }

    /// Steps down to a child that the write carries.
    mutating func enter(_ key: Bytes, newNode: BorrowedNode) {
        _ = prefixNode(isNew: true, rulePath.keyCount)
        rulePath.enter(key)
        newNodes.append(newNode)
    }

    /// Steps back up from a child.
    mutating func leave() {
        rulePath.leave()
        forgetNodes(below: rulePath.keyCount)
    }

    private mutating func forgetNodes(below depth: Int) {
        if oldNodes.count > depth + 1 { oldNodes.removeSubrange((depth + 1)...) }
        if newNodes.count > depth + 1 { newNodes.removeSubrange((depth + 1)...) }
    }

    /// The node under the first `depth` keys of the current path.
    mutating func prefixNode(isNew: Bool, _ depth: Int) -> BorrowedNode {
        if isNew {
            if newNodes.count <= depth { resolve(&newNodes, newRoot, depth) }
            return newNodes[depth]
        }
        if oldNodes.count <= depth { resolve(&oldNodes, oldRoot, depth) }
        return oldNodes[depth]
    }

    /// Makes `nodes[i]` the node under the first i keys, for all i up to `depth`.
    private func resolve(_ nodes: inout [BorrowedNode], _ root: BorrowedNode, _ depth: Int) {
        if nodes.isEmpty {
            nodes.reserveCapacity(Self.usualDepth)
            nodes.append(root)
        }
        while nodes.count <= depth {
            let parent = nodes[nodes.count - 1]
            nodes.append(
                parent.isAbsent ? .absent : parent.child(rulePath.key(at: nodes.count - 1))
            )
        }
    }

    // MARK: Snapshots

    /// Where a snapshot is: the first `prefix` keys of the current path, then the keys that were
    /// walked since `walk` had `start` nodes. The code that asked for one leaves it again.
    struct Location {
        let isNew: Bool
        var prefix: Int
        let start: Int
    }

    /// The location a snapshot expression names.
    @inline(__always)
    mutating func location(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Location {
        if P.isRecordingValues, probe.isObserving {
            return try observedLocation(index, in: program)
        }
        return try computeLocation(index, in: program)
    }

    private mutating func observedLocation(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Location {
        probe.began(index)
        let location = try computeLocation(index, in: program)
        probe.gave(
            snapshotOf: innermost(location),
            isNew: location.isNew,
            prefix: location.prefix,
            walkKeys[location.start...],
            index
        )
        return location
    }

    private mutating func computeLocation(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Location {
        try step(index)
        switch program.operations[Int(index.number)] {
        case .data: return Location(isNew: false, prefix: ruleDepth, start: walk.count)
        case .newData: return Location(isNew: true, prefix: ruleDepth, start: walk.count)
        case .root: return Location(isNew: false, prefix: 0, start: walk.count)
        case .child(let base, let path):
            let location = try location(base, in: program)
            descend(location, program.paths[Int(path)], in: program)
            return location
        case .childAt(let base, let argument):
            let location = try location(base, in: program)
            let text = try pathText(argument, in: program)
            descendPath(location, text)
            return location
        case .parent(let base):
            var location = try location(base, in: program)
            if walk.count > location.start {
                leaveLast()
                return location
            }
            if location.prefix == 0 {
                throw EvaluationFailure(.parentOfRoot, index)
            }
            location.prefix -= 1
            return location
        case .ternary(let condition, let yes, let no):
            return try location(boolean(condition, in: program) ? yes : no, in: program)
        default:
            throw EvaluationFailure(.noValue, index)
        }
    }

    /// Descends by the keys of a literal path.
    mutating func descend(_ location: Location, _ keys: Range<Int>, in program: Program) {
        for index in keys { descendKey(location, program.pathKey(index)) }
    }

    /// Descends by the keys of a computed path.
    mutating func descendPath(_ location: Location, _ text: Value) {
        text.withText { text in forEachChildKey(text) { descendKey(location, $0) } }
    }

    /// The path that an expression must give; pays a step for each key that it may have.
    mutating func pathText(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Value {
        let text = try textValue(index, in: program)
        try charge(byteCount: text.byteCount, index)
        stepsLeft -= text.withText { childKeyLimit($0) } ?? 0
        if stepsLeft < 0 { throw EvaluationFailure(.outOfSteps, index) }
        return text
    }

    /// Descends by one key.
    private mutating func descendKey(_ location: Location, _ key: Bytes) {
        let parent = innermost(location)
        walk.append(parent.isAbsent ? .absent : parent.child(key))
        if P.isRecording, probe.wantsPaths || probe.isObserving { walkKeys.append(Key(key)) }
    }

    /// Keys walked in all locations under way.
    var walkDepth: Int { walk.count }

    /// Goes back to where a location began.
    mutating func leave(_ location: Location) { leave(to: location.start) }

    /// Goes back to where `walkDepth` was `depth`.
    mutating func leave(to depth: Int) {
        while walk.count > depth { leaveLast() }
    }

    private mutating func leaveLast() {
        walk.removeLast()
        if P.isRecording, probe.wantsPaths || probe.isObserving { walkKeys.removeLast() }
    }

    private mutating func leaveAll() {
        walk.removeAll(keepingCapacity: true)
        walkKeys.removeAll(keepingCapacity: true)
    }

    private mutating func innermost(_ location: Location) -> BorrowedNode {
        walk.count > location.start
            ? walk[walk.count - 1] : prefixNode(isNew: location.isNew, location.prefix)
    }

    /// The node a snapshot expression names; notes that it was looked at.
    mutating func node(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> BorrowedNode {
        let location = try location(index, in: program)
        let node = look(at: location)
        leave(location)
        return node
    }

    /// The node at a location; notes that it was looked at.
    mutating func look(at location: Location) -> BorrowedNode {
        if P.isRecording, probe.hasRoomForPaths, let path = path(of: location) {
            probe.looked(at: path)
        }
        return innermost(location)
    }

    /// Where the data of a location is; nil when no data could ever be there, which makes the look one at nothing.
    private func path(of location: Location) -> Path? {
        let prefix = rulePath.path(location.prefix)
        let rest = walkKeys[location.start...]
        if rest.isEmpty { return prefix }
        if prefix.keyCount + rest.count > Limits.depth { return nil }
        return rest.allSatisfy(isPossible) ? prefix.appending(Path(Array(rest))) : nil
    }

    // MARK: Steps

    @inline(__always)
    mutating func step(_ index: OperationIndex) throws(EvaluationFailure) {
        stepsLeft -= 1
        if stepsLeft < 0 { throw EvaluationFailure(.outOfSteps, index) }
    }

    /// Pays for work on text: one step for 64 bytes.
    mutating func charge(byteCount: Int, _ index: OperationIndex) throws(EvaluationFailure) {
        stepsLeft -= byteCount / 64
        if stepsLeft < 0 { throw EvaluationFailure(.outOfSteps, index) }
    }

    /// Pays for a number to be written out, which takes as long as forty operations.
    mutating func chargeForNumberText(_ index: OperationIndex) throws(EvaluationFailure) {
        try charge(byteCount: 40 * 64, index)
    }
}
