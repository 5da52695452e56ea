import JSONTree
import Queries

/// Runs the rules of one request: holds the state that its rules share.
///
/// Nothing of the data is copied: a snapshot is a tree and a path, and its node is found when a
/// method needs it. The nodes along the path of the request are found once.
struct Evaluator<P: Probe> {
    let request: RulesRequest
    let query: QuerySpec?
    /// The tree as the write would leave it; for a read the tree itself.
    let newRoot: Node
    /// Where in the tree the rules are being judged.
    private(set) var trail: Trail
    var probe: P
    /// Falls below 0 when the request has taken too many.
    var stepsLeft = RulesLimits.stepsPerRequest

    /// The number of keys above the rule that runs.
    private(set) var ruleDepth = 0

    /// Element i is the node under the first i keys of the current path, as far as known.
    private var oldNodes: [Node] = []
    private var newNodes: [Node] = []

    init(_ request: RulesRequest, query: QuerySpec?, newRoot: Node, target: Path, probe: P) {
        self.request = request
        self.query = query
        self.newRoot = newRoot
        trail = Trail(target: target)
        self.probe = probe
    }

    /// Runs a rule that stands under the first `depth` keys of the current path.
    mutating func run(_ program: Program, depth: Int) throws(EvaluationFailure) -> Bool {
        ruleDepth = depth
        return try boolean(program.entry, in: program)
    }

    // MARK: The current path

    /// Goes on with another entry, whose path shares its first `common` keys with the last one.
    mutating func move(to target: Path, common: Int) {
        trail = Trail(target: target)
        forgetNodes(below: common)
    }

    /// Steps down to a child that the write carries.
    mutating func enter(_ key: Key, newNode: Node) {
        _ = prefixNode(isNew: true, trail.keyCount)
        trail.below.append(key)
        newNodes.append(newNode)
    }

    /// Steps back up from a child.
    mutating func leave() {
        trail.below.removeLast()
        forgetNodes(below: trail.keyCount)
    }

    private mutating func forgetNodes(below depth: Int) {
        if oldNodes.count > depth + 1 { oldNodes.removeSubrange((depth + 1)...) }
        if newNodes.count > depth + 1 { newNodes.removeSubrange((depth + 1)...) }
    }

    /// The node under the first `depth` keys of the current path.
    mutating func prefixNode(isNew: Bool, _ depth: Int) -> Node {
        if isNew {
            if newNodes.count <= depth { trail.resolve(&newNodes, newRoot, depth) }
            return newNodes[depth]
        }
        if oldNodes.count <= depth { trail.resolve(&oldNodes, request.root, depth) }
        return oldNodes[depth]
    }

    // MARK: Snapshots

    /// Where a snapshot is: the first `prefix` keys of the current path, then `rest`.
    struct Location {
        let isNew: Bool
        var prefix: Int
        var rest: [Key] = []

        /// Goes on by some keys.
        mutating func append(_ keys: [Key]) {
            if rest.isEmpty { rest = keys } else { rest += keys }
        }
    }

    /// The location a snapshot expression names.
    mutating func location(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> Location {
        try step(index)
        switch program.operations[Int(index.number)] {
        case .data: return Location(isNew: false, prefix: ruleDepth)
        case .newData: return Location(isNew: true, prefix: ruleDepth)
        case .root: return Location(isNew: false, prefix: 0)
        case .child(let base, let path):
            var location = try location(base, in: program)
            location.append(program.paths[Int(path)])
            return location
        case .childAt(let base, let argument):
            var location = try location(base, in: program)
            location.append(try keys(argument, in: program))
            return location
        case .parent(let base):
            var location = try location(base, in: program)
            if location.rest.popLast() != nil { return location }
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

    /// The keys of a path that was computed.
    mutating func keys(
        _ index: OperationIndex,
        in program: Program
    ) throws(EvaluationFailure) -> [Key] {
        let text = try text(index, in: program)
        try charge(byteCount: text.count, index)
        return childKeys(text)
    }

    /// The node at a location; notes that it was looked at.
    mutating func node(at location: Location) -> Node {
        if P.isRecording, let path = path(of: location) { probe.looked(at: path) }
        var node = prefixNode(isNew: location.isNew, location.prefix)
        for key in location.rest {
            node = node.child(key)
            if node.isAbsent { break }
        }
        return node
    }

    /// Where the data of a location is; nil when no data could ever be there, which makes the look
    /// one at nothing.
    private func path(of location: Location) -> Path? {
        let prefix = trail.path(location.prefix)
        if location.rest.isEmpty { return prefix }
        return location.rest.allSatisfy(isPossible) ? prefix.appending(Path(location.rest)) : nil
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
}
