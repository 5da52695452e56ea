import JSONTree
import Queries

/// Runs the rules of one request: holds the state that its rules share.
///
/// Nothing of the data is copied, and none of it is kept: a snapshot is a tree and a path, and its
/// nodes are lent, found once for the path of the request. Whoever makes an evaluator keeps the
/// request, the new tree and the rules alive for as long.
struct Evaluator<P: Probe> {
    let now: Timestamp
    let plainReadsOrderByKey: Bool
    let query: QuerySpec?
    /// Nil when nobody is signed in.
    let auth: LentNode?
    private let oldRoot: LentNode
    /// The tree as the write would leave it; for a read the tree itself.
    private let newRoot: LentNode
    /// Where in the tree the rules are being judged.
    private(set) var trail: Trail
    var probe: P
    /// Falls below 0 when the request has taken too many.
    var stepsLeft: Int

    /// The number of keys above the rule that runs.
    private(set) var ruleDepth = 0

    /// Element i is the node under the first i keys of the current path, as far as known.
    private var oldNodes: [LentNode] = []
    private var newNodes: [LentNode] = []

    /// The nodes of the snapshots under way, each below the one before; the innermost is the last.
    private var walk: [LentNode] = []
    /// The keys of `walk`, if the probe wants paths or values of this rule.
    private var walkKeys: [Key] = []

    init(
        _ request: RulesRequest,
        query: QuerySpec?,
        newRoot: Node,
        _ trail: Trail,
        pathCount: Int,
        probe: P
    ) {
        now = request.now
        stepsLeft = request.stepLimit ?? RulesLimits.steps(pathCount: pathCount)
        plainReadsOrderByKey = request.plainReadsOrderByKey
        self.query = query
        auth = request.auth.map { LentNode($0.value) }
        oldRoot = LentNode(request.root)
        self.newRoot = LentNode(newRoot)
        self.trail = trail
        self.probe = probe
    }

    /// Nodes along a path for which room is made at once.
    private static var usualDepth: Int { 8 }

    /// Runs a rule that stands under the first `depth` keys of the current path.
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

    /// Runs a rule once more to record its values, in a few steps that are not counted; whether it
    /// came to the same.
    ///
    /// - Precondition: what it came to was not for lack of steps.
    mutating func replay(_ program: Program, depth: Int, expecting verdict: Bool?) -> Bool {
        let saved = stepsLeft
        defer { stepsLeft = saved }
        stepsLeft = RulesLimits.replayStepCount
        do throws(EvaluationFailure) {
            return try run(program, depth: depth) == verdict
        } catch {
            return verdict == nil && error.fault != .outOfSteps
        }
    }

    // MARK: The current path

    /// Goes on with another entry, whose path shares its first `common` keys with the last one.
    mutating func move(to trail: Trail, common: Int) {
        self.trail = trail
        forgetNodes(below: common)
    }

    /// Steps down to a child that the write carries.
    mutating func enter(_ key: Bytes, newNode: LentNode) {
        _ = prefixNode(isNew: true, trail.keyCount)
        trail.enter(key)
        newNodes.append(newNode)
    }

    /// Steps back up from a child.
    mutating func leave() {
        trail.leave()
        forgetNodes(below: trail.keyCount)
    }

    private mutating func forgetNodes(below depth: Int) {
        if oldNodes.count > depth + 1 { oldNodes.removeSubrange((depth + 1)...) }
        if newNodes.count > depth + 1 { newNodes.removeSubrange((depth + 1)...) }
    }

    /// The node under the first `depth` keys of the current path.
    mutating func prefixNode(isNew: Bool, _ depth: Int) -> LentNode {
        if isNew {
            if newNodes.count <= depth { resolve(&newNodes, newRoot, depth) }
            return newNodes[depth]
        }
        if oldNodes.count <= depth { resolve(&oldNodes, oldRoot, depth) }
        return oldNodes[depth]
    }

    /// Makes `nodes[i]` the node under the first i keys, for all i up to `depth`.
    private func resolve(_ nodes: inout [LentNode], _ root: LentNode, _ depth: Int) {
        if nodes.isEmpty {
            nodes.reserveCapacity(Self.usualDepth)
            nodes.append(root)
        }
        while nodes.count <= depth {
            let parent = nodes[nodes.count - 1]
            nodes.append(
                parent.isAbsent ? .absent : parent.child(trail.key(at: nodes.count - 1))
            )
        }
    }

    // MARK: Snapshots

    /// Where a snapshot is: the first `prefix` keys of the current path, then the keys that were
    /// walked since `walk` had `start` nodes. Whoever asked for one leaves it again.
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
            descend(location, text)
            return location
        case .parent(let base):
            var location = try location(base, in: program)
            if walk.count > location.start {
                leaveLast()
                return location
            }
            if location.prefix == 0 {
                throw EvaluationFailure(fault: .parentOfRoot, operation: index)
            }
            location.prefix -= 1
            return location
        case .ternary(let condition, let yes, let no):
            return try location(
                boolean(condition, in: program) ? yes : no,
                in: program
            )
        default:
            throw EvaluationFailure(fault: .noValue, operation: index)
        }
    }

    /// Goes on by the keys of a literal path.
    mutating func descend(_ location: Location, _ keys: Range<Int>, in program: Program) {
        for place in keys { descend(location, program.pathKey(place)) }
    }

    /// Goes on by the keys of a path that was computed.
    mutating func descend(_ location: Location, _ text: Value) {
        text.withText { text in forEachChildKey(text) { descend(location, $0) } }
    }

    /// The path that an expression must give, paid for: a step for each key that it may hold.
    mutating func pathText(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Value {
        let text = try textValue(index, in: program)
        try charge(byteCount: text.byteCount, index)
        stepsLeft -= text.withText { childKeyLimit($0) } ?? 0
        if stepsLeft < 0 { throw EvaluationFailure(fault: .outOfSteps, operation: index) }
        return text
    }

    /// Goes on by one key.
    private mutating func descend(_ location: Location, _ key: Bytes) {
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

    private mutating func innermost(_ location: Location) -> LentNode {
        walk.count > location.start
            ? walk[walk.count - 1] : prefixNode(isNew: location.isNew, location.prefix)
    }

    /// The node a snapshot expression names; notes that it was looked at.
    mutating func node(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> LentNode {
        let location = try location(index, in: program)
        let node = look(at: location)
        leave(location)
        return node
    }

    /// The node at a location; notes that it was looked at.
    mutating func look(at location: Location) -> LentNode {
        if P.isRecording, probe.wantsPaths, let path = path(of: location) {
            probe.looked(at: path)
        }
        return innermost(location)
    }

    /// Where the data of a location is; nil when no data could ever be there, which makes the look
    /// one at nothing.
    private func path(of location: Location) -> Path? {
        let prefix = trail.path(location.prefix)
        let rest = walkKeys[location.start...]
        if rest.isEmpty { return prefix }
        if prefix.keyCount + rest.count > Limits.depth { return nil }
        return rest.allSatisfy(isPossible) ? prefix.appending(Path(Array(rest))) : nil
    }

    // MARK: Steps

    @inline(__always)
    mutating func step(_ index: OperationIndex) throws(EvaluationFailure) {
        stepsLeft -= 1
        if stepsLeft < 0 { throw EvaluationFailure(fault: .outOfSteps, operation: index) }
    }

    /// Pays for work on text: one step for 64 bytes.
    mutating func charge(
        byteCount: Int,
        _ index: OperationIndex
    ) throws(EvaluationFailure) {
        stepsLeft -= byteCount / 64
        if stepsLeft < 0 { throw EvaluationFailure(fault: .outOfSteps, operation: index) }
    }

    /// Pays for a number to be written out, which takes as long as forty operations.
    mutating func chargeForNumberText(_ index: OperationIndex) throws(EvaluationFailure) {
        try charge(byteCount: 40 * 64, index)
    }
}
