package import JSONTree

/// The children of one node that a query selects, followed through the node's history.
///
/// It keeps no keys: without a limit a child is in sight or not by its own position, and with a limit all that lie
/// between the range's kept side and the edge are. So a commit costs by what it changes, whatever the limit.
///
/// Every function that takes children takes them in the order of the query, of the state that the view was last brought
/// to. For a query that loads everything any order will do; walks and events are then in that order.
package struct QueryView: Sendable {
    /// The query.
    package let spec: QuerySpec

    /// The child in sight that is farthest from the kept side; nil while fewer than the limit are.
    ///
    /// When nil, all children in range are in sight.
    var edge: IndexPosition?

    /// How many children are in sight; 0 and unused without a limit.
    var count = 0

    /// How many children, beside those that changed, were looked at so far to keep the view in step.
    package internal(set) var visitedCount = 0

    /// Makes the view of these children. O(limit + log n); O(1) without a limit.
    package init(_ spec: QuerySpec, _ children: OrderedChildren) {
        self.spec = spec
        reset(to: children)
    }

    /// Brings the view to a state that has little in common with the last. O(limit + log n).
    package mutating func reset(to children: OrderedChildren) {
        check(children)
        guard let limit = spec.limit else { return }
        edge = nil
        count = 0
        if spec.start == nil, spec.end == nil, children.node.childCount < limit {
            count = children.node.childCount
            return
        }
        walkAway(from: nil, children, atMost: limit)
    }

    /// The map of the children in sight, each with its priority; never the node's own priority.
    ///
    /// A query that loads everything selects nothing: its result is the node itself, a leaf too, with its priority.
    /// O(1) for such a query, else O(log n) for each child in the view.
    package func result(in children: OrderedChildren) -> Node {
        if spec.loadsEverything { return children.node }
        var result = Node.absent
        visit(children) { key, child in
            result.set(child, at: Path([Key(key)]))
            return true
        }
        return result
    }

    /// What a query leaves of these children; nil when that is more than `limit` of them.
    ///
    /// O(log n) for each child that is looked at, which are about `limit` at most.
    package static func result(
        of spec: QuerySpec,
        in children: OrderedChildren,
        atMost limit: Int
    ) -> Node? {
        if spec.loadsEverything { return children.node }
        // One more says that there are more.
        let few = QuerySpec(
            index: spec.index,
            start: spec.start,
            end: spec.end,
            limit: min(spec.limit ?? .max, limit + 1),
            side: spec.side
        )
        let view = QueryView(few, children)
        return view.count > limit ? nil : view.result(in: children)
    }

    func check(_ children: OrderedChildren) {
        if spec.loadsEverything { return }
        precondition(children.order == spec.index, "a view walks its children in its own order")
    }
}

// MARK: Walking

extension QueryView {
    /// Whether `last` is the kept side: walking away from it is walking backwards.
    var keepsLast: Bool { spec.side == .last }

    /// The position of a child with this key and index value relative to the view.
    func side(_ key: Bytes, _ value: Node) -> QuerySpec.RangeSide {
        let side = spec.side(of: key, value)
        guard side == .inside, let edge else { return side }
        let order = edge.compare(key, value)
        if keepsLast { return order < 0 ? .below : .inside }
        return order > 0 ? .above : .inside
    }

    /// Hands the children in sight to `body` in order until it returns false.
    ///
    /// Starts at the child at `position`, which was in sight, or at the next one.
    func visit(
        _ children: OrderedChildren,
        from position: IndexPosition? = nil,
        _ body: (Bytes, Node) -> Bool,
    ) {
        let start = position ?? (keepsLast ? edge ?? spec.startPosition : spec.startPosition)
        children.visit(from: start) { key, child in
            switch side(key, spec.index.value(of: child)) {
            case .inside: body(key, child)
            // An exclusive bound leaves out the child at which the visit begins.
            case .below: true
            case .above: false
            }
        }
    }

    /// Hands the children of the range to `body`, in sight or not, until it returns false.
    ///
    /// The position lies within the range or at the end where the visit begins. Returns how many
    /// children were looked at.
    @discardableResult
    func visitRange(
        _ children: OrderedChildren,
        from position: IndexPosition?,
        backwards: Bool,
        _ body: (Bytes, Node) -> Bool,
    ) -> Int {
        children.visit(from: position, backwards: backwards) { key, child in
            switch spec.side(of: key, spec.index.value(of: child)) {
            case .inside: body(key, child)
            case .below: !backwards
            case .above: backwards
            }
        }
    }

    /// Takes more children into sight, from beyond `position` or from the kept side on, and sets
    /// the edge; returns them.
    @discardableResult
    mutating func walkAway(
        from position: IndexPosition?,
        _ children: OrderedChildren,
        atMost wanted: Int,
    ) -> [(key: Key, node: Node)] {
        var found: [(key: Key, node: Node)] = []
        let start = position ?? (keepsLast ? spec.endPosition : spec.startPosition)
        visitedCount += visitRange(children, from: start, backwards: keepsLast) { key, child in
            if let position, position.compare(key, spec.index.value(of: child)) == 0 { return true }
            found.append((Key(key), child))
            return found.count < wanted
        }
        count += found.count
        edge = nil
        if count == spec.limit, let last = found.last {
            edge = last.key.withBytes { children.position(of: $0, last.node) }
        }
        return found
    }
}
