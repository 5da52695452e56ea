import JSONTree

/// The on-disconnect writes of a session: a sparse tree of drafts.
///
/// Invariant: `writes` is sorted by target, and no target is at or below another.
struct OnDisconnectWrites: Sendable {
    private(set) var writes: [(target: WriteTarget, draft: Draft)] = []

    var isEmpty: Bool { writes.isEmpty }

    /// Stores a write: it replaces those stored at and below it, and edits one stored above.
    mutating func store(_ draft: Draft, at target: WriteTarget) {
        if let index = writes.firstIndex(where: { $0.target.isStrictlyAbove(target) }) {
            writes[index].draft.replace(target.relative(to: writes[index].target), with: draft)
            return
        }
        writes.removeAll { target.isAncestorOrEqual(of: $0.target) }
        let index = writes.firstIndex { target < $0.target } ?? writes.endIndex
        writes.insert((target, draft), at: index)
    }

    /// Removes the writes stored at and below `target`; splits a value stored above into its children so that one of
    /// them can be removed.
    ///
    /// - Returns: Whether that leaves at most `Limits.onDisconnectWrites`; if not, drop this value.
    mutating func forget(_ target: WriteTarget) -> Bool {
        while let index = writes.firstIndex(where: { $0.target.isStrictlyAbove(target) }) {
            let room = Limits.onDisconnectWrites - writes.count + 1
            if writes[index].draft.hasMoreChildren(than: room) { return false }
            let write = writes.remove(at: index)
            let children = write.draft.split()
            // A leaf cannot be split: it stays whole.
            if children.isEmpty {
                writes.insert(write, at: index)
                return true
            }
            for (key, child) in children {
                let path = write.target.path.appending(key)
                store(child, at: WriteTarget(path: path, isPriority: false))
            }
        }
        writes.removeAll { target.isAncestorOrEqual(of: $0.target) }
        return true
    }

    /// The operations that store all of these for `session`.
    func operations(of session: SessionID) -> [CommitOperation] {
        writes.map { .onDisconnect(session, $0.target, $0.draft) }
    }
}

extension WriteTarget {
    /// Whether `other` lies inside the value that this target holds, and is not the same.
    func isStrictlyAbove(_ other: WriteTarget) -> Bool {
        self != other && isAncestorOrEqual(of: other)
    }

    /// This target as seen from one at or above it.
    func relative(to base: WriteTarget) -> WriteTarget {
        WriteTarget(path: path.dropFirst(base.path.keyCount), isPriority: isPriority)
    }
}

extension Draft {
    /// Whether there are more than `count` children; found out without making them.
    func hasMoreChildren(than count: Int) -> Bool {
        if node.isMap, node.childCount > count { return true }
        var others: Set<Key> = []
        for value in serverValues where value.target.path.keyCount > 0 {
            let key = value.target.path.key(at: 0)
            if node.descendant(at: Path([key])).isAbsent { others.insert(key) }
            if others.count > count { return true }
        }
        return (node.isMap ? node.childCount : 0) + others.count > count
    }
}
