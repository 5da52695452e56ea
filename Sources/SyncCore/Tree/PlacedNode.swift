import JSONTree

/// What a write or a push says of one place.
struct PlacedNode {
    /// The place, counted from the root.
    let target: WriteTarget
    /// What is there from now on; of a priority, the priority.
    let node: Node

    /// Whether all of a node at a path of so many keys, on the way to which the place lies or ends,
    /// is said.
    func covers(keyCount: Int) -> Bool { !target.isPriority && target.path.keyCount <= keyCount }
}

extension [PlacedNode] {
    /// In an order in which, written one by one, they act as one change.
    var inTurn: [PlacedNode] {
        if count < 2 { return self }
        return WriteTurn.allCases.flatMap { turn in
            filter { WriteTurn(writing: $0.node, at: $0.target) == turn }
        }
    }
}

/// What of a node a step has touched.
enum Touch {
    /// Any of it.
    case everything
    /// These places at or below it, none of which is the whole.
    case places([WriteTarget])
}

extension Touch {
    /// What places, all of which concern the node at `path`, touch of it.
    init(_ places: [PlacedNode], of path: Path) {
        if places.contains(where: { $0.covers(keyCount: path.keyCount) }) {
            self = .everything
        } else {
            self = .places(places.map(\.target))
        }
    }
}
