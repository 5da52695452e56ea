import JSONTree
import WireProtocol

/// The server's writes for a lost connection: a sparse tree of drafts, as the server keeps it. Invariant: `writes` is
/// sorted by target, and no target is at or below another.
struct OnDisconnectTree {
    private(set) var writes: [(target: WriteTarget, draft: Draft)] = []

    /// Replaces the writes at and below a location, and edits the value of a write above it.
    mutating func remember(_ draft: Draft, at target: WriteTarget) {
        if let index = indexAbove(target) {
            let below = target.path.dropFirst(writes[index].target.path.keyCount)
            writes[index].draft.replace(
                WriteTarget(path: below, isPriority: target.isPriority),
                with: draft
            )
            return
        }
        writes.removeAll { target.isAncestorOrEqual(of: $0.target) }
        let location = writes.firstIndex { target < $0.target } ?? writes.endIndex
        writes.insert((target, draft), at: location)
    }

    /// Removes the writes at and below a path; a write above it is first split into its children.
    mutating func forget(_ path: Path) {
        let target = WriteTarget(path: path)
        while let index = indexAbove(target) {
            let children = writes[index].draft.split()
            // A leaf stays whole.
            if children.isEmpty { return }
            let above = writes.remove(at: index).target.path
            for child in children {
                remember(child.draft, at: WriteTarget(path: above.appending(child.key)))
            }
        }
        writes.removeAll { target.isAncestorOrEqual(of: $0.target) }
    }

    /// The write above a location, whose value contains it.
    private func indexAbove(_ target: WriteTarget) -> Int? {
        writes.firstIndex { $0.target != target && $0.target.isAncestorOrEqual(of: target) }
    }
}
