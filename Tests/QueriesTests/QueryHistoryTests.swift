import JSONTree
import Queries
import Testing

/// Random children and queries over few keys and values, so that ties and bounds are hit often.
private struct Chance {
    var random: SplitMix

    static let keys = [
        "1", "01", "2", "10", "-5", "a", "a-", "b", "é", "\u{1F600}", "\u{FF5E}", "z",
    ]
    static let texts = ["", "10", "9", "a", "\u{1F600}", "\u{FF5E}"]

    mutating func pick<T>(_ items: [T]) -> T { items[Int(random.next() % UInt64(items.count))] }

    mutating func below(_ bound: UInt64) -> UInt64 { random.next() % bound }

    mutating func leaf() -> NaiveChildren.Value {
        switch below(3) {
        case 0: .boolean(below(2) == 0)
        case 1: .number(Int(below(5)) - 2)
        default: .string(pick(Self.texts))
        }
    }

    mutating func child() -> NaiveChildren.Child {
        var value = leaf()
        if below(2) == 0 {
            value = .map(["n": leaf(), "m": below(2) == 0 ? leaf() : .map(["n": leaf()])])
        }
        let priority: NaiveChildren.Value? =
            switch below(4) {
            case 0: .number(Int(below(3)))
            case 1: .string(pick(Self.texts))
            default: nil
            }
        return NaiveChildren.Child(value: value, priority: priority)
    }

    mutating func spec() -> QuerySpec {
        let n = Key(unchecked: Array("n".utf8))
        let m = Key(unchecked: Array("m".utf8))
        let index = pick(
            [.key, .value, .priority, .child(Path([n])), .child(Path([m, n]))] as [QuerySpec.Index]
        )
        let start = below(2) == 0 ? bound(index) : nil
        let end = below(2) == 0 ? bound(index) : nil
        let limit = below(3) > 0 ? Int(below(5)) + 1 : nil
        return QuerySpec(
            index: index,
            start: start,
            end: end,
            limit: limit,
            side: pick([.first, .last])
        )
    }

    mutating func bound(_ index: QuerySpec.Index) -> QuerySpec.Bound {
        let isInclusive = below(2) == 0
        let texts = Self.keys + ["[MIN_NAME]", "[MAX_NAME]", "a ", "a\u{FFFF}"]
        if index == .key {
            return QuerySpec.Bound(value: Node(string: pick(texts)), isInclusive: isInclusive)
        }
        let key: QuerySpec.BoundKey? =
            below(2) == 0 ? nil : QuerySpec.BoundKey(wireText: Array(pick(texts).utf8))
        let value = below(5) == 0 ? Node.absent : NaiveChildren.node(leaf())
        return QuerySpec.Bound(value: value, key: key, isInclusive: isInclusive)
    }
}

/// A tree node and its twin.
private struct Pair {
    var node = Node.absent
    var naive = NaiveChildren()

    mutating func set(_ child: NaiveChildren.Child?, _ key: String) {
        naive.children[key] = child
        node.set(child.map(NaiveChildren.node) ?? .absent, at: NaiveChildren.path(key))
    }

    mutating func step(_ chance: inout Chance) {
        switch chance.below(20) {
        case 0:
            self = Pair()
        case 1:
            self = Pair()
            node = Node(integer: 7)
        case 2:
            self = Pair()
            for _ in 0..<chance.below(8) { set(chance.child(), chance.pick(Chance.keys)) }
        case 3:
            for _ in 0..<5 { set(chance.child(), chance.pick(Chance.keys)) }
        case 4...8:
            if !naive.children.isEmpty { set(nil, chance.pick(Chance.keys)) }
        default:
            set(chance.child(), chance.pick(Chance.keys))
        }
    }
}

@Test("a view equals filtering everything anew, over random histories", arguments: 1...24)
func history(seed: UInt64) {
    var chance = Chance(random: SplitMix(state: seed))
    var pair = Pair()
    for _ in 0..<6 { pair.step(&chance) }
    let specs = (0..<12).map { _ in chance.spec() }
    var views = specs.map { QueryView($0, node: pair.node) }
    var clients = specs.map { pair.node.filtered(by: $0) }
    for step in 0..<60 {
        let old = pair
        pair.step(&chance)
        for index in views.indices {
            let spec = specs[index]
            let before = clients[index]
            let change = views[index].update(old: old.node, new: pair.node)
            apply(change, to: &clients[index])
            let expected = pair.naive.filtered(spec)
            let place = "seed \(seed) step \(step) query \(spec)"
            #expect(clients[index] == expected, "\(place)")
            #expect(views[index].result(in: pair.node) == expected, "\(place)")
            #expect(pair.node.filtered(by: spec) == expected, "\(place)")
            checkEconomy(change, before, place)
        }
    }
}

/// Nothing is reported that the client already has, and nothing twice.
private func checkEconomy(_ change: QueryChange, _ before: Node, _ place: String) {
    guard case .children(let children) = change else { return }
    #expect(!children.isEmpty, "\(place)")
    #expect(Set(children.map(\.key)).count == children.count, "\(place)")
    for child in children {
        #expect(before.child(child.key) != child.node, "\(place) key \(child.key)")
    }
}
