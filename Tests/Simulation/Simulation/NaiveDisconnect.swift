/// The on-disconnect writes of one session, in no order: none covers another.
package struct NaiveDisconnect: Sendable {
    package var identity: SimulatedIdentity
    package private(set) var writes: [NaiveWrite] = []

    package init(identity: SimulatedIdentity) {
        self.identity = identity
    }

    /// Replaces what is stored at and below, and edits inside what is stored above.
    mutating func store(_ write: NaiveWrite) {
        if let index = indexStrictlyAbove(write.target) {
            let depth = writes[index].target.path.count
            let inside = NaiveTarget(
                path: Array(write.target.path.dropFirst(depth)),
                isPriority: write.target.isPriority
            )
            writes[index].node.write(NaiveWrite(target: inside, node: write.node))
            return
        }
        writes.removeAll { write.target.covers($0.target) }
        writes.append(write)
    }

    /// Forgets what is stored at and below; a map stored above falls into its children first, a leaf
    /// there stays whole.
    mutating func forget(_ target: NaiveTarget) {
        if let index = indexStrictlyAbove(target) {
            if writes[index].node.children.isEmpty { return }
            let split = writes.remove(at: index)
            for (key, child) in split.node.children {
                let place = NaiveTarget(path: split.target.path + [key])
                store(NaiveWrite(target: place, node: child))
            }
            forget(target)
            return
        }
        writes.removeAll { target.covers($0.target) }
    }

    private func indexStrictlyAbove(_ target: NaiveTarget) -> Int? {
        writes.firstIndex { $0.target != target && $0.target.covers(target) }
    }
}
