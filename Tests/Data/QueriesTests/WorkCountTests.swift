import TestSupport
import JSONTree
import Queries
import Testing

/// How many children views look at, which does not grow with the list.
@Suite("Work of views")
struct WorkCountTests {
    private static let childCount = 100_000

    /// Children `k100000` and up, each with its number times a prime, modulo the count, as its value.
    private static func list() -> Node {
        var text = Array("{".utf8)
        for number in 0..<childCount {
            text.append(contentsOf: "\"k\(100_000 + number)\":\(value(number)),".utf8)
        }
        text[text.count - 1] = UInt8(ascii: "}")
        return (try? Node(json: text)) ?? .absent
    }

    private static func value(_ number: Int) -> Int { number * 7_919 % childCount }

    private static func path(_ number: Int) -> Path { NaiveChildren.path("k\(100_000 + number)") }

    private static let specs: [QuerySpec] = {
        let middle = QuerySpec.Bound(value: Node(integer: 50_000))
        let middleKey = QuerySpec.Bound(value: Node(string: "k150000"))
        return [
            QuerySpec(index: .value, limit: 50),
            QuerySpec(index: .value, limit: 50, side: .last),
            QuerySpec(index: .value, start: middle, limit: 50),
            QuerySpec(index: .value, end: middle, limit: 50, side: .last),
            QuerySpec(index: .value, start: middle, limit: 50, side: .last),
            QuerySpec(index: .key, limit: 50),
            QuerySpec(index: .key, end: middleKey, limit: 50, side: .last),
        ]
    }()

    @Test("a commit under a limited view of 100,000 children looks at four at most")
    func commits() {
        var list = Self.list()
        var index = ChildIndex(.value, of: list)
        #expect(list.childCount == Self.childCount)
        var views = Self.specs.map { spec in
            QueryView(spec, OrderedChildren(list, index: spec.index == .key ? nil : index))
        }
        for view in views { #expect(view.visitedCount <= 51) }
        var random = TestSeed.generator(3)
        var changeCount = 0
        for step in 0..<400 {
            let old = list
            // Every third commit takes away or puts in a child near an end, the bound or the middle.
            let near = [0, 50_000, 99_990][step % 3]
            let number =
                step % 3 == 0
                ? Int(random.next() % UInt64(Self.childCount))
                : near + Int(random.next() % 10)
            let value = near + Int(random.next() % 60) - 30
            list.set(
                step % 4 == 3 ? .absent : Node(integer: Int64(value)),
                at: Self.path(number)
            )
            let differences = ChildDifference.all(from: old, to: list, limit: 10) ?? []
            index.apply(differences)
            for place in views.indices {
                let children = OrderedChildren(
                    list,
                    index: Self.specs[place].index == .key ? nil : index
                )
                let before = views[place].visitedCount
                let changes = views[place].update(differences, in: children)
                changeCount += changes.count
                let visited = views[place].visitedCount - before
                #expect(visited <= 4, "step \(step): \(visited) under \(Self.specs[place])")
                #expect(changes.count <= 2)
            }
        }
        #expect(changeCount > 400)
    }
}
