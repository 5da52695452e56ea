import JSONTree
import Queries

/// Posts under one list, ordered by a number, a text or a priority, and views that follow them.
func benchQueries(_ figures: Figures) {
    QueriesBench(figures).run(childCount: 1_000_000)
}

private struct QueriesBench {
    private let figures: Figures
    private let score = QuerySpec.Index.child(Path([Key(unchecked: Array("score".utf8))]))
    private let name = QuerySpec.Index.child(Path([Key(unchecked: Array("name".utf8))]))

    init(_ figures: Figures) { self.figures = figures }

    func run(childCount: Int) {
        var random = Draws()
        var generator = PushIDGenerator(seed: 1)
        var list = Node.absent
        var keys: [Key] = []
        for number in 0..<childCount {
            let time = Timestamp(milliseconds: Int64(1_712_000_000_000 + number * 37))
            let key = generator.next(now: time)
            keys.append(key)
            list.set(random.post(), at: Path([key]))
        }
        let before = Figures.residentByteCount()
        let byScore = build("a number", score, list)
        figures.report(
            "resident memory that building it leaves",
            Double(Figures.residentByteCount() - before) / Double(childCount),
            "bytes/child"
        )
        let byName = build("a text", name, list)
        _ = build("priority, of none", .priority, list)
        measureReads(list, byScore, byName)
        measureCommits(list, byScore, keys, &random)
    }

    private func build(_ words: String, _ order: QuerySpec.Index, _ list: Node) -> ChildIndex {
        var index = ChildIndex(.value, of: .absent)
        let start = Figures.threadTime()
        index = ChildIndex(order, of: list)
        let words = "index \(list.childCount) children by \(words)"
        figures.report(words, (Figures.threadTime() - start) / 1e6, "ms")
        return index
    }

    private func measureReads(_ list: Node, _ byScore: ChildIndex, _ byName: ChildIndex) {
        let scores = OrderedChildren(list, index: byScore)
        let names = OrderedChildren(list, index: byName)
        var total = 0
        func read(_ words: String, _ spec: QuerySpec, _ children: OrderedChildren) {
            figures.measure(words, count: 100) {
                for _ in 0..<100 {
                    total += QueryView(spec, children).result(in: children).childCount
                }
            }
        }
        let high = QuerySpec.Bound(value: Node(integer: 900_000), isInclusive: false)
        let one = QuerySpec.Bound(value: Node(string: "name 4711"))
        read("first 50", QuerySpec(index: score, limit: 50), scores)
        read("last 50", QuerySpec(index: score, limit: 50, side: .last), scores)
        let page = QuerySpec(index: score, end: high, limit: 50, side: .last)
        read("a page of 50 before a value", page, scores)
        read("equal to a text", QuerySpec(index: name, start: one, end: one), names)
        figures.report("children read", Double(total), "children")
    }

    /// 1,000 different views, of which few see a commit of one child.
    private func views(_ children: OrderedChildren, _ random: inout Draws) -> [QueryView] {
        (0..<1_000).map { number in
            let limit = 1 + number % 50
            let bound = QuerySpec.Bound(value: Node(integer: Int64(random.below(1_000_000))))
            let spec =
                switch number % 3 {
                case 0: QuerySpec(index: score, start: bound, limit: limit)
                case 1: QuerySpec(index: score, end: bound, limit: limit, side: .last)
                default: QuerySpec(index: score, start: bound, end: bound)
                }
            return QueryView(spec, children)
        }
    }

    private func measureCommits(
        _ list: Node,
        _ index: ChildIndex,
        _ keys: [Key],
        _ random: inout Draws,
    ) {
        var list = list
        var index = index
        var views = views(OrderedChildren(list, index: index), &random)
        for (commitCount, childCount) in [(500, 1), (5, 10_000)] {
            var changeCount = 0
            var indexTime = 0.0
            var viewTime = 0.0
            for _ in 0..<commitCount {
                let old = list
                for _ in 0..<childCount {
                    list.set(random.post(), at: Path([keys[random.below(keys.count)]]))
                }
                let start = Figures.threadTime()
                let differences = ChildDifference.all(from: old, to: list, limit: .max) ?? []
                index.apply(differences)
                let indexed = Figures.threadTime()
                let children = OrderedChildren(list, index: index)
                let ordered = OrderedDifferences(differences, by: score)
                for place in views.indices {
                    changeCount += views[place].update(ordered, in: children).count
                }
                indexTime += indexed - start
                viewTime += Figures.threadTime() - indexed
            }
            let words = "a commit of \(childCount) children"
            let count = Double(commitCount)
            figures.report("follow \(words) in the index", indexTime / count / 1e6, "ms")
            figures.report("\(words) under 1000 distinct views", viewTime / count / 1e6, "ms")
            figures.report("children notified of \(words)", Double(changeCount) / count, "children")
        }
    }
}

/// Draws numbers for the bench; the same ones in every run.
private struct Draws {
    private var state: UInt64 = 88_172_645_463_325_252

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }

    mutating func post() -> Node {
        let score = below(1_000_000)
        let name = below(100_000)
        let text = #"{"score":\#(score),"name":"name \#(name)","text":"forty bytes of text or so"}"#
        return (try? Node(json: Array(text.utf8))) ?? .absent
    }
}
