import TestSupport
import JSONTree
import Queries
import Testing

/// What a history must show: views, events, walks and indexes equal recomputing everything.
@Suite("Random histories")
struct QueryHistoryTests {
    /// 480 histories of 44 commits under 5 queries: 105,600 steps.
    static let historyCount = 480
    static let batches = 24
    static let commitCount = 44
    static let queryCount = 5

    @Test("views, events, walks and indexes equal the naive twin", arguments: 0..<batches)
    func histories(batch: Int) {
        let count = Self.historyCount / Self.batches
        for seed in TestSeed.seeds(count, from: UInt64(batch * count)) {
            var history = History(seed: seed)
            for step in 0..<Self.commitCount {
                if let fault = history.step() {
                    Issue.record("seed \(seed) step \(step): \(fault)")
                    return
                }
            }
        }
    }
}

/// One node, and queries followed on it.
private struct History {
    private var chance: Chance
    private var pair = Pair()
    private var followed: [Followed] = []

    init(seed: UInt64) {
        chance = Chance(seed: seed)
        for _ in 0..<6 { pair.step(&chance) }
        for _ in 0..<QueryHistoryTests.queryCount {
            let sparseEntryCount = chance.pick([0, 2, 4_096])
            followed.append(Followed(chance.spec(), pair, sparseEntryCount: sparseEntryCount))
        }
    }

    /// Makes a commit; returns what is wrong after it.
    mutating func step() -> String? {
        let old = pair
        pair.step(&chance)
        let differences = ChildDifference.all(from: old.node, to: pair.node, limit: .max) ?? []
        if let fault = Self.fault(differences, old, pair) { return fault }
        let startsOver = chance.isLucky(1, of: 20)
        for place in followed.indices {
            let fault =
                startsOver
                ? followed[place].startOver(pair) : followed[place].follow(differences, pair)
            if let fault { return "\(fault) for \(followed[place].spec)" }
        }
        return nil
    }

    /// Differences are the children that differ, no more and no fewer, in key order.
    private static func fault(_ differences: [ChildDifference], _ old: Pair, _ new: Pair) -> String?
    {
        var expected: Set<String> = []
        for place in Set(old.naive.children.keys).union(new.naive.children.keys) {
            let nodes = (old.naive.children[place]?.node, new.naive.children[place]?.node)
            if nodes.0 ?? .absent != nodes.1 ?? .absent { expected.insert(NaiveOrder.keys[place]) }
        }
        let keys = differences.map(\.key)
        if Set(keys.map(\.string)) != expected || keys.count != expected.count {
            return "differences \(keys) and not \(expected)"
        }
        return keys == keys.sorted() ? nil : "differences out of order"
    }
}

/// One query followed on a node.
private struct Followed {
    let spec: QuerySpec
    private let query: NaiveQuery
    private let everyChild: NaiveQuery
    private var index: ChildIndex?
    private let sparseEntryCount: Int
    private var view: QueryView
    /// The children that a client knows to be in sight.
    private var client: [Key: Node]
    private var selected: [Int]
    private var naive: NaiveChildren
    private var stepCount = 0

    init(_ spec: QuerySpec, _ pair: Pair, sparseEntryCount: Int) {
        self.spec = spec
        query = NaiveQuery(spec)
        everyChild = NaiveQuery(QuerySpec(index: spec.index))
        self.sparseEntryCount = sparseEntryCount
        if spec.index != .key {
            index = ChildIndex(spec.index, of: pair.node, sparseEntryCount: sparseEntryCount)
        }
        view = QueryView(spec, OrderedChildren(pair.node, index: index))
        naive = pair.naive
        selected = naive.selected(query)
        client = [:]
        for place in selected { client[Self.key(place)] = naive.children[place]?.node }
    }

    private static func key(_ place: Int) -> Key {
        Key(unchecked: Array(NaiveOrder.keys[place].utf8))
    }

    mutating func startOver(_ pair: Pair) -> String? {
        if spec.index != .key {
            index = ChildIndex(spec.index, of: pair.node, sparseEntryCount: sparseEntryCount)
        }
        let children = OrderedChildren(pair.node, index: index)
        view.reset(to: children)
        naive = pair.naive
        selected = naive.selected(query)
        client = [:]
        for place in selected { client[Self.key(place)] = naive.children[place]?.node }
        return walkFault(children) ?? resultFault(children)
    }

    mutating func follow(_ differences: [ChildDifference], _ pair: Pair) -> String? {
        index?.apply(differences)
        if let index, spec.index != .priority, index.entryCount != pair.naive.children.count {
            return "\(index.entryCount) entries"
        }
        let children = OrderedChildren(pair.node, index: index)
        let visitedCount = view.visitedCount
        let changes = view.update(differences, in: children)
        // Besides, a sparse index steps over the children that it holds.
        let allowance = spec.index == .priority ? Chance.keyLimit : 0
        if view.visitedCount - visitedCount > differences.count + 3 + allowance {
            return "\(view.visitedCount - visitedCount) looked at for \(differences.count)"
        }
        let before = (selected: selected, naive: naive)
        naive = pair.naive
        selected = naive.selected(query)
        let events = view.events(of: changes, in: children)
        let fault = changeFault(changes) ?? eventFault(events, before.selected, before.naive)
        stepCount += 1
        // The longer checks take turns, so that there is time for more steps.
        switch stepCount % 5 {
        case _ where fault != nil: return fault
        case 0: return walkFault(children)
        case 1: return resultFault(children)
        case 2: return wholeFault(children)
        default: return nil
        }
    }

    /// A client that receives the changes has what is selected, and receives nothing that it has.
    private mutating func changeFault(_ changes: [ViewChange]) -> String? {
        if changes.map(\.key) != changes.map(\.key).sorted() { return "changes out of order" }
        if Set(changes.map(\.key)).count != changes.count { return "a child changes twice" }
        for change in changes {
            if client[change.key] ?? .absent != change.old { return "old \(change.key) is wrong" }
            if change.old == change.new { return "\(change.key) has not changed" }
            client[change.key] = change.new.isAbsent ? nil : change.new
        }
        if client.count != selected.count {
            return "\(client.count) children, not \(selected.count)"
        }
        for place in selected where client[Self.key(place)] != naive.children[place]?.node {
            return "child \(NaiveOrder.keys[place]) is not as it should be"
        }
        return nil
    }

    private func walkFault(_ children: OrderedChildren) -> String? {
        Self.fault(view.walk(in: children), selected, naive)
    }

    private static func fault(
        _ walk: ViewWalk,
        _ expected: [Int],
        _ naive: NaiveChildren,
    ) -> String? {
        var walk = walk
        var previous: Key?
        for place in expected {
            guard let next = walk.next() else {
                return "a walk ends before \(NaiveOrder.keys[place])"
            }
            if next.key != key(place) { return "a walk comes to \(next.key), not \(key(place))" }
            if next.previousKey != previous {
                return "a walk names the wrong key before \(next.key)"
            }
            if next.node != naive.children[place]?.node { return "a walk hands out a wrong child" }
            previous = next.key
        }
        return walk.next().map { "a walk goes on to \($0.key)" }
    }

    private func resultFault(_ children: OrderedChildren) -> String? {
        let result = view.result(in: children)
        if view.spec.loadsEverything {
            return result == children.node ? nil : "the result is not the node itself"
        }
        if result.childCount != selected.count { return "the result has \(result.childCount)" }
        if !result.priority.isAbsent { return "the result has a priority" }
        for place in selected where result.child(Self.key(place)) != naive.children[place]?.node {
            return "the result has a wrong child \(NaiveOrder.keys[place])"
        }
        return nil
    }

    private func eventFault(
        _ events: [ChildEvent],
        _ oldSelected: [Int],
        _ oldNaive: NaiveChildren,
    ) -> String? {
        let expected = expectedEvents(oldSelected, oldNaive)
        let words = events.map { event in
            let previous = event.previousKey.map { "after \($0)" } ?? "first"
            return "\(event.kind) \(event.key) \(previous)"
        }
        if words != expected { return "events \(words), not \(expected)" }
        for event in events {
            let place = NaiveOrder.keys.indices.first { Self.key($0) == event.key }
            let children = event.kind == .removed ? oldNaive.children : naive.children
            if place.flatMap({ children[$0]?.node }) != event.node { return "an event's child" }
        }
        return nil
    }

    private func expectedEvents(_ oldSelected: [Int], _ oldNaive: NaiveChildren) -> [String] {
        var words = oldSelected.filter { !selected.contains($0) }
            .map { "removed \(NaiveOrder.keys[$0]) first" }
        func add(_ kind: String, _ isWanted: (Int) -> Bool) {
            for (number, place) in selected.enumerated() where isWanted(place) {
                let previous =
                    number > 0 ? "after \(NaiveOrder.keys[selected[number - 1]])" : "first"
                words.append("\(kind) \(NaiveOrder.keys[place]) \(previous)")
            }
        }
        add("added") { !oldSelected.contains($0) }
        let stayed = Set(oldSelected)
        add("moved") { place in
            guard stayed.contains(place) else { return false }
            let ranks = [oldNaive, naive].map { $0.children[place]?.rank(spec.index) }
            return ranks[0] != ranks[1]
        }
        add("changed") { place in
            guard stayed.contains(place) else { return false }
            return oldNaive.children[place]?.node != naive.children[place]?.node
        }
        return words
    }

    /// The index holds every child in its place, those out of sight too.
    private mutating func wholeFault(_ children: OrderedChildren) -> String? {
        guard let index else { return nil }
        let walk = QueryView(everyChild.spec, children).walk(in: children)
        if let fault = Self.fault(walk, naive.selected(everyChild), naive) {
            return "in the index, \(fault)"
        }
        if index.wantsRebuild {
            self.index = ChildIndex(
                spec.index,
                of: children.node,
                sparseEntryCount: sparseEntryCount
            )
        }
        return nil
    }
}
