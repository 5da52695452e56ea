import JSONTree

/// A position in the order of a node's children: at a child, or before or after all of one index value.
///
/// Outlives the child it was made of. In key order the value is absent and only the key counts.
struct IndexPosition: Sendable {
    /// The index value. Of a map only that it is one, since all maps are equal in value order.
    let value: Node

    /// Where it is among the children with that index value.
    let key: QuerySpec.BoundKey

    init(value: Node, key: QuerySpec.BoundKey) {
        self.value = value.isMap ? Self.someMap : value.detached()
        self.key = key
    }

    /// The position of a child with this key and index value.
    init(value: Node, key: Bytes) {
        self.init(value: value, key: .key(key.array))
    }

    private static let someMap = {
        var map = Node.absent
        map.set(Node(true), at: Path([Key(unchecked: [0x61])]))
        return map
    }()

    /// Orders the child with this key and index value against the position.
    func compare(_ otherKey: Bytes, _ otherValue: Node) -> Int {
        let order = Node.compareValues(otherValue, value)
        return order != 0 ? order : key.order(of: otherKey)
    }
}

extension QuerySpec {
    /// The lower end of the range; nil for no lower end.
    var startPosition: IndexPosition? { start.map { position(of: $0, keyless: .minimum) } }

    /// The upper end of the range; nil for no upper end.
    var endPosition: IndexPosition? { end.map { position(of: $0, keyless: .maximum) } }

    private func position(of bound: Bound, keyless: BoundKey) -> IndexPosition {
        guard index == .key else {
            return IndexPosition(value: bound.value, key: bound.key ?? keyless)
        }
        let key = bound.value.withText { BoundKey(wireText: $0.array) }
        // A bound that is not a string sorts before every key, as null and numbers do in value order.
        return IndexPosition(value: .absent, key: key ?? .minimum)
    }
}
