@testable import DatabaseCore
import JSONTree
import Queries
import TestSupport
import Testing

/// Numbers that a seed gives; the same ones in every run.
private struct Draws {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }

    mutating func path(depth: ClosedRange<Int>) throws -> Path {
        let count = depth.lowerBound + below(depth.count)
        return Path(try (0..<count).map { _ in try Key("k\(below(4))") })
    }

    /// A small tree, a leaf or nothing, in two of three cases with a priority.
    mutating func value() throws -> Node {
        var node = Node.absent
        for _ in 0..<below(4) {
            node.set(Node(integer: Int64(below(5))), at: try path(depth: 0...2))
        }
        return below(3) == 0 ? node : node.settingPriority(Node(integer: Int64(below(2))))
    }
}

@Suite("what a commit did to a watched node")
struct NodeStepTests {
    @Test(
        "the paths of a commit tell the children that comparing both states finds",
        arguments: TestSeed.seeds(20)
    )
    func keysTell(seed: UInt64) throws {
        var draws = Draws(state: seed)
        var root = Node.absent
        for step in 0..<200 {
            let old = root
            var changes: [Change] = []
            for _ in 0...draws.below(4) {
                let isPriority = draws.below(4) == 0
                let path = try draws.path(depth: 1...4)
                let target = WriteTarget(path: path, isPriority: isPriority)
                // As in any update, no path covers another.
                let isApart = changes.allSatisfy {
                    !$0.target.isAncestorOrEqual(of: target)
                        && !target.isAncestorOrEqual(of: $0.target)
                }
                if !isApart { continue }
                let before = old.descendant(at: path)
                let new = isPriority ? Node(integer: Int64(draws.below(3))) : try draws.value()
                let was = isPriority ? before.priority : before
                changes.append(Change(target: target, old: was, new: new))
            }
            for change in changes[...].inOrderOfApplication {
                if change.target.isPriority {
                    root.setPriority(change.new, at: change.target.path)
                } else {
                    root.set(change.new, at: change.target.path)
                }
            }
            let differing = changes.filter { change in
                let node = root.descendant(at: change.target.path)
                return change.old != (change.target.isPriority ? node.priority : node)
            }
            if differing.isEmpty { continue }
            let round = EventRound(differing, base: .root, old: old, new: root)
            for path in [Path.root, try draws.path(depth: 1...3), try draws.path(depth: 1...3)] {
                let before = old.descendant(at: path)
                let after = root.descendant(at: path)
                let made = NodeStep(old: before, new: after, keys: round.keysChanged(below: path))
                let found = NodeStep(old: before, new: after, keys: nil)
                #expect(
                    made.differences.map(texts) == found.differences.map(texts),
                    "seed \(seed), step \(step), \(path)"
                )
            }
        }
    }

    private func texts(_ differences: [ChildDifference]) -> [String] {
        differences.map { difference in
            let states = [difference.old, difference.new].map {
                String(decoding: $0.json(.export), as: UTF8.self)
            }
            return "\(difference.key): \(states)"
        }
    }
}
