import JSONTree
import Queries
import TestSupport
import Testing
import WireProtocol

@testable import SyncCore

/// Random histories of one client, its twin and a server with messages under way in both
/// directions.
@Suite("Histories of views")
struct TreeHistoryTests {
    @Test(
        "a tree tells what its twin tells, and in the end shows what the server has",
        arguments: [
            (1, false, true), (2, false, true), (3, true, true), (4, true, true), (5, true, true),
            (6, false, false), (7, true, false),
        ] as [(UInt64, Bool, Bool)]
    )
    func histories(seed: UInt64, isStored: Bool, hasIndexes: Bool) {
        for round in 0..<12 {
            let seed = TestSeed.first + seed * 1_000 + UInt64(round)
            if !Self.holds(seed, isStored, hasIndexes) { return }
        }
    }

    /// A listen that was under way when another came to cover it stayed without confirmation for ever.
    @Test("histories that once went wrong go right", arguments: [(3084, true), (1780, false)])
    func found(seed: UInt64, isStored: Bool) {
        #expect(Self.holds(seed, isStored, true))
    }

    private static func holds(_ seed: UInt64, _ isStored: Bool, _ hasIndexes: Bool) -> Bool {
        var history = TreeHistory(seed: seed, isStored: isStored, hasIndexes: hasIndexes)
        for _ in 0..<90 where !history.hasFailed { history.step() }
        if !history.hasFailed { history.settle() }
        return !history.hasFailed
    }
}

private struct TreeHistory {
    private let seed: UInt64
    private var random: SeededGenerator
    private var tree: SyncTree
    private var twin: TreeTwin
    private var server = TreeServer()
    private var requests: [TreeServer.Request] = []
    private var disk = TreeDisk()
    private var live = LiveListens()
    private var observers: [Observer] = []
    private var pending: [(id: WriteID, places: [PlainPlace])] = []
    private var lastID: UInt64 = 0
    /// Which of the times that a target was listened to is the last.
    private var turns: [ListenTarget: Int] = [:]
    private var lastTurn = 0
    private var log: [String] = []
    private(set) var hasFailed = false

    init(seed: UInt64, isStored: Bool, hasIndexes: Bool) {
        self.seed = seed
        server.hasIndexes = hasIndexes
        random = SeededGenerator(seed: seed)
        tree = SyncTree(isStored: isStored)
        twin = TreeTwin(isStored: isStored)
        for _ in 0..<6 { server.commit([somePlace(depth: 2)], &random) }
    }

    // MARK: Steps

    mutating func step() {
        switch random.index(20) {
        case 0, 1, 2: observe()
        case 3: stopObserving()
        case 4, 5, 6: write()
        case 7, 8: server.commit(somePlaces(), &random)
        case 9 where random.index(8) == 0: server.revokeOne(&random)
        case 10 where random.index(5) == 0: reconnect()
        case 11 where random.index(6) == 0 && tree.isStored: restart()
        case 9...14: deliverRequest()
        default: deliverMessage()
        }
    }

    /// Delivers all that is under way; then everybody must see what the server has.
    mutating func settle() {
        while !hasFailed && (!requests.isEmpty || !server.messages.isEmpty) {
            deliverRequest()
            deliverMessage()
        }
        for view in twin.views where !hasFailed {
            let truth = PlainOrder.result(server.tree[view.path], view.spec)
            let shown = tree.result(view.target, includingCached: false)
            check(
                shown.map(Plain.init) == truth,
                "\(view.path) shows \(text(shown)), not \(truth.text)"
            )
            check(
                shown.map { target in
                    tree.result(view.target, ofServerData: truth.node) == target
                } ?? false,
                "a result is made of server data as of a listen's"
            )
        }
        for target in twin.neededListens where !hasFailed {
            let node = server.tree[Plain.keys(target.path)]
            let truth = server.hasIndexes ? PlainOrder.result(node, target.query).node : node.node
            check(tree.hash(target).hash == truth.hash(), "the hash of \(target.path)")
            if tree.isStored {
                check(
                    disk.listens[target] == truth,
                    "disk: \(target.path) \(text(disk.listens[target])) not \(text(truth))"
                )
            }
        }
    }

    private mutating func observe() {
        lastID += 1
        let kinds: [ObservedKinds] = [
            [.value, .children], [.value, .children], .value, .children, .childAdded, [],
        ]
        let observer = Observer(
            id: ObserverID(lastID),
            target: someTarget(),
            kinds: kinds[random.index(kinds.count)],
        )
        observers.append(observer)
        note("observe \(lastID) \(observer.target.text) \(observer.kinds.rawValue)")
        var output = TreeOutput()
        tree.add(observer, &output)
        finish(output, twin.add(observer))
    }

    private mutating func stopObserving() {
        if observers.isEmpty { return }
        let observer = observers.remove(at: random.index(observers.count))
        note("stop \(observer.id.value)")
        var output = TreeOutput()
        tree.remove(observer.id, &output)
        finish(output, twin.remove(observer.id))
    }

    private mutating func write() {
        lastID += 1
        let id = WriteID(Int64(lastID))
        let places = somePlaces()
        let isVisible = random.index(8) != 0
        note("write \(lastID) \(places.map(\.text)) \(isVisible)")
        pending.append((id, places))
        requests.append(.write(id, places))
        var output = TreeOutput()
        let write = places.map { LocatedNode(target: $0.target, node: $0.node) }
        tree.write(id, write, isVisible: isVisible, &output)
        finish(output, twin.write(id, places, isVisible: isVisible))
    }

    private mutating func deliverRequest() {
        if requests.isEmpty { return }
        server.receive(requests.removeFirst(), &random)
    }

    private mutating func deliverMessage() {
        if server.messages.isEmpty { return }
        let message = server.messages.removeFirst()
        note(message.text)
        var output = TreeOutput()
        switch message {
        case .push(let places, let tag, let isMerge):
            if isMerge {
                let base = places.dropFirst().reduce(places[0].path) { base, place in
                    Array(zip(base, place.path).prefix { $0 == $1 }.map(\.0))
                }
                let list = places.map { (target: $0.target, node: $0.node) }
                tree.merge(Plain.path(base), list, tag: tag, &output)
            } else {
                tree.apply(places[0].target, places[0].node, tag: tag, &output)
            }
            if tag == nil && !isMerge { distrust(places[0]) }
            let isKnown = tag.map { twin.tags[$0] != nil } ?? true
            finish(output, isKnown ? twin.apply(places, tag: tag, isMerge: isMerge) : [])
        case .answered(let target, let tag, let turn):
            // As the link does: the answer to a listen that was stopped since is no one's.
            if turns[target] != turn { return }
            let isUnindexed = tag != nil && !server.hasIndexes
            tree.listenAnswered(target, tag: tag, isUnindexed: isUnindexed, &output)
            finish(output, twin.answered(target, tag: tag, isUnindexed: isUnindexed))
        case .revoked(let target, let tag, let turn):
            let isGone = tag.map { twin.tags[$0] == nil } ?? !twin.neededListens.contains(target)
            if isGone || turn != nil && turn != turns[target] { return }
            live.revoke(target)
            tree.revoke(target, .refused(status: "permission_denied", message: ""), &output)
            finish(output, twin.revoke(target))
            let left = Set(twin.views.flatMap(\.observers).map(\.id))
            observers.removeAll { !left.contains($0.id) }
        case .settled(let id, let isRefused):
            pending.removeAll { $0.id == id }
            tree.settle(id, isRefused: isRefused, &output)
            finish(output, twin.settle(id, isRefused: isRefused))
        }
    }

    /// Has the server send data to listens of a place: see `TreeServer.isUncertain`.
    private mutating func distrust(_ place: PlainPlace) {
        requests = requests.map { request in
            guard case .listen(let target, let tag, let turn, _) = request,
                target.path == place.target.path
            else { return request }
            return .listen(target, tag: tag, turn: turn, hash: "none")
        }
    }

    private mutating func listen(_ target: ListenTarget, _ tag: Int64?) {
        lastTurn += 1
        turns[target] = lastTurn
        let hash = tree.hash(target).hash
        requests.append(.listen(target, tag: tag, turn: lastTurn, hash: hash))
        twin.send(target)
    }

    /// Everything under way is lost; listens are said again, then writes without an answer.
    private mutating func reconnect() {
        note("reconnect")
        server.disconnect()
        requests = []
        for target in twin.neededListens.sorted(by: { "\($0)" < "\($1)" }) {
            let tag = twin.tags.first { $0.value == target }?.key
            listen(target, tag)
        }
        for (id, places) in pending { requests.append(.write(id, places)) }
    }

    /// The app starts anew with what the disk has.
    private mutating func restart() {
        note("restart")
        server.disconnect()
        requests = []
        observers = []
        pending = []
        tree = SyncTree(isStored: true)
        twin = TreeTwin(isStored: true)
        live = LiveListens()
        var output = TreeOutput()
        tree.restore(disk.stored, &output)
        for listen in disk.stored { twin.closed[listen.target] = Plain(listen.node) }
        finish(output, [])
    }

    // MARK: Checks

    private mutating func finish(_ output: TreeOutput, _ expected: [String]) {
        let reported = output.events.map { id, event -> String in
            let who = "\(id.value)"
            switch event {
            case .value(let node): return "\(who) value \(text(node))"
            case .cancelled: return "\(who) cancelled"
            case .child(let child) where child.kind == .removed:
                return "\(who) removed \(child.key) \(text(child.node))"
            case .child(let child):
                let previous = child.previousKey?.string ?? "-"
                return "\(who) \(child.kind) \(child.key) after \(previous) \(text(child.node))"
            }
        }
        check(reported == expected, "reported \(reported), not \(expected)")
        twin.note(output.listens)
        for change in output.listens {
            switch change {
            case .start(let target, let tag):
                listen(target, tag)
                if let tag { check(twin.tags[tag] == target, "a tag for a listen that is needed") }
            case .stop(let target, let tag): requests.append(.unlisten(target, tag: tag))
            }
        }
        live.apply(output.listens)
        check(
            live.targets == twin.neededListens,
            "listens \(live.targets), not \(twin.neededListens)"
        )
        disk.apply(output.stored)
    }

    private mutating func check(_ isRight: Bool, _ text: String) {
        if isRight || hasFailed { return }
        hasFailed = true
        Issue.record("seed \(seed): \(text)\n\(log.suffix(200).joined(separator: "\n"))")
    }

    private mutating func note(_ text: String) { log.append(text) }

    private func text(_ node: Node?) -> String {
        node.map { String(decoding: $0.json(), as: UTF8.self) } ?? "nothing"
    }

    // MARK: Random things

    private static let keys = ["a", "b", "c", "2", "10"]

    private mutating func someKeys(_ count: Int) -> [String] {
        (0..<count).map { _ in Self.keys[random.index(Self.keys.count)] }
    }

    private mutating func someScalar() -> PlainScalar {
        switch random.index(6) {
        case 0: .no
        case 1: .text(["x", "y"][random.index(2)])
        default: .number(random.index(4))
        }
    }

    private mutating func someNode(depth: Int) -> Plain {
        if random.index(7) == 0 { return .absent }
        var node = Plain()
        if depth == 0 || random.index(4) == 0 {
            node.scalar = someScalar()
        } else {
            for _ in 0...random.index(4) {
                let child = someNode(depth: depth - 1)
                if !child.isAbsent { node.children[someKeys(1)[0]] = child }
            }
        }
        if random.index(6) == 0, !node.isAbsent { node.priority = someScalar().asPriority }
        return node
    }

    private mutating func somePlace(depth: Int) -> PlainPlace {
        let path = someKeys(random.index(4))
        if random.index(10) == 0 {
            let priority = random.index(3) == 0 ? nil : someScalar().asPriority
            return PlainPlace(path: path, isPriority: true, value: Plain(priority))
        }
        return PlainPlace(path: path, value: someNode(depth: max(0, 3 - path.count)))
    }

    private mutating func somePlaces() -> [PlainPlace] {
        if random.index(3) != 0 { return [somePlace(depth: 2)] }
        var places: [PlainPlace] = []
        for _ in 0...random.index(3) {
            let place = somePlace(depth: 2)
            let overlaps = places.contains {
                $0.target.isAncestorOrEqual(of: place.target)
                    || place.target.isAncestorOrEqual(of: $0.target)
            }
            if !overlaps { places.append(place) }
        }
        return places
    }

    private mutating func someTarget() -> ListenTarget {
        let path = Plain.path(someKeys(random.index(3)))
        let indexes: [QuerySpec.Index] = [
            .priority, .priority, .key, .value, .child(Plain.path(["a"])),
            .child(Plain.path(["b", "c"])),
        ]
        let index = indexes[random.index(indexes.count)]
        var spec = QuerySpec(index: index)
        if random.index(2) == 0 {
            spec = QuerySpec(
                index: index,
                start: random.index(3) == 0 ? someBound(index) : nil,
                end: random.index(3) == 0 ? someBound(index) : nil,
                limit: random.index(3) == 0 ? nil : 1 + random.index(3),
                side: random.index(2) == 0 ? .first : .last,
            )
        }
        let text = spec == .everything ? nil : Array(spec.text.utf8)
        return ListenTarget(path: path, query: spec, queryText: text)
    }

    private mutating func someBound(_ index: QuerySpec.Index) -> QuerySpec.Bound {
        let isInclusive = random.index(2) == 0
        if index == .key {
            let key = Self.keys[random.index(Self.keys.count)]
            return QuerySpec.Bound(value: Node(string: key), isInclusive: isInclusive)
        }
        let value = random.index(4) == 0 ? Node.absent : Node(integer: Int64(random.index(4)))
        let key = Self.keys[random.index(Self.keys.count)]
        return QuerySpec.Bound(
            value: value,
            key: random.index(2) == 0 ? nil : .key(Array(key.utf8)),
            isInclusive: isInclusive,
        )
    }
}

extension PlainScalar {
    /// Priorities are numbers and texts.
    fileprivate var asPriority: PlainScalar { self < .number(0) ? .number(5) : self }
}

/// The listens that the server was asked for and not asked to stop.
private struct LiveListens {
    private(set) var targets: Set<ListenTarget> = []

    mutating func apply(_ changes: [ListenChange]) {
        for change in changes {
            switch change {
            case .start(let target, _):
                #expect(targets.insert(target).inserted, "listened to twice")
            case .stop(let target, _): #expect(targets.remove(target) != nil, "stopped twice")
            }
        }
    }

    mutating func revoke(_ target: ListenTarget) { targets.remove(target) }
}

extension TreeServer.Message {
    fileprivate var text: String {
        switch self {
        case .push(let places, let tag, let isMerge):
            "\(isMerge ? "merge" : "put") \(tag ?? 0) \(places.map(\.text))"
        case .answered(let target, let tag, _): "answered \(target.text) \(tag ?? 0)"
        case .revoked(let target, let tag, _): "revoked \(target.text) \(tag ?? 0)"
        case .settled(let id, let isRefused): "settled \(id.value) \(isRefused)"
        }
    }
}

extension ListenTarget {
    fileprivate var text: String { "\(path) \(query.text)" }
}

extension PlainPlace {
    fileprivate var text: String { "\(target) \(value.text)" }
}

extension Plain {
    fileprivate var text: String { String(decoding: node.json(), as: UTF8.self) }
}

extension QuerySpec {
    fileprivate var text: String {
        func text(_ bound: Bound?) -> String {
            guard let bound else { return "" }
            var key = ""
            if case .key(let bytes) = bound.key { key = String(decoding: bytes, as: UTF8.self) }
            return "\(Plain(bound.value).text),\(key),\(bound.isInclusive)"
        }
        return "by \(index) [\(text(start))..\(text(end))] \(limit ?? 0) \(side)"
    }
}
