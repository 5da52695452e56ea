extension Node {
    /// This node with only the leaves of `interval`, as a range merge carries it.
    ///
    /// Two rules follow from how clients apply a range merge. A leaf with a priority at the exact start of the interval
    /// is included: clients treat its priority as a child, which is inside. A map is left out if the interval holds
    /// only its priority, since a priority without a value has no effect; see `IntervalHashes.isJoined`.
    ///
    /// O(children of the maps that the ends of the interval cut).
    package func restricted(to interval: LeafInterval) -> Node {
        restricted(after: interval.start, through: interval.end, level: 0)
    }

    /// The same for a node `level` keys down; bounds that are not nil are inside it.
    private func restricted(
        after start: WriteTarget?,
        through end: WriteTarget?,
        level: Int
    ) -> Node {
        if start == nil && end == nil { return self }
        let isStart = start?.componentCount == level
        guard isMap else { return start == nil || isStart && hasPriority ? self : .absent }
        if end?.componentCount == level { return .absent }
        let start = isStart ? nil : start
        return start.withComponent(at: level) { first in
            end.withComponent(at: level) { last in
                selecting(from: first, through: last) { key, child in
                    child.restricted(
                        after: key == first ? start : nil,
                        through: key == last ? end : nil,
                        level: level + 1
                    )
                }
            }
        }
    }

    /// A map of what `part` leaves of each child from one key to another, with the priority if the
    /// key `.priority` is between them.
    private func selecting(
        from first: Bytes?,
        through last: Bytes?,
        _ part: (Bytes, Node) -> Node
    ) -> Node {
        var result = Node.absent
        let body = { (key: Bytes, child: Node) -> Bool in
            let order = last.map { Key.compare(key, $0) } ?? -1
            if order <= 0 { result.set(part(key, child), at: Path([Key(key)])) }
            return order < 0
        }
        visitChildren(from: first, body)
        let isPriorityInside = WriteTarget.priorityKey.withBytes { key in
            (first.map { Key.compare($0, key) < 0 } ?? true)
                && (last.map { Key.compare(key, $0) <= 0 } ?? true)
        }
        return isPriorityInside ? result.settingPriority(priority) : result
    }
}

extension WriteTarget? {
    /// Passes the component at `index`, nil for no location.
    fileprivate func withComponent(at index: Int, _ body: (Bytes?) -> Node) -> Node {
        self?.withComponent(at: index) { body($0) } ?? body(nil)
    }
}
