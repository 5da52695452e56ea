import JSONTree

/// The new node at one location, by a write or a push.
struct LocatedNode {
    /// The location, counted from the root.
    let target: WriteTarget
    /// The new node; for a priority, the priority.
    let node: Node

    /// Whether this replaces the whole node at a path of `keyCount` keys that leads to or through the location.
    func covers(keyCount: Int) -> Bool { !target.isPriority && target.path.keyCount <= keyCount }
}

extension [LocatedNode] {
    /// In the order in which single writes have the effect of one change.
    var inWriteOrder: [LocatedNode] {
        if count < 2 { return self }
        return WritePhase.allCases.flatMap { phase in
            filter { WritePhase(writing: $0.node, at: $0.target) == phase }
        }
    }
}

/// The parts of a node that a step has touched.
enum Touch {
    /// Any of it.
    case everything
    /// These locations at or below it, none of them the whole.
    case locations([WriteTarget])
}

extension Touch {
    /// The parts of the node at `path` that locations touch; all locations concern that node.
    init(_ locations: [LocatedNode], of path: Path) {
        if locations.contains(where: { $0.covers(keyCount: path.keyCount) }) {
            self = .everything
        } else {
            self = .locations(locations.map(\.target))
        }
    }
}
