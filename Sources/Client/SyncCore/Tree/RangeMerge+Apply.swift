import JSONTree
import WireProtocol

/// The path from a location to the end of an interval; nil where the interval continues.
private typealias Way = ArraySlice<[UInt8]>

extension Node {
    /// Replaces the leaves of an interval by those of a range merge. A map's priority counts as a leaf under the key
    /// `.priority`.
    mutating func apply(_ merge: RangeMerge) {
        self = Node.replacing(
            self,
            by: merge.node,
            merge.interval.start.map(Node.way),
            merge.interval.end.map(Node.way),
        )
    }

    private static let priorityName = Array(".priority".utf8)

    private static func way(to target: WriteTarget) -> Way {
        var way = (0..<target.path.keyCount).map { target.path.key(at: $0).utf8 }
        if target.isPriority { way.append(priorityName) }
        return way[...]
    }

    /// The result for a node in the interval or at an end of it. `start` leads to where the interval starts, if that is
    /// here or below; else the node is behind it. `end` is the same of the end; else the node is before it.
    private static func replacing(_ old: Node, by new: Node, _ start: Way?, _ end: Way?) -> Node {
        if start == nil {
            guard let end else { return new }
            if new.isLeaf { return new }
            // Children of the end's location lie outside, a leaf there inside.
            if end.isEmpty { return old.isLeaf ? .absent : old }
        }
        var result = old
        var removed: [Key] = []
        var keys: [Key] = []
        for node in [old, new] {
            node.visitChildren { key, _ in
                keys.append(Key(key))
                return true
            }
        }
        for key in keys {
            guard let ends = ends(at: key.utf8, start, end) else { continue }
            let child = replacing(old.child(key), by: new.child(key), ends.start, ends.end)
            // Last, or the map could vanish in between, and its priority with it.
            if child.isAbsent { removed.append(key) } else { result.set(child, at: Path([key])) }
        }
        for key in removed { result.set(.absent, at: Path([key])) }
        guard let ends = ends(at: priorityName, start, end) else { return result }
        let priority = replacing(old.priority, by: new.priority, ends.start, ends.end)
        return result.settingPriority(priority)
    }

    /// The ends as seen from a child; nil when the child lies outside.
    private static func ends(
        at key: [UInt8],
        _ start: Way?,
        _ end: Way?,
    ) -> (start: Way?, end: Way?)? {
        var ends: (start: Way?, end: Way?)
        if let start, let first = start.first {
            let order = compare(key, first)
            if order < 0 { return nil }
            if order == 0 { ends.start = start.dropFirst() }
        }
        if let end {
            guard let first = end.first else { return nil }
            let order = compare(key, first)
            if order > 0 { return nil }
            if order == 0 { ends.end = end.dropFirst() }
        }
        return ends
    }

    private static func compare(_ a: [UInt8], _ b: [UInt8]) -> Int {
        a.withBytes { first in b.withBytes { Key.compare(first, $0) } }
    }
}
