import TestSupport
import JSONTree
import Queries

/// Random children and queries over few keys and leaves, so that ties and bounds are hit often.
struct Chance {
    var random: SeededGenerator
    /// Keys that one history has at most.
    static let keyLimit = 22

    /// The keys and leaves that are drawn from, anew for each history.
    let keyPlaces: [Int]
    let leafPlaces: [Int]

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let keyCount = Int.random(in: 3...Self.keyLimit, using: &random)
        keyPlaces = Array(NaiveOrder.keys.indices.shuffled(using: &random).prefix(keyCount))
        let leafCount = 2 + Int(random.next() % 20)
        leafPlaces = (0..<leafCount).map { _ in
            Int(random.next() % UInt64(NaiveOrder.leaves.count))
        }
        self.random = random
    }

    mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

    mutating func isLucky(_ times: Int, of all: Int) -> Bool { below(all) < times }

    mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }

    mutating func key() -> Int { pick(keyPlaces) }

    mutating func child() -> NaiveChildren.Child {
        var child = NaiveChildren.Child()
        if isLucky(1, of: 2) {
            child.leaf = pick(leafPlaces)
        } else {
            if isLucky(3, of: 4) { child.n = pick(leafPlaces) }
            if isLucky(1, of: 2) { child.mn = pick(leafPlaces) }
        }
        if isLucky(1, of: 2) { child.priority = priority() }
        return child.built()
    }

    private mutating func priority() -> Int? {
        let place = pick(leafPlaces)
        return NaiveOrder.leaves[place].boolean == nil ? place : pick(NaiveOrder.priorities)
    }

    /// Changes one thing about a child.
    mutating func edit(_ child: NaiveChildren.Child) -> NaiveChildren.Child {
        var child = child
        switch below(4) {
        case 0: child.priority = isLucky(1, of: 3) ? nil : priority()
        case 1 where child.leaf == nil: child.n = pick(leafPlaces)
        case 2 where child.leaf == nil: child.mn = isLucky(1, of: 3) ? nil : pick(leafPlaces)
        default:
            if child.leaf != nil { child.leaf = pick(leafPlaces) } else { child.x += 1 }
        }
        return child.built()
    }

    mutating func spec() -> QuerySpec {
        let n = NaiveChildren.path("n")
        let m = NaiveChildren.path("m")
        let index = pick(
            [.key, .value, .priority, .child(n), .child(m.appending(n))] as [QuerySpec.Index]
        )
        var start = isLucky(1, of: 2) ? bound(index) : nil
        var end = isLucky(1, of: 2) ? bound(index) : nil
        if isLucky(1, of: 8) {
            // Equal to a value, as clients say it.
            start?.isInclusive = true
            end = start
        }
        if isLucky(1, of: 12) { (start, end) = (nil, nil) }
        let limit = isLucky(2, of: 3) ? (isLucky(1, of: 9) ? .max : 1 + below(5)) : nil
        return QuerySpec(
            index: index,
            start: start,
            end: end,
            limit: limit,
            side: pick([.first, .last])
        )
    }

    private mutating func bound(_ index: QuerySpec.Index) -> QuerySpec.Bound {
        let isInclusive = isLucky(1, of: 2)
        // Mostly of keys that are there at times.
        let texts =
            isLucky(2, of: 3)
            ? keyPlaces.map { NaiveOrder.keys[$0] }
            : NaiveOrder.boundKeys + ["[MIN_NAME]", "[MAX_NAME]"]
        if index == .key {
            return QuerySpec.Bound(value: Node(string: pick(texts)), isInclusive: isInclusive)
        }
        let key: QuerySpec.BoundKey? =
            isLucky(1, of: 2) ? nil : QuerySpec.BoundKey(wireText: Array(pick(texts).utf8))
        let value = isLucky(1, of: 6) ? Node.absent : NaiveOrder.leaves[pick(leafPlaces)]
        return QuerySpec.Bound(value: value, key: key, isInclusive: isInclusive)
    }
}

/// A tree node and its twin.
struct Pair {
    var node = Node.absent
    var naive = NaiveChildren()

    mutating func set(_ child: NaiveChildren.Child?, _ place: Int) {
        naive.children[place] = child
        node.set(child?.node ?? .absent, at: NaiveChildren.path(NaiveOrder.keys[place]))
    }

    mutating func step(_ chance: inout Chance) {
        switch chance.below(24) {
        case 0: self = Pair()
        case 1:
            self = Pair()
            node = Node(integer: 7)
        case 2:
            self = Pair()
            for _ in 0..<chance.below(12) { set(chance.child(), chance.key()) }
        case 3:
            for _ in 0..<8 { set(chance.isLucky(1, of: 4) ? nil : chance.child(), chance.key()) }
        case 4: node = node.settingPriority(Node(integer: Int64(chance.below(3))))
        case 5...8: set(nil, chance.key())
        case 9...15:
            let from = chance.key()
            guard let place = naive.children.keys.sorted().first(where: { $0 >= from }) else {
                return
            }
            if let child = naive.children[place] { set(chance.edit(child), place) }
        default: set(chance.child(), chance.key())
        }
    }
}
