import JSONTree
import Queries
import TestSupport
import Testing
import WireProtocol

@testable import SyncCore

@Suite("What the tree keeps on disk")
struct TreeStoreTests {
    private let script = TreeScript(isStored: true)
    private static let first = QuerySpec(limit: 1)

    private func restore(_ listens: [(String, QuerySpec, String)]) -> [String] {
        script.run { output in
            let stored = listens.map { path, spec, json in
                StoredListen(
                    target: TreeScript.target(path, spec),
                    node: TreeScript.node(json),
                    isActive: false,
                )
            }
            script.tree.restore(stored, &output)
        }
    }

    @Test("the server's data of a listen is saved whole at first, then by its children")
    func saves() {
        #expect(script.observe("a", .everything, []) == ["start /a"])
        #expect(script.put("a", #"{"b":{"c":1}}"#) == [#"save /a {"b":{"c":1}}"#, "use /a"])
        #expect(script.set("a/b", "9") == [])
        #expect(script.put("a/b/c", "2") == [#"save /a children b {"c":2}"#])
        #expect(
            script.merge("a", ["a/b": "null", "a/d/e": "3"])
                == [#"save /a children b null, d {"e":3}"#]
        )
        #expect(script.put("a/d", "null") == ["save /a null", "use /a"])
        #expect(script.stop(1) == ["stop /a", "leave /a"])
    }

    @Test("what was stored is shown at once, listened to with its hash, and corrected")
    func restored() {
        #expect(restore([("a", .everything, #"{"b":1}"#), ("q", Self.first, #"{"x":1}"#)]) == [])
        #expect(
            script.observe("a/b") == ["start /a/b", "1 value 1", "save /a/b 1", "use /a/b"]
        )
        #expect(script.observe("a", .everything, .value).contains(#"2 value {"b":1}"#))
        #expect(script.hash("a") == TreeScript.node(#"{"b":1}"#).hash())
        let target = TreeScript.target("a")
        #expect(script.tree.result(target) != nil)
        #expect(script.tree.result(target, includingCached: false) == nil)
        #expect(script.answered("a") == [])
        #expect(script.tree.result(target, includingCached: false) != nil)
        #expect(
            script.observe("q", Self.first, .value)
                == ["start /q 1", #"3 value {"x":1}"#, "use /q"]
        )
        #expect(script.put("q", #"{"y":2}"#, tag: 1).first == #"3 value {"y":2}"#)
    }

    @Test("a write that is accepted before stored data is brought up to date stays shown")
    func acceptedOverStored() {
        _ = restore([("a", .everything, #"{"b":1}"#)])
        _ = script.observe("a", .everything, .value)
        _ = script.hash("a")
        #expect(script.set("a/b", "2") == [#"1 value {"b":2}"#])
        #expect(script.accept(1) == [])
        #expect(script.put("a", #"{"b":2}"#) == [#"save /a {"b":2}"#, "use /a"])
        #expect(script.answered("a") == [])
    }

    @Test("a closed listen answers reads until there is no room for it")
    func closedListens() {
        let script = TreeScript(isStored: true, closedByteCount: 120)
        for (number, name) in ["a", "b", "c"].enumerated() {
            _ = script.observe(name, .everything, [])
            _ = script.put(name, #"{"text":"twenty bytes or more"}"#)
            let stopped = script.stop(UInt64(number + 1))
            #expect(stopped.prefix(2) == ["stop /\(name)", "leave /\(name)"])
            #expect(stopped.dropFirst(2) == (number == 2 ? ["forget /a"] : []))
        }
        #expect(script.tree.result(TreeScript.target("a")) == nil)
        #expect(script.tree.result(TreeScript.target("b/text"))?.string == "twenty bytes or more")
        #expect(script.tree.result(TreeScript.target("b"), includingCached: false) == nil)
    }

    @Test("a revoked listen is forgotten, and everything for another account")
    func forgetting() {
        _ = restore([("a", .everything, "1"), ("b", .everything, "2"), ("c", .everything, "3")])
        _ = script.observe("a", .everything, .value)
        _ = script.observe("b", .everything, .value)
        #expect(script.revoke("a") == ["1 cancelled", "forget /a"])
        #expect(script.tree.result(TreeScript.target("a")) == nil)
        #expect(script.run { script.tree.forgetAll(&$0) } == ["forget all"])
        #expect(script.tree.result(TreeScript.target("c")) == nil)
        #expect(script.answered("b") == ["save /b 2", "use /b"])
    }

    @Test("range merges make the server's node of the client's", arguments: TestSeed.seeds(400))
    func rangeMerges(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let (old, new) = (someNode(&random, 3), someNode(&random, 3))
        var ends: [WriteTarget] = []
        collectLeaves(of: old, .root, into: &ends)
        // The last leaf ends the last part: behind it the client has nothing.
        ends = ends.dropLast().filter { _ in random.index(2) == 0 } + ends.suffix(1)
        let hashes = old.intervalHashes(endingAt: ends).hashes
        let compound = CompoundHash(ends: ends, hashes: Array(hashes.prefix(ends.count)))
        switch ListenHash(old.hash(), compound: compound).compare(with: new) {
        case .same: #expect(old == new, "seed \(seed)")
        case .different: break
        case .ranges(let merges):
            var merged = old
            for merge in merges { merged.apply(merge) }
            let texts = [old, new, merged].map { TreeScript.text($0) }
            let isRight = merged == new || hidesPriority(old)
            #expect(isRight, "seed \(seed): old, new and merged \(texts), ends \(ends)")
        }
    }

    /// Whether a map has a priority and nothing but children that come before it: the last part ends with a leaf, so no
    /// hash covers that priority, and the server cannot tell that it has gone.
    private func hidesPriority(_ node: Node) -> Bool {
        if node.isLeaf || node.isAbsent { return false }
        var isHidden = false
        var isLast = true
        node.visitChildren { key, child in
            isHidden = isHidden || hidesPriority(child)
            isLast = isLast && Key(key).utf8 == Array("5".utf8)
            return true
        }
        return isHidden || (isLast && !node.priority.isAbsent)
    }

    private func collectLeaves(of node: Node, _ path: Path, into leaves: inout [WriteTarget]) {
        if node.isLeaf { leaves.append(WriteTarget(path: path)) }
        node.visitChildren { key, child in
            collectLeaves(of: child, path.appending(Key(key)), into: &leaves)
            return true
        }
    }

    private static let keys = ["a", "b", "5"]

    private func someNode(_ random: inout SeededGenerator, _ depth: Int) -> Node {
        var node = Node.absent
        if depth == 0 || random.index(4) == 0 {
            node = Node(integer: Int64(random.index(3)))
        } else {
            for key in Self.keys where random.index(2) == 0 {
                node.set(someNode(&random, depth - 1), at: Plain.path([key]))
            }
        }
        return random.index(5) == 0 ? node.settingPriority(Node(integer: 7)) : node
    }
}
