import JSONTree
import Queries
import Testing
import WireProtocol

@testable import SyncCore

/// How much is done for one change, counted, which does not grow with what is beside it.
@Suite("Work of the tree")
struct TreeWorkTests {
    private static func list(_ count: Int) -> Node {
        var node = Node.absent
        for number in 0..<count {
            let value = TreeScript.node(#"{"name":"child","number":\#(number)}"#)
            node.set(value, at: path(number))
        }
        return node
    }

    private static func path(_ number: Int) -> Path { Plain.path(["k\(100_000 + number)"]) }

    private static func target(_ number: Int, _ rest: String...) -> WriteTarget {
        WriteTarget(path: Plain.path(["list"]).appending(path(number)).appending(Plain.path(rest)))
    }

    private func observe(_ tree: SyncTree, _ id: UInt64, _ target: ListenTarget) -> TreeOutput {
        let kinds: ObservedKinds = [.childAdded, .childChanged, .childRemoved]
        var output = TreeOutput()
        tree.add(Observer(id: ObserverID(id), target: target, kinds: kinds), &output)
        return output
    }

    @Test("a push among 10,000 observers of other paths brings one view up to date")
    func manyObservers() {
        let tree = SyncTree(isStored: false)
        for number in 0..<10_000 {
            let target = ListenTarget(path: Self.target(number).path)
            #expect(observe(tree, UInt64(number), target).listens.count == 1)
        }
        let before = tree.refreshedCount
        var output = TreeOutput()
        tree.apply(Self.target(5_000), TreeScript.node(#"{"a":1}"#), tag: nil, &output)
        #expect(tree.refreshedCount == before + 1)
        #expect(output.events.count == 1)
    }

    @Test("a push into a list of 10,000 children compares one of them", arguments: [nil, 50])
    func pushIntoList(limit: Int?) {
        let tree = SyncTree(isStored: false)
        let plain = ListenTarget(path: Plain.path(["list"]))
        _ = observe(tree, 1, plain)
        if let limit {
            let spec = QuerySpec(index: .child(Plain.path(["number"])), limit: limit, side: .last)
            _ = observe(tree, 2, ListenTarget(path: plain.path, query: spec, queryText: [1]))
        }
        var output = TreeOutput()
        tree.apply(WriteTarget(path: plain.path), Self.list(10_000), tag: nil, &output)
        #expect(output.events.count == 10_000 + (limit ?? 0))
        let views = tree.root.point(at: plain.path)?.views ?? []
        let compared = views.map(\.comparedCount)
        output = TreeOutput()
        for number in 0..<100 {
            let target = Self.target(number * 100, "name")
            tree.apply(target, Node(integer: 1), tag: nil, &output)
        }
        #expect(zip(views, compared).allSatisfy { $0.comparedCount - $1 == 100 })
        #expect(output.events.count >= 100)
    }

    @Test(
        "a write above 10,000 pending ones, and each of them when accepted, looks at a few places"
    )
    func manyWrites() {
        let tree = SyncTree(isStored: false)
        _ = observe(tree, 1, ListenTarget(path: Plain.path(["list"])))
        var output = TreeOutput()
        var most = 0
        func measured(_ step: () -> Void) {
            let before = tree.writes.visitedCount
            step()
            most = max(most, tree.writes.visitedCount - before)
        }
        for number in 0..<10_000 {
            // Half of them to children of their own, half to one and the same.
            let target = number % 2 == 0 ? Self.target(number) : Self.target(1, "x")
            let write = [LocatedNode(target: target, node: Node(integer: Int64(number)))]
            measured { tree.write(WriteID(Int64(number)), write, isVisible: true, &output) }
        }
        #expect(output.events.count == 5_000)
        for number in 0..<10_000 {
            measured { tree.settle(WriteID(Int64(number)), isRefused: false, &output) }
        }
        #expect(most <= 32)
        #expect(output.events.count == 5_000)
        #expect(tree.writes.isEmpty)
    }
}
