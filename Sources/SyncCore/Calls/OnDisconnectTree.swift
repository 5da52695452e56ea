import JSONTree
import WireProtocol

/// What the server will write when the connection is lost: a sparse tree of drafts, as the server keeps it.
///
/// Invariant: `writes` is sorted by target, and no target is at or below another.
struct OnDisconnectTree {
    private(set) var writes: [(target: WriteTarget, draft: Draft)] = []

    /// Replaces what is kept at and below a place, and edits inside what is kept above it.
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
        let place = writes.firstIndex { target < $0.target } ?? writes.endIndex
        writes.insert((target, draft), at: place)
    }

    /// Forgets what is kept at and below a path; a value kept above falls into its children first.
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

    /// The write whose value holds a place without being at it.
    private func indexAbove(_ target: WriteTarget) -> Int? {
        writes.firstIndex { $0.target != target && $0.target.isAncestorOrEqual(of: target) }
    }
}
