package import JSONTree

/// The changes of the accounts' tree, applied at once: paths with their new values, absent for removals.
package struct AccountChanges: Sendable {
    package private(set) var writes: [(path: Path, node: Node)] = []
    private var indexes: [Path: Int] = [:]

    package init() {}

    /// One write; none without a path.
    init(_ node: Node, at path: Path?) {
        if let path { set(node, at: path) }
    }

    package var isEmpty: Bool { writes.isEmpty }

    /// The value written at `path`, absent for a removal; nil without a write.
    package func node(at path: Path) -> Node? {
        indexes[path].map { writes[$0].node }
    }

    /// A later write to the same path replaces the earlier one. No path is below another.
    package mutating func set(_ node: Node, at path: Path) {
        if let index = indexes[path] {
            writes[index].node = node
        } else {
            indexes[path] = writes.count
            writes.append((path, node))
        }
    }

    /// Appends the changes of `other`.
    package mutating func add(_ other: AccountChanges) {
        for (path, node) in other.writes { set(node, at: path) }
    }

    /// The tree after them.
    package func applied(to root: Node) -> Node {
        var root = root
        for (path, node) in writes { root.set(node, at: path) }
        return root
    }
}
