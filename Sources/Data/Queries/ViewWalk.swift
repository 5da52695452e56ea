package import JSONTree

/// A walk over all children in sight of a view in index order, which can rest between any two.
///
/// Holds the state of the node and of the view it began with, whatever becomes of them.
package struct ViewWalk: Sendable {
    private let view: QueryView
    private let children: OrderedChildren
    /// Children found and not handed out yet, the next one last.
    private var found: [(key: Key, node: Node)] = []
    /// The position of the last child found; nil before the first.
    private var position: IndexPosition?
    private var isAtEnd = false
    private var previousKey: Key?

    /// Children found at a time, except that a run is found as a whole.
    private static let batchCount = 64

    fileprivate init(_ view: QueryView, _ children: OrderedChildren) {
        self.view = view
        self.children = children
    }

    /// The next child, and the key of the one before it; nil at the end. O(log n).
    package mutating func next() -> (key: Key, previousKey: Key?, node: Node)? {
        if found.isEmpty && !isAtEnd { findMore() }
        guard let (key, node) = found.popLast() else { return nil }
        defer { previousKey = key }
        return (key, previousKey, node)
    }

    private mutating func findMore() {
        var batch: [(key: Key, node: Node)] = []
        let start = position
        let order = children.order
        isAtEnd = true
        var isFull = false
        view.visit(children, from: start) { key, child in
            let value = order.value(of: child)
            if let start, start.compare(key, value) == 0 { return true }
            if batch.count >= Self.batchCount, !SortText.isCut(value) {
                isFull = true
                return false
            }
            batch.append((Key(key), child))
            return true
        }
        isAtEnd = !isFull
        if isFull, let last = batch.last {
            position = last.key.withBytes { children.position(of: $0, last.node) }
        }
        found = batch.reversed()
    }
}

extension QueryView {
    /// Begins a walk over all children in sight, in index order.
    package func walk(in children: OrderedChildren) -> ViewWalk {
        check(children)
        return ViewWalk(self, children)
    }
}
