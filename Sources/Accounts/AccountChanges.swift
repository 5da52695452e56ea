package import JSONTree

/// What becomes of the accounts' tree, all at once: paths with their new values, absent for what is removed.
package struct AccountChanges: Sendable {
    package private(set) var writes: [(path: Path, node: Node)] = []
    private var places: [Path: Int] = [:]

    package init() {}

    package var isEmpty: Bool { writes.isEmpty }

    /// What is written at `path`, absent for what is removed; nil when nothing is.
    package func node(at path: Path) -> Node? {
        places[path].map { writes[$0].node }
    }

    /// A later write to the same place stands for the earlier one. No place lies below another.
    package mutating func set(_ node: Node, at path: Path) {
        if let place = places[path] {
            writes[place].node = node
        } else {
            places[path] = writes.count
            writes.append((path, node))
        }
    }

    /// Adds what `other` does, after what is here.
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
