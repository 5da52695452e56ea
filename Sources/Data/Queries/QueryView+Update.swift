import JSONTree

extension QueryView {
    /// Brings the view to the state after `differences` and returns the changes of its children.
    ///
    /// `children` is that state, its index already brought there, and the differences are all there are. The changes
    /// are in key order, those that a limit displaced or brought in among them; none means that nothing in sight
    /// changed. O(log n) for each difference in sight, O(log n) in all for those that are not.
    package mutating func update(
        _ differences: OrderedDifferences,
        in children: OrderedChildren,
    ) -> [ViewChange] {
        check(children)
        let isInOrder = differences.order == spec.index || spec.loadsEverything
        precondition(isInOrder, "a view follows differences in its own order")
        let wasShown = differences.range(of: differences.old, side)
        var isShown = differences.range(of: differences.new, side)
        // Whatever comes in beyond the edge does not matter while nothing in sight changed.
        if wasShown.isEmpty && isShown.isEmpty { return [] }
        var moved: [Moved] = []
        if let limit = spec.limit {
            moved = moveEdge(count - wasShown.count + isShown.count, limit, in: children)
            isShown = differences.range(of: differences.new, side)
        }
        var changes = changes(differences, wasShown, isShown)
        for (key, old, new) in moved where differences.index(of: key) == nil {
            changes.append(ViewChange(key, old, new, spec))
        }
        if !moved.isEmpty { changes.sort { $0.key < $1.key } }
        return changes
    }

    /// The same for the differences of one view alone, in key order.
    package mutating func update(
        _ differences: [ChildDifference],
        in children: OrderedChildren,
    ) -> [ViewChange] {
        update(OrderedDifferences(differences, by: spec.index), in: children)
    }

    /// The changes of the children of `differences` that were or are in the view, in key order.
    private func changes(
        _ differences: OrderedDifferences,
        _ wasShown: Range<Int>,
        _ isShown: Range<Int>,
    ) -> [ViewChange] {
        let old = differences.old[wasShown].map(\.index).sorted()
        let new = differences.new[isShown].map(\.index).sorted()
        var changes: [ViewChange] = []
        var oldIndex = 0
        var newIndex = 0
        while oldIndex < old.count || newIndex < new.count {
            let oldDifference = oldIndex < old.count ? old[oldIndex] : .max
            let newDifference = newIndex < new.count ? new[newIndex] : .max
            let difference = differences.all[min(oldDifference, newDifference)]
            changes.append(
                ViewChange(
                    difference.key,
                    oldDifference <= newDifference ? difference.old : .absent,
                    newDifference <= oldDifference ? difference.new : .absent,
                    spec
                )
            )
            if oldDifference <= newDifference { oldIndex += 1 }
            if newDifference <= oldDifference { newIndex += 1 }
        }
        return changes
    }

    private typealias Moved = (key: Key, old: Node, new: Node)

    /// Moves the edge so that as many children as may be are in sight; returns those it passed.
    ///
    /// Among unchanged children, those in range up to the old edge are the ones that were in sight.
    private mutating func moveEdge(
        _ wouldShow: Int,
        _ limit: Int,
        in children: OrderedChildren,
    ) -> [Moved] {
        if wouldShow >= limit { return pullEdge(past: wouldShow - limit, limit, children) }
        count = wouldShow
        guard let edge else { return [] }
        return walkAway(from: edge, children, atMost: limit - count).map {
            ($0.key, .absent, $0.node)
        }
    }

    /// Moves the edge towards the kept side past `surplus` children, which it returns.
    private mutating func pullEdge(
        past surplus: Int,
        _ limit: Int,
        _ children: OrderedChildren,
    ) -> [Moved] {
        var displaced: [Moved] = []
        var newEdge: IndexPosition?
        let start = edge ?? (keepsLast ? spec.startPosition : spec.endPosition)
        visitedCount += visitRange(children, from: start, backwards: !keepsLast) { key, child in
            if displaced.count < surplus {
                displaced.append((Key(key), child, .absent))
                return true
            }
            newEdge = children.position(of: key, child)
            return false
        }
        precondition(newEdge != nil, "a full view has a child at its edge")
        edge = newEdge
        count = limit
        return displaced
    }
}
