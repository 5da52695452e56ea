import RulesTools
import TestSupport
import JSONTree
import Queries
import SecurityRules

/// Makes random data and requests, near to where the rules are.
struct OracleWorld {
    var random: SeededGenerator

    private mutating func pick<T>(_ all: [T]) -> T { all[random.index(all.count)] }

    private mutating func oneIn(_ count: Int) -> Bool { random.index(count) == 0 }

    // MARK: Data

    private static let depth = 3

    /// A commit to a tree, near to what a request is about.
    mutating func commit(near path: [String]) -> (path: [String], node: OracleNode) {
        let place = path.prefix(random.index(path.count + 1))
        let below = (0..<random.index(3)).map { _ in pick(OracleGenerator.keys) }
        let draft = draft(depth: random.index(3), hasServerValues: false)
        return (place + below, draft.resolved(old: .absent, now: 0))
    }

    /// A tree of several levels.
    mutating func data() -> OracleNode {
        var tree = draft(depth: OracleWorld.depth, hasServerValues: false).resolved(
            old: .absent,
            now: 0
        )
        if tree.children.isEmpty {
            tree = OracleNode(children: ["a": OracleNode(value: .number(1))])
        }
        return tree
    }

    private mutating func draft(depth: Int, hasServerValues: Bool) -> OracleDraft {
        let draft = plainDraft(depth: depth, hasServerValues: hasServerValues)
        if case .null = draft { return draft }
        if !oneIn(8) { return draft }
        return .prioritized(draft, pick([.number(1), .number(2), .string("a"), .number(10)]))
    }

    private mutating func plainDraft(depth: Int, hasServerValues: Bool) -> OracleDraft {
        if depth == 0 || random.index(10) < (depth == OracleWorld.depth ? 1 : 4) {
            if hasServerValues, oneIn(5) {
                return oneIn(2) ? .timestamp : .increment(pick([1, 2, 0.5, -1]))
            }
            return pick([
                .scalar(scalar()), .scalar(scalar()), .scalar(scalar()), .scalar(scalar()),
                hasServerValues ? .null : .scalar(scalar()),
            ])
        }
        var members: [String: OracleDraft] = [:]
        for key in OracleGenerator.keys where oneIn(2) {
            members[key] = draft(depth: depth - 1, hasServerValues: hasServerValues)
        }
        return .map(members)
    }

    private mutating func scalar() -> OracleScalar {
        switch random.index(5) {
        case 0: .boolean(oneIn(2))
        case 1, 2: .string(pick(OracleGenerator.texts))
        default: .number(pick(OracleGenerator.numbers + [-1, 1_000]))
        }
    }

    // MARK: Requests

    mutating func request(for rules: OracleRules) -> OracleRequest {
        let isRead = oneIn(2)
        let path = path(along: rules, keyCount: random.index(5))
        let query = isRead && oneIn(2) ? query() : nil
        return OracleRequest(
            operation: isRead ? .read : write(at: path, rules),
            path: path,
            auth: auth(),
            now: pick([1_000, 1_700_000_000_000]),
            query: query,
            plainReadsOrderByKey: oneIn(4)
        )
    }

    /// Mostly along what the rules name.
    private mutating func path(along rules: OracleRules, keyCount: Int) -> [String] {
        var path: [String] = []
        var rules: OracleRules? = rules
        while path.count < keyCount {
            let named = rules?.literals.map(\.key) ?? []
            let key = !named.isEmpty && !oneIn(3) ? pick(named) : pick(OracleGenerator.keys)
            path.append(key)
            rules = rules?.child(key)?.rules
        }
        return path
    }

    private mutating func write(
        at path: [String],
        _ rules: OracleRules
    ) -> OracleRequest.Operation {
        if !oneIn(3) {
            let isPriority = oneIn(12)
            let draft: OracleDraft =
                isPriority
                ? .scalar(.number(pick([1, 2])))
                : draft(depth: random.index(3), hasServerValues: true)
            let entry = OracleEntry(path: path, isPriority: isPriority, draft: draft)
            return .write([entry], base: path, isUpdate: false)
        }
        var entries: [OracleEntry] = []
        for _ in 0..<(1 + random.index(3)) {
            let target = path + self.path(along: rules, keyCount: 1 + random.index(2))
            let isPriority = oneIn(10)
            let covers = entries.contains { other in
                (!other.isPriority && target.starts(with: other.path))
                    || (!isPriority && other.path.starts(with: target))
                    || (isPriority && other.isPriority && target == other.path)
            }
            if covers { continue }
            let draft: OracleDraft =
                isPriority
                ? .scalar(.number(pick([1, 2])))
                : draft(depth: random.index(2), hasServerValues: true)
            entries.append(OracleEntry(path: target, isPriority: isPriority, draft: draft))
        }
        return .write(entries, base: path, isUpdate: true)
    }

    private mutating func auth() -> OracleNode? {
        if oneIn(4) { return nil }
        if oneIn(20) { return .absent }
        func leaf(_ value: OracleScalar) -> OracleNode { OracleNode(value: value) }
        var token: [String: OracleNode] = [:]
        if oneIn(2) { token["admin"] = leaf(.boolean(!oneIn(3))) }
        if oneIn(2) { token["level"] = leaf(.number(pick([1, 2, 5]))) }
        if oneIn(2) {
            var rooms = ["b": leaf(scalar())]
            rooms[pick(OracleGenerator.keys)] = leaf(.boolean(true))
            token["rooms"] = OracleNode(children: rooms)
        }
        if oneIn(2) {
            token["list"] = OracleNode(children: ["0": leaf(scalar()), "1": leaf(scalar())])
        }
        var auth = ["token": OracleNode(children: token)]
        if token.isEmpty { auth["token"] = nil }
        if !oneIn(10) { auth["uid"] = leaf(.string(pick(OracleGenerator.keys))) }
        auth["provider"] = leaf(.string(pick(["custom", "a"])))
        return OracleNode(children: auth)
    }

    private mutating func query() -> OracleQuery {
        var query = OracleQuery()
        query.order = pick([.key, .value, .priority, .child("a"), .child("b"), .child("a/b")])
        func bound(_ world: inout OracleWorld) -> OracleScalar {
            if case .key = query.order { return .string(world.pick(OracleGenerator.keys)) }
            return world.scalar()
        }
        switch random.index(5) {
        case 0: query.equal = bound(&self)
        case 1: query.start = bound(&self)
        case 2: query.end = bound(&self)
        case 3:
            query.start = bound(&self)
            query.end = bound(&self)
            // The same place at both ends is what `equalTo` means.
            if query.start == query.end { query.equal = query.start }
        default: break
        }
        if oneIn(2) {
            let count = pick([1, 2, 3, 10])
            if oneIn(2) { query.limitToFirst = count } else { query.limitToLast = count }
        }
        return query
    }
}

/// A request of the oracle's world as the server takes it.
struct OracleTrial {
    let request: OracleRequest
    let operation: SimulatedOperation
    private let path: Path
    private let auth: AuthVariable?

    init(_ request: OracleRequest) throws {
        self.request = request
        path = try OracleTrial.path(request.path)
        auth = try request.auth.map { AuthVariable(try Node(json: Array($0.json.utf8))) }
        switch request.operation {
        case .read: operation = .read(path, query: try request.query?.spec())
        case .write(let entries, _, let isUpdate):
            let drafts = try entries.map { entry in
                let path = try OracleTrial.path(entry.path)
                let target = WriteTarget(path: path, isPriority: entry.isPriority)
                return (target: target, draft: try Draft(json: Array(entry.draft.json.utf8)))
            }
            operation =
                isUpdate
                ? .update(base: path, drafts) : .write(drafts[0].target, drafts[0].draft)
        }
    }

    static func path(_ keys: [String]) throws -> Path {
        Path(try keys.map { (key) throws(PathError) in try Key(key) })
    }

    /// What the decision is made from.
    func request(root: Node) -> RulesRequest {
        RulesRequest(
            root: root,
            auth: auth,
            now: Timestamp(milliseconds: Int64(request.now)),
            plainReadsOrderByKey: request.plainReadsOrderByKey
        )
    }

    /// The decision; of a write with `newData` at the path of the request.
    func decide(
        _ rules: Ruleset,
        _ root: Node,
        newData: Node?,
        _ recording: Recording
    ) -> Decision {
        let request = request(root: root)
        if case .read(let path, let query) = operation {
            return rules.decideRead(path, query: query, request, recording: recording)
        }
        guard let (targets, newRoot) = write(root, newData: newData) else {
            preconditionFailure("what is no read is a write")
        }
        return rules.decideWrite(targets, newRoot: newRoot, request, recording: recording)
    }

    /// The targets of a write and the tree that it leaves, with `newData` at the path of the request; nil for a read.
    func write(_ root: Node, newData: Node?) -> (targets: [WriteTarget], newRoot: Node)? {
        var newRoot = root
        if let newData { newRoot.set(newData, at: path) }
        switch operation {
        case .read: return nil
        case .write(let target, _): return ([target], newRoot)
        case .update(_, let entries): return (entries.map(\.target), newRoot)
        }
    }
}

extension OracleQuery {
    /// The query as the server takes it.
    func spec() throws -> QuerySpec {
        func bound(_ value: OracleScalar?) -> QuerySpec.Bound? {
            switch value {
            case nil: nil
            case .boolean(let value): QuerySpec.Bound(value: Node(value))
            case .number(let value): QuerySpec.Bound(value: Node(double: value))
            case .string(let value): QuerySpec.Bound(value: Node(string: value))
            }
        }
        let index: QuerySpec.Index
        switch order {
        case .key: index = .key
        case .value: index = .value
        case .priority: index = .priority
        case .child(let path):
            index = .child(try Path(path))
        }
        return QuerySpec(
            index: index,
            start: bound(equal ?? start),
            end: bound(equal ?? end),
            limit: limitToFirst ?? limitToLast,
            side: limitToFirst == nil ? .last : .first
        )
    }
}
