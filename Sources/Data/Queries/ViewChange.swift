package import JSONTree

/// What became of one child for a view.
package struct ViewChange: Sendable {
    /// The child's key.
    package let key: Key
    /// The child that was in sight; absent when it entered.
    package let old: Node
    /// The child that is in sight; absent when it left.
    package let new: Node
    /// Whether the child was and is in sight and its index value is another.
    package let isMoved: Bool

    init(_ key: Key, _ old: Node, _ new: Node, _ spec: QuerySpec) {
        self.key = key
        self.old = old
        self.new = new
        isMoved = !old.isAbsent && !new.isAbsent && spec.isMoved(from: old, to: new)
    }
}

/// What observers of children are notified of, in this order.
package enum ChildEventKind: Sendable, CaseIterable {
    case removed, added, moved, changed
}

/// One event for observers of children.
package struct ChildEvent: Sendable {
    /// What happened.
    package let kind: ChildEventKind
    /// The child's key.
    package let key: Key
    /// The child before it in sight, after the step; nil for none, and for a removed child.
    package let previousKey: Key?
    /// The child; for a removed one its old value.
    package let node: Node

    /// Makes an event.
    package init(kind: ChildEventKind, key: Key, previousKey: Key?, node: Node) {
        self.kind = kind
        self.key = key
        self.previousKey = previousKey
        self.node = node
    }
}
