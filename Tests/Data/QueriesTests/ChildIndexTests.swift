import TestSupport
import JSONTree
import Queries
import Testing

private func key(_ text: String) -> Key { Key(unchecked: Array(text.utf8)) }

private func keys(_ walk: ViewWalk) -> [String] {
    var walk = walk
    var keys: [String] = []
    while let next = walk.next() { keys.append(next.key.string) }
    return keys
}

/// All children in the order of an index.
private func keys(_ node: Node, _ index: ChildIndex) -> [String] {
    let children = OrderedChildren(node, index: index)
    return keys(QueryView(QuerySpec(index: index.order), children).walk(in: children))
}

@Suite("Child index")
struct ChildIndexTests {
    /// Children whose strings have their first bytes in common, and some around them.
    private static func run(of count: Int) -> (node: Node, order: [String]) {
        let prefix = String(repeating: "p", count: 600)
        var node = Node.absent
        node.set(Node(string: "p"), at: NaiveChildren.path("before"))
        node.set(Node(string: "q"), at: NaiveChildren.path("after"))
        var random = TestSeed.generator(7)
        let numbers = Array(0..<count).shuffled(using: &random)
        for (place, number) in numbers.enumerated() {
            let text = prefix + String(10_000 + number)
            node.set(Node(string: text), at: NaiveChildren.path("k\(place)"))
        }
        let places = numbers.indices.sorted { numbers[$0] < numbers[$1] }
        return (node, ["before"] + places.map { "k\($0)" } + ["after"])
    }

    @Test("children are in order however long their strings have the beginning in common")
    func longRun() {
        let (node, order) = Self.run(of: 300)
        let index = ChildIndex(.value, of: node)
        #expect(keys(node, index) == order)
        let children = OrderedChildren(node, index: index)
        for limit in [1, 2, 100, 301, 302] {
            let first = QueryView(QuerySpec(index: .value, limit: limit), children)
            #expect(keys(first.walk(in: children)) == Array(order.prefix(limit)))
            let last = QueryView(QuerySpec(index: .value, limit: limit, side: .last), children)
            #expect(keys(last.walk(in: children)) == Array(order.suffix(limit)))
        }
    }

    @Test(
        "a bound may lie among strings that have the beginning in common",
        arguments: [1, 150, 299]
    )
    func boundInRun(place: Int) {
        let (node, order) = Self.run(of: 300)
        let children = OrderedChildren(node, index: ChildIndex(.value, of: node))
        let bound = QuerySpec.Bound(value: node.child(key(order[place])))
        let from = QueryView(QuerySpec(index: .value, start: bound), children)
        #expect(keys(from.walk(in: children)) == Array(order[place...]))
        let to = QueryView(QuerySpec(index: .value, end: bound, limit: 3, side: .last), children)
        #expect(keys(to.walk(in: children)) == Array(order[...place].suffix(3)))
        let only = QueryView(QuerySpec(index: .value, start: bound, end: bound), children)
        #expect(keys(only.walk(in: children)) == [order[place]])
    }

    @Test("an index that follows differences is in the same order as one made anew")
    func follows() {
        var random = TestSeed.generator(11)
        var node = Node.absent
        var index = ChildIndex(.value, of: node)
        for _ in 0..<40 {
            let old = node
            for _ in 0..<60 {
                let path = NaiveChildren.path("k\(random.next() % 1_500)")
                let value = Int64(random.next() % 50)
                node.set(value == 0 ? .absent : Node(integer: value), at: path)
            }
            let differences = ChildDifference.all(from: old, to: node, limit: .max) ?? []
            index.apply(differences)
            #expect(index.entryCount == node.childCount)
        }
        #expect(keys(node, index) == keys(node, ChildIndex(.value, of: node)))
        index.apply(ChildDifference.all(from: node, to: .absent, limit: .max) ?? [])
        #expect(index.entryCount == 0)
    }

    @Test("a priority index holds children with a priority, until they are many")
    func sparsePriorities() {
        let limit = 10
        var node = Node.absent
        for number in 0..<100 { node.set(Node(true), at: NaiveChildren.path("\(number)")) }
        var index = ChildIndex(.priority, of: node, sparseEntryCount: limit)
        #expect(index.entryCount == 0)
        for number in 0..<limit + 1 {
            #expect(!index.wantsRebuild)
            let old = node
            node.setPriority(
                Node(integer: Int64(-number)),
                at: NaiveChildren.path("\(50 + number)")
            )
            index.apply(ChildDifference.all(from: old, to: node, limit: 1) ?? [])
            #expect(index.entryCount == number + 1)
        }
        #expect(index.wantsRebuild)
        let plain = (0..<50).map { "\($0)" } + (61..<100).map { "\($0)" }
        let order = plain + (50...60).reversed().map { "\($0)" }
        #expect(keys(node, index) == order)
        let whole = ChildIndex(.priority, of: node, sparseEntryCount: limit)
        #expect(whole.entryCount == 100)
        #expect(!whole.wantsRebuild)
        #expect(keys(node, whole) == order)
    }

    @Test("differences beyond the limit are not listed")
    func differenceLimit() {
        var node = Node.absent
        for number in 0..<30 { node.set(Node(true), at: NaiveChildren.path("\(number)")) }
        #expect(ChildDifference.all(from: .absent, to: node, limit: 29) == nil)
        #expect(ChildDifference.all(from: .absent, to: node, limit: 30)?.count == 30)
        #expect(ChildDifference.all(from: node, to: node, limit: 0)?.isEmpty == true)
        #expect(ChildDifference.all(from: Node(true), to: Node(false), limit: 0)?.isEmpty == true)
    }
}
