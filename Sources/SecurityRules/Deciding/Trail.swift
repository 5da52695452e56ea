import JSONTree

/// The path that is being judged: that of the request or entry, and while the nodes that a write
/// carries are validated, the keys below it.
struct Trail {
    let target: Path
    var below: [Key] = []

    init(target: Path) {
        self.target = target
    }

    var keyCount: Int { target.keyCount + below.count }

    /// The first `depth` keys.
    func path(_ depth: Int) -> Path {
        if depth <= target.keyCount { return target.prefix(depth) }
        return target.appending(Path(Array(below[..<(depth - target.keyCount)])))
    }

    /// All keys.
    var path: Path { below.isEmpty ? target : target.appending(Path(below)) }

    /// Lends the key at an index.
    func withKey<R>(at index: Int, _ body: (Bytes) -> R) -> R {
        if index < target.keyCount { return target.withKey(at: index, body) }
        return below[index - target.keyCount].withBytes(body)
    }

    /// The key at an index as a value of rules.
    func value(ofKey index: Int) -> Value {
        index < target.keyCount
            ? .key(target, index) : .text(below[index - target.keyCount].utf8)
    }

    /// Makes `nodes[i]` the node under the first i keys, for all i up to `depth`.
    func resolve(_ nodes: inout [Node], _ root: Node, _ depth: Int) {
        if nodes.isEmpty {
            nodes.reserveCapacity(keyCount + 1)
            nodes.append(root)
        }
        while nodes.count <= depth {
            let parent = nodes[nodes.count - 1]
            nodes.append(
                parent.isAbsent
                    ? .absent : withKey(at: nodes.count - 1) { parent.child($0) }
            )
        }
    }
}
