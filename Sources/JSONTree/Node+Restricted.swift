extension Node {
    /// This node with the leaves of `interval` alone: what a range merge carries.
    ///
    /// Two things follow from how clients apply one. A leaf with a priority at the interval's very
    /// start goes along, since they take its priority for a child, which would be inside. A map of
    /// which the interval holds the priority alone is left out, since a priority without a value
    /// says nothing; see `IntervalHashes.isJoined`.
    ///
    /// O(children of the maps that the ends of the interval cut).
    package func restricted(to interval: LeafInterval) -> Node {
        restricted(after: interval.start, through: interval.end, level: 0)
    }

    /// The same for a node `level` keys down, in which lies each bound that is not nil.
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
        return Node.withComponents(of: start, end, at: level) { first, last in
            selecting(from: first, through: last) { key, child in
                child.restricted(
                    after: key == first ? start : nil,
                    through: key == last ? end : nil,
                    level: level + 1
                )
            }
        }
    }

    /// A map of what `part` leaves of each child from one key to another, with the priority if the
    /// key `.priority` lies behind the one and not behind the other.
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
        if let first { visitChildren(from: first, body) } else { visitChildren(body) }
        let isPriorityInside = WriteTarget.priorityKey.withBytes { key in
            (first.map { Key.compare($0, key) < 0 } ?? true)
                && (last.map { Key.compare(key, $0) <= 0 } ?? true)
        }
        return isPriorityInside ? result.settingPriority(priority) : result
    }

    /// Lends the components at `index` of two places, nil for a place that is nil.
    private static func withComponents(
        of a: WriteTarget?,
        _ b: WriteTarget?,
        at index: Int,
        _ body: (Bytes?, Bytes?) -> Node
    ) -> Node {
        guard let a else {
            guard let b else { return body(nil, nil) }
            return b.withComponent(at: index) { body(nil, $0) }
        }
        return a.withComponent(at: index) { component in
            guard let b else { return body(component, nil) }
            return b.withComponent(at: index) { body(component, $0) }
        }
    }
}
