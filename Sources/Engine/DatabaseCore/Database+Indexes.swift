import JSONTree
import Queries
import SecurityRules

/// Indexes: made on first use, updated by commits, dropped when idle.
extension Database {
    /// The state of an index that a query needs.
    enum IndexState {
        case ready(KeptIndex)
        /// It is made elsewhere; the request waits.
        case mustWait
        /// There are too many already.
        case refused
    }

    /// The index of a need, made now if that is short.
    func index(_ need: IndexNeed, now: Timestamp) -> IndexState {
        if let kept = indexes[need] {
            kept.lastUsed = now
            return kept.ready == nil ? .mustWait : .ready(kept)
        }
        let node = root.descendant(at: need.path)
        guard let kept = keepIndex(need, of: node, now: now) else { return .refused }
        if node.childCount > bounds.childrenIndexedAtOnce { return .mustWait }
        kept.ready = ChildIndex(need.order, of: node)
        return .ready(kept)
    }

    /// Whether the rules declare an index, or the order needs none.
    func isIndexed(_ order: QuerySpec.Index, at path: Path) -> Bool {
        switch order {
        case .key, .priority: true
        case .value, .child: rules.indexes(at: path).contains(order)
        }
    }

    /// Makes room for an index; nil when undeclared ones have grown too large in all.
    private func keepIndex(_ need: IndexNeed, of node: Node, now: Timestamp) -> KeptIndex? {
        let isDeclared = isIndexed(need.order, at: need.path)
        if !isDeclared {
            let beside = watched[need.path]?.indexes.count { !$0.isDeclared } ?? 0
            if beside >= Limits.undeclaredIndexesPerNode { return nil }
            let entryCount = undeclaredEntryCount + node.childCount
            if entryCount > Limits.undeclaredIndexEntries { return nil }
        }
        let kept = KeptIndex(need, in: self, isDeclared: isDeclared, now: now)
        indexes[need] = kept
        watch(need.path).add(kept)
        countEntries(of: kept, node.childCount)
        return kept
    }

    /// Keeps the sum of entries of undeclared indexes in step with the children of one's node.
    func countEntries(of kept: KeptIndex, _ childCount: Int) {
        if kept.isDeclared { return }
        undeclaredEntryCount += childCount - kept.countedEntries
        kept.countedEntries = childCount
    }

    /// Brings an index that was made of a snapshot up to the present.
    ///
    /// - Returns: work to do elsewhere first, because much was written meanwhile; nil when the index is ready.
    func bringUpToDate(_ built: ChildIndex, for kept: KeptIndex) -> LongWork? {
        guard let snapshot = kept.snapshot else { return nil }
        let node = root.descendant(at: kept.need.path)
        let isLast = kept.followCount >= Limits.indexFollows
        let limit = isLast ? Int.max : Limits.differencesFollowedAtOnce
        guard snapshot.isMap, node.isMap else {
            kept.ready = ChildIndex(kept.need.order, of: node)
            kept.snapshot = nil
            return nil
        }
        guard let differences = ChildDifference.all(from: snapshot, to: node, limit: limit) else {
            kept.followCount += 1
            kept.snapshot = node
            return .follow(built, from: snapshot, to: node)
        }
        var index = built
        index.apply(differences)
        kept.ready = index
        kept.snapshot = nil
        return nil
    }

    /// Drops an index that nothing walks if it is short to build; others go when time passes.
    func dropIfIdle(_ kept: KeptIndex) {
        guard kept.isIdle else { return }
        let node = root.descendant(at: kept.need.path)
        if node.childCount <= bounds.childrenIndexedAtOnce { drop(kept) }
    }

    /// Drops indexes that were not used for a while, and those that the rules no longer declare.
    func dropIdleIndexes(now: Timestamp) {
        for kept in indexes.values where kept.isIdle {
            let isWanted = kept.isDeclared && isIndexed(kept.need.order, at: kept.need.path)
            let age = now.milliseconds - kept.lastUsed.milliseconds
            if !isWanted || age > Limits.idleIndexMilliseconds { drop(kept) }
        }
    }

    /// Drops an index, unless that has been done already.
    func drop(_ kept: KeptIndex) {
        guard indexes[kept.need] === kept else { return }
        indexes[kept.need] = nil
        countEntries(of: kept, 0)
        guard let watchedNode = watched[kept.need.path] else { return }
        watchedNode.remove(kept)
        forgetIfUnused(watchedNode)
    }

    // MARK: - Watched nodes

    /// The watched node at a path, made if there is none.
    func watch(_ path: Path) -> WatchedNode {
        if let found = watched[path] { return found }
        let made = WatchedNode(path: path)
        watched.edit(path) { $0 = made }
        return made
    }

    func forgetIfUnused(_ node: WatchedNode) {
        if node.isUnused { watched.edit(node.path) { $0 = nil } }
    }
}
