import SimulatedStorage

/// Draws what simulated clients do, from one seed.
///
/// The tree it writes is small and its keys are few, so that requests meet each other all the time.
struct Workload: Sendable {
    var random: SplitMix64
    let rules: SimulatedRules

    init(seed: UInt64, rules: SimulatedRules) {
        random = SplitMix64(state: seed)
        self.rules = rules
    }

    // MARK: - Dice

    mutating func number(below bound: Int) -> Int { Int(random.next(below: bound)) }

    /// True once in so many times.
    mutating func happens(oneIn count: Int) -> Bool { number(below: count) == 0 }

    mutating func pick<Element>(_ items: [Element]) -> Element { items[number(below: items.count)] }

    /// The index of one of the weights, each as likely as it is heavy.
    mutating func pick(weights: [Int]) -> Int {
        var rest = number(below: weights.reduce(0, +))
        for (index, weight) in weights.enumerated() {
            if rest < weight { return index }
            rest -= weight
        }
        preconditionFailure("the rest is below the sum of the weights")
    }

    // MARK: - Places

    private static let common = ["a", "b", "1", "2", "10", "x", "y", "é", "ab"]

    /// Mostly the common ones, so that requests meet; the others are odd ones.
    private static let keys = common + common + common + ["-5", "😀", "%41", "～", "\""]
    static let users = ["ann", "bob", "cid"]

    mutating func path() -> NaivePath {
        switch rules {
        case .open:
            let depth = pick(weights: [1, 6, 8, 5])
            if depth == 0 { return [] }
            let first = happens(oneIn: 3) ? "list" : pick(Self.keys)
            return [first] + (1..<depth).map { _ in pick(Self.keys) }
        case .rooms, .closed:
            if happens(oneIn: 5) {
                return ["public"] + (happens(oneIn: 2) ? [] : [pick(Self.keys)])
            }
            let room = ["rooms", pick(["r1", "r2"])]
            switch number(below: 6) {
            case 0, 1: return room
            case 2: return room + ["members", pick(Self.users)]
            default: return room + ["log", pick(Self.keys)]
            }
        }
    }

    mutating func target() -> NaiveTarget {
        let path = path()
        return NaiveTarget(path: path, isPriority: !path.isEmpty && happens(oneIn: 12))
    }

    mutating func listPath() -> NaivePath {
        switch rules {
        case .open: pick([["list"], ["list"], ["list", pick(Self.keys)], [pick(Self.keys)]])
        case .rooms, .closed: pick([["rooms", pick(["r1", "r2"]), "log"], ["public"]])
        }
    }

    // MARK: - Values

    mutating func leaf() -> NaiveNode.Leaf {
        switch number(below: 4) {
        case 0: .boolean(happens(oneIn: 2))
        case 1 where happens(oneIn: 12): .string(ValueSize.embedded.text(&random))
        case 1: .string(pick(["", "a", "b", "é", "a\"b"]))
        case 2: .number(Double(number(below: 7)) / 2 - 1)
        default: .number(Double(number(below: 5)))
        }
    }

    private mutating func priority() -> NaiveNode.Leaf {
        if happens(oneIn: 20) { return .string(ValueSize.embedded.text(&random)) }
        return happens(oneIn: 3) ? .string(pick(["p", "q"])) : .number(Double(number(below: 4)))
    }

    private mutating func serverValue() -> NaiveNode.Leaf {
        happens(oneIn: 2) ? .timestamp : .increment(Double(number(below: 5) - 2))
    }

    /// A value to write, with server values in some places.
    mutating func draft(depth: Int = 2) -> NaiveNode {
        var node = NaiveNode()
        if depth == 0 || happens(oneIn: 3) {
            if happens(oneIn: 7) { return node }
            node.leaf = happens(oneIn: 8) ? serverValue() : leaf()
        } else {
            for _ in 0...number(below: 4) {
                let child = draft(depth: depth - 1)
                if !child.isAbsent { node.children[pick(Self.keys)] = child }
            }
        }
        if !node.isAbsent, happens(oneIn: 5) {
            node.priority = happens(oneIn: 10) ? .timestamp : priority()
        }
        return node
    }

    /// A map of some pages, as its members come one by one in some order.
    mutating func wideDraft() -> NaiveNode {
        var node = NaiveNode()
        let order = pick(KeyOrder.allCases)
        for key in order.keys(20 + number(below: 30), &random) {
            node.children[key] = happens(oneIn: 4) ? NaiveNode(serverValue()) : NaiveNode(leaf())
            if happens(oneIn: 3) {
                node.children[key] = NaiveNode(.string(ValueSize.short.text(&random)))
            }
        }
        return node
    }

    mutating func write(at target: NaiveTarget) -> NaiveWrite {
        if !target.isPriority, happens(oneIn: 40) {
            return NaiveWrite(target: target, node: wideDraft())
        }
        if !target.isPriority { return NaiveWrite(target: target, node: draft()) }
        let leaf = happens(oneIn: 4) ? nil : happens(oneIn: 8) ? serverValue() : priority()
        return NaiveWrite(target: target, node: NaiveNode(leaf))
    }

    /// What an administrator writes: with rooms mostly who is a member, so that listens come and go.
    mutating func adminWrite() -> NaiveWrite {
        if rules == .open || happens(oneIn: 4) { return write(at: target()) }
        let path = ["rooms", pick(["r1", "r2"]), "members", pick(Self.users)]
        let node = happens(oneIn: 3) ? NaiveNode.absent : NaiveNode(leaf())
        return NaiveWrite(target: NaiveTarget(path: path), node: node)
    }

    /// Writes a child of a list, something in it that lists are ordered by, or its priority.
    mutating func childWrite() -> NaiveWrite {
        let key = happens(oneIn: 2) ? pick(Self.keys) : "k\(number(below: 12))"
        let path = listPath() + [key]
        switch number(below: 8) {
        case 0: return NaiveWrite(target: NaiveTarget(path: path), node: .absent)
        case 1: return write(at: NaiveTarget(path: path, isPriority: true))
        case 2: return NaiveWrite(target: NaiveTarget(path: path), node: NaiveNode(leaf()))
        case 3, 4:
            return NaiveWrite(target: NaiveTarget(path: path + ["x"]), node: NaiveNode(leaf()))
        case 5:
            let target = NaiveTarget(path: path + ["y", "z"])
            return NaiveWrite(target: target, node: NaiveNode(leaf()))
        default: return write(at: NaiveTarget(path: path))
        }
    }

    /// Writes below one base, none covering another.
    mutating func merge() -> (base: NaivePath, [NaiveWrite]) {
        var base = path()
        if !base.isEmpty { base.removeLast() }
        var writes: [NaiveWrite] = []
        for _ in 0...number(below: 4) {
            let depth = 1 + number(below: 2)
            var target = NaiveTarget(path: base + (0..<depth).map { _ in pick(Self.keys) })
            target.isPriority = happens(oneIn: 8)
            if rules == .rooms, happens(oneIn: 2) { target.path = path() }
            guard target.path.starts(with: base), target.path.count > base.count else { continue }
            if writes.contains(where: { $0.target.covers(target) || target.covers($0.target) }) {
                continue
            }
            writes.append(write(at: target))
        }
        if writes.isEmpty { writes = [write(at: NaiveTarget(path: base + ["a"]))] }
        return (base, writes)
    }

    // MARK: - Queries

    mutating func query() -> NaiveQuery {
        var query = NaiveQuery(index: .key)
        switch number(below: 5) {
        case 0: query.index = .key
        case 1: query.index = .value
        case 2: query.index = .priority
        case 3: query.index = .child(["x"])
        default: query.index = .child(["y", "z"])
        }
        if happens(oneIn: 3) { query.start = bound(query.index) }
        if happens(oneIn: 3) { query.end = bound(query.index) }
        if happens(oneIn: 10) {
            query.start = bound(query.index)
            query.start?.isInclusive = true
            query.end = query.start
        }
        if query.start == nil && query.end == nil || happens(oneIn: 2) {
            query.limit = 1 + number(below: happens(oneIn: 4) ? 12 : 4)
            query.keepsLast = happens(oneIn: 2)
        }
        return query
    }

    private mutating func bound(_ index: NaiveQuery.Index) -> NaiveQuery.Bound {
        if index == .key {
            let key = pick(Self.keys)
            return NaiveQuery.Bound(value: .string(key), isInclusive: !happens(oneIn: 3))
        }
        var bound = NaiveQuery.Bound()
        if !happens(oneIn: 5) { bound.value = index == .priority ? priority() : leaf() }
        if happens(oneIn: 2) { bound.key = pick(Self.keys) }
        bound.isInclusive = !happens(oneIn: 3)
        return bound
    }

    // MARK: - Requests

    /// What a client asks next. `isSettled` says that everything made has been sent to every client;
    /// only then may a client claim to have data, as pushes on their way would change its copy.
    mutating func request(
        _ client: inout SimulatedClient,
        _ model: ReferenceModel,
        isSettled: Bool
    ) -> SimulatedRequest {
        if rules == .rooms, client.isNew, !happens(oneIn: 4) {
            return .auth(.user(pick(Self.users)))
        }
        let auth = rules == .rooms ? 4 : 0
        switch pick(weights: [30, 15, 8, 14, 12, 7, 6, 6, 3, 3, auth, auth / 4]) {
        case 0:
            if client.kind == .events, happens(oneIn: 4) {
                return .push(listPath(), key: "", write(at: NaiveTarget(path: [])).node)
            }
            let write = write(at: target())
            return .put(write.target, write.node, hash: nil)
        case 1:
            let (base, writes) = merge()
            return .merge(base: base, writes)
        case 2:
            let target = NaiveTarget(path: path())
            let states = model.states.suffix(3)
            let expected = pick(Array(states)).root[target.path]
            return .put(target, draft(), hash: SimulatedRequest.hash(of: expected))
        case 3: return listen(&client, model, isSettled)
        case 4:
            let listen = NaiveListen(path: listPath(), query: query(), tag: client.nextTag())
            return client.mayListen(listen) ? .listen(listen, having: nil) : get()
        case 5:
            let endable = client.endable
            return endable.isEmpty ? listen(&client, model, isSettled) : .unlisten(pick(endable))
        case 6: return get()
        case 7:
            let write = write(at: target())
            return .onDisconnectPut(write.target, write.node)
        case 8:
            let (base, writes) = merge()
            return .onDisconnectMerge(base: base, writes)
        case 9: return .onDisconnectCancel(NaiveTarget(path: path()))
        case 10: return .auth(identity())
        default: return .unauth
        }
    }

    /// Half of the reads are queries, there where the rules index all of them.
    private mutating func get() -> SimulatedRequest {
        if rules == .open, happens(oneIn: 2) {
            return .get(NaiveListen(path: ["list"], query: query()))
        }
        return .get(NaiveListen(path: path()))
    }

    mutating func identity() -> SimulatedIdentity {
        switch number(below: 6) {
        case 0: .user(SimulatedRules.keeper)
        case 1: happens(oneIn: 2) ? .nobody : .admin
        default: .user(pick(Self.users))
        }
    }

    private mutating func listen(
        _ client: inout SimulatedClient,
        _ model: ReferenceModel,
        _ isSettled: Bool
    ) -> SimulatedRequest {
        let tag = client.kind == .events ? client.nextTag() : nil
        let listen = NaiveListen(path: path(), tag: tag)
        if !client.mayListen(listen) { return get() }
        var having: NaiveNode?
        if isSettled, client.kind == .wire {
            switch number(below: 4) {
            case 0: having = client.kept[listen]
            case 1: having = listen.view(of: model.current.root)
            default: break
            }
        }
        return .listen(listen, having: having)
    }
}
