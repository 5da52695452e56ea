import JSONTree
import Queries

/// A view's knowledge of the server's data at its path. `node` is the server's data; in a filtered view, what its query
/// selects. While not complete, its children are those fully known from listens below. `base` is the data under the
/// pending writes: the node, and acknowledged writes that no data of the server shows yet. A server without an index
/// may answer a query with all of the node, and keep all of it up to date, both without the query's tag. Then the view
/// is not filtered, and the query selects here.
struct ServerData {
    private(set) var node = Node.absent
    private(set) var base = Node.absent
    /// Whether the server has nothing that is not in `node`; of a filtered view, nothing that its query selects.
    private(set) var isComplete = false
    /// Whether `node` holds only what the query selects.
    private(set) var isFiltered = false
    /// Whether pushes keep the node as the server has it, so that the echo of a write comes before its reply.
    private(set) var isLive = false
    /// Whether an acknowledged write covers the path while the node is not complete.
    private(set) var isAssumedWhole = false
    /// The data that the listen sent as known, until its answer. An answer without data means that the server has
    /// just this, whatever pushes of earlier listens contained since. It counts as unfiltered.
    private var sent: (node: Node, isFiltered: Bool)?
    /// Whether data arrived that counts as the answer to the sent data.
    private var isAnswered = false

    /// Nothing is known.
    init() {}

    init(_ node: Node, base: Node? = nil, isFiltered: Bool = false, isLive: Bool) {
        self.node = node
        self.base = base ?? node
        self.isFiltered = isFiltered
        self.isLive = isLive
        isComplete = true
    }

    init(children node: Node) {
        self.node = node
        base = node
    }

    /// An acknowledged write covers the path.
    init(assumed base: Node) {
        self.base = base
        isAssumedWhole = true
    }

    /// Whether every child and the node's own priority are known.
    var knowsAll: Bool { isComplete && !isFiltered || isAssumedWhole }

    /// Applies new nodes of the server at locations that concern the node at `path`; returns what they touched. With
    /// `hasTag`, the view has its own listen: its data stays current, the rest does not.
    mutating func apply(
        _ locations: [LocatedNode],
        _ path: Path,
        _ spec: QuerySpec,
        hasTag: Bool,
        isTagged: Bool,
        isMerge: Bool,
    ) -> Touch? {
        if let location = locations.first(where: { $0.covers(keyCount: path.keyCount) }) {
            let whole = location.node.descendant(at: path.dropFirst(location.target.path.keyCount))
            let isForPath = isAnswered || !isMerge && location.target.path == path
            let isAnswer = isAnswered || isForPath && mayAnswer(isTagged)
            let sent = sent
            let staysWhole = !isTagged && (sent == nil ? isComplete && !isFiltered : isForPath)
            self = ServerData(whole, isLive: isAnswer || sent == nil)
            self.sent = sent
            isAnswered = isAnswer && sent != nil
            if hasTag && !staysWhole { narrow(spec) }
            return .everything
        }
        // A merge for an earlier listen here: complete data is on its way.
        if isMerge && !isComplete && node.isAbsent { return nil }
        var touched: [WriteTarget] = []
        var keys: [Key] = []
        for location in locations.inWriteOrder where apply(location, path) {
            touched.append(location.target)
            if location.target.path.keyCount > path.keyCount {
                keys.append(location.target.path.key(at: path.keyCount))
            }
        }
        if isTagged && !isFiltered && !spec.loadsEverything {
            narrow(spec)
            return .everything
        }
        if touched.isEmpty { return nil }
        if isFiltered {
            touched += dropUnselected(spec, of: keys).map { WriteTarget(path: path.appending($0)) }
        }
        return .locations(touched)
    }

    /// Applies the node at one location below, or its priority, if the surrounding node is known.
    private mutating func apply(_ location: LocatedNode, _ path: Path) -> Bool {
        let isPriority = location.target.isPriority
        let below = location.target.path.dropFirst(path.keyCount)
        var isNodeKnown = isComplete && !isFiltered
        var isBaseKnown = knowsAll
        if !isNodeKnown && !below.isRoot {
            let isWholeChild = below.keyCount == 1 && !isPriority
            isNodeKnown = isWholeChild || below.withKey(at: 0) { !node.child($0).isAbsent }
            isBaseKnown =
                isBaseKnown || isNodeKnown || below.withKey(at: 0) { !base.child($0).isAbsent }
        }
        if !isNodeKnown && !isBaseKnown { return false }
        let isSame = node.isIdentical(to: base)
        if isNodeKnown { node.write(location.node, at: below, isPriority: isPriority) }
        if isNodeKnown && isSame {
            base = node
        } else {
            base.write(location.node, at: below, isPriority: isPriority)
        }
        return true
    }

    /// Whether a push of all of the node answers the listen. Without a tag it may be for an earlier plain listen. It is
    /// taken for the answer to a query where there was nothing before, or no query's part of it: servers without an
    /// index may send all there is.
    private func mayAnswer(_ isTagged: Bool) -> Bool {
        guard let sent else { return true }
        return isTagged || !sent.isFiltered || sent.node.isAbsent
    }

    /// The listen is sent, with the hash of this data.
    mutating func send() {
        sent = isComplete ? (node, isFiltered) : (.absent, true)
        isAnswered = false
    }

    /// The server answered an earlier listen or its end: the data so far was for that one.
    mutating func receiveEarlierAnswer() {
        if !isAnswered { return }
        isAnswered = false
        isLive = false
    }

    mutating func takeListen(of other: ServerData) {
        sent = other.sent
        isAnswered = other.isAnswered
    }

    /// The server answered the view's own listen: all its data has arrived. Returns whether anything is new. With
    /// `isUnindexed`, a whole node that came without a tag is the answer to a query, whatever the listen sent.
    mutating func complete(_ spec: QuerySpec, isUnindexed: Bool) -> Bool {
        let isWholeOfQuery = isUnindexed && !spec.loadsEverything && isComplete && !isFiltered
        let isOwn = isAnswered || sent == nil || isWholeOfQuery
        let answer = isOwn ? node : sent?.node ?? node
        let isWhole = isOwn ? isComplete && !isFiltered : sent?.isFiltered == false
        sent = nil
        isAnswered = false
        let isSame = isFiltered != (isWhole || spec.loadsEverything) && answer.isIdentical(to: node)
        if isComplete && isLive && isSame && base.isIdentical(to: node) { return false }
        self = ServerData(answer, isLive: true)
        if !isWhole { narrow(spec) }
        return true
    }

    /// The server answered the listen that covers the view, which has this there. Returns whether anything is new.
    mutating func complete(_ answer: Node) -> Bool {
        // Its own listen has ended: later data is for the listen that covers it.
        sent = nil
        isAnswered = false
        if knowsAll && isComplete && isLive && base.isIdentical(to: node) && node == answer {
            return false
        }
        self = ServerData(answer, isLive: true)
        return true
    }

    /// Keeps the parts of acknowledged writes that no data from the server shows yet.
    mutating func keep(_ locations: [LocatedNode], _ path: Path) {
        for location in locations.inWriteOrder {
            if location.covers(keyCount: path.keyCount) {
                base = location.node.descendant(at: path.dropFirst(location.target.path.keyCount))
                if isComplete { continue }
                isAssumedWhole = true
                base = base.replacingChildren(by: node)
                continue
            }
            let below = location.target.path.dropFirst(path.keyCount)
            if below.isRoot {
                if knowsAll { base = base.settingPriority(location.node) }
                continue
            }
            let key = below.key(at: 0)
            // Data of a listen below shows the write already.
            if !isComplete && !node.child(key).isAbsent { continue }
            let isWholeChild = below.keyCount == 1 && !location.target.isPriority
            if knowsAll || isWholeChild || !base.child(key).isAbsent {
                base.write(location.node, at: below, isPriority: location.target.isPriority)
            }
        }
    }

    // MARK: Filtering

    /// Keeps what the query selects: the server sends nothing else from now on.
    mutating func narrow(_ spec: QuerySpec) {
        if spec.loadsEverything { return }
        let isSame = node.isIdentical(to: base)
        node = spec.selected(of: node)
        base = isSame ? node : spec.selected(of: base)
        isFiltered = true
        isAssumedWhole = false
    }

    /// Drops of the changed children those out of range, and of all those beyond the limit; returns their keys.
    private mutating func dropUnselected(_ spec: QuerySpec, of keys: [Key]) -> [Key] {
        var dropped = keys.filter { key in
            let child = node.child(key)
            return !child.isAbsent && !key.withBytes { spec.contains(key: $0, child: child) }
        }
        drop(dropped)
        guard let limit = spec.limit, node.childCount > limit else { return dropped }
        let selected = spec.selected(of: node)
        var surplus: [Key] = []
        node.visitChildren { key, _ in
            if selected.child(key).isAbsent { surplus.append(Key(key)) }
            return true
        }
        drop(surplus)
        dropped += surplus
        return dropped
    }

    private mutating func drop(_ keys: [Key]) {
        if keys.isEmpty { return }
        let isSame = node.isIdentical(to: base)
        for key in keys {
            node.set(.absent, at: Path([key]))
            if !isSame { base.set(.absent, at: Path([key])) }
        }
        if isSame { base = node }
    }
}

extension Node {
    /// The same, with the children of another node replacing those under the same keys.
    func replacingChildren(by other: Node) -> Node {
        var result = self
        other.visitChildren { key, child in
            result.set(child, at: Path([Key(key)]))
            return true
        }
        return result
    }

    mutating func write(_ node: Node, at path: Path, isPriority: Bool) {
        if isPriority { setPriority(node, at: path) } else { set(node, at: path) }
    }
}

extension QuerySpec {
    /// The children of a node that this selects, as one node; all of it if this loads everything.
    func selected(of node: Node) -> Node {
        if loadsEverything { return node }
        if !node.isMap { return .absent }
        let bare = node.settingPriority(.absent)
        if limit.map({ bare.childCount <= $0 }) ?? true {
            var isAllInside = true
            bare.visitChildren { key, child in
                isAllInside = contains(key: key, child: child)
                return isAllInside
            }
            if isAllInside { return bare }
        }
        let children = ordered(bare)
        return QueryView(self, children).result(in: children)
    }

    func ordered(_ node: Node) -> OrderedChildren {
        OrderedChildren(node, index: index == .key ? nil : ChildIndex(index, of: node))
    }
}
