package import JSONTree

/// One child that a step of a node's history changed; absent means a missing child.
package struct ChildDifference: Sendable {
    /// The child's key.
    package let key: Key
    /// The child before the step.
    package let old: Node
    /// The child after the step.
    package let new: Node

    /// Makes a difference; the two nodes are not equal.
    package init(key: Key, old: Node, new: Node) {
        self.key = key
        self.old = old
        self.new = new
    }
}

extension ChildDifference {
    /// The children that differ between two states of a node, in key order.
    ///
    /// A leaf has no children, and the nodes' own priorities are not compared. Nil when there are
    /// more than `limit`, found in about `limit` steps, besides the writes in between.
    package static func all(from old: Node, to new: Node, limit: Int) -> [ChildDifference]? {
        var differences: [ChildDifference] = []
        var isComplete = true
        Node.visitDifferences(old, new) { key, before, after in
            isComplete = differences.count < limit
            if isComplete {
                differences.append(ChildDifference(key: Key(key), old: before, new: after))
            }
            return isComplete
        }
        return isComplete ? differences : nil
    }
}
