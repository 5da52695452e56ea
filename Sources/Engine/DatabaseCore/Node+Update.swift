import JSONTree

extension Node {
    /// One path of a merge, counted from where the merge begins, and the value there now.
    typealias UpdateEntry = (target: WriteTarget, node: Node)

    /// The entries of a merge that makes `new` of a node that is `self`, in whichever order they are applied: no map on
    /// the way is ever empty, which would cost it its priority, and clients the rest of it.
    ///
    /// None when they are equal. Nil when they have no child in common, when there are more than
    /// `limit` entries or when one of them is large. O(writes in between), not O(size).
    func update(to new: Node, limit: Int) -> [UpdateEntry]? {
        if isAbsent && new.isAbsent { return [] }
        guard isMap && new.isMap else { return nil }
        var entries: [UpdateEntry] = []
        switch appendUpdate(to: new, at: .root, limit: limit, &entries) {
        case .complete: return entries
        case .nothingInCommon, .tooMuch: return nil
        }
    }

    private enum UpdateOutcome {
        case complete, nothingInCommon, tooMuch
    }

    /// Both nodes are maps.
    private func appendUpdate(
        to new: Node,
        at path: Path,
        limit: Int,
        _ entries: inout [UpdateEntry]
    ) -> UpdateOutcome {
        if priority != new.priority {
            entries.append((WriteTarget(path: path, isPriority: true), new.priority))
        }
        var removedCount = 0
        var isComplete = entries.count <= limit
        Node.visitDifferences(self, new) { key, before, after in
            if after.isAbsent { removedCount += 1 }
            let path = path.appending(Key(key))
            isComplete = isComplete && Node.appendChange(before, after, path, limit, &entries)
            return isComplete
        }
        if !isComplete { return .tooMuch }
        return removedCount == childCount ? .nothingInCommon : .complete
    }

    /// Whether the change of one child is small enough to be sent.
    private static func appendChange(
        _ before: Node,
        _ after: Node,
        _ path: Path,
        _ limit: Int,
        _ entries: inout [UpdateEntry]
    ) -> Bool {
        let entryCount = entries.count
        if before.isMap && after.isMap {
            switch before.appendUpdate(to: after, at: path, limit: limit, &entries) {
            case .complete: return true
            case .tooMuch: return false
            case .nothingInCommon: entries.removeSubrange(entryCount...)
            }
        }
        entries.append((WriteTarget(path: path), after))
        return entries.count <= limit && !after.isLarge(from: Limits.nodesEncodedAtOnce)
    }
}
