/// A range of a node's leaves in key order: clients divide their caches into such ranges.
///
/// A leaf counts with its priority. The priority of a map counts as a leaf of its own under the key
/// `.priority`, at that key's position in key order. A path comes before those below it, so
/// children of `start` are inside and children of `end` outside.
///
/// Source: wire protocol, 6.6.
package struct LeafInterval: Hashable, Sendable {
    /// The leaf behind which the interval begins; nil for the first leaf of all.
    package let start: WriteTarget?
    /// The last leaf inside; nil for the last of all.
    package let end: WriteTarget?

    /// The interval from behind `start` to `end`, both counted from the node.
    package init(after start: WriteTarget?, through end: WriteTarget?) {
        self.start = start
        self.end = end
    }
}

/// A location in the order of leaves: `.priority` is its last component.
extension WriteTarget {
    static let priorityKey = Array(".priority".utf8)

    var componentCount: Int { path.keyCount + (isPriority ? 1 : 0) }

    func withComponent<R>(at index: Int, _ body: (Bytes) -> R) -> R {
        if index < path.keyCount { return path.withKey(at: index, body) }
        precondition(isPriority, "a component index lies within the target")
        return WriteTarget.priorityKey.withBytes(body)
    }

    /// Whether the leaf here comes before the one at `other`: component by component in key order,
    /// a location before what lies below it.
    package func precedesAsLeaf(_ other: WriteTarget) -> Bool {
        for index in 0..<min(componentCount, other.componentCount) {
            let order = withComponent(at: index) { component in
                other.withComponent(at: index) { Key.compare(component, $0) }
            }
            if order != 0 { return order < 0 }
        }
        return componentCount < other.componentCount
    }
}
