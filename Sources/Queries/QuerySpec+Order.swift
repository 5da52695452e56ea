package import JSONTree

extension QuerySpec.Index {
    /// The value that orders `child` before its key does; absent for `.key`.
    func value(of child: Node) -> Node {
        switch self {
        case .key: .absent
        case .value: child
        case .priority: child.priority
        case .child(let path): child.descendant(at: path)
        }
    }
}

extension QuerySpec {
    /// The value that orders `child` before its key does; absent when the index is `.key`.
    func indexValue(of child: Node) -> Node { index.value(of: child) }

    /// Whether a child that changed from one node to another, neither absent, has another index
    /// value: whether observers are told that it moved. Never for `.key`.
    package func isMoved(from old: Node, to new: Node) -> Bool {
        if index == .key { return false }
        return Node.compareValues(indexValue(of: old), indexValue(of: new)) != 0
    }

    /// Orders two children of one node: negative, zero or positive. Zero only for equal keys.
    package func compare(
        _ leftKey: Bytes,
        _ left: Node,
        _ rightKey: Bytes,
        _ right: Node,
    ) -> Int {
        compare(leftKey, indexValue: indexValue(of: left), rightKey, indexValue(of: right))
    }

    /// Orders two children by their keys and index values.
    func compare(
        _ leftKey: Bytes,
        indexValue left: Node,
        _ rightKey: Bytes,
        _ right: Node,
    ) -> Int {
        if index != .key {
            // Priorities are absent, numbers or strings, which value order ranks as priority order.
            let order = Node.compareValues(left, right)
            if order != 0 { return order }
        }
        return Key.compare(leftKey, rightKey)
    }

    /// Whether a child lies within the bounds. The limit is not looked at.
    package func contains(key: Bytes, child: Node) -> Bool {
        if start == nil, end == nil { return true }
        return contains(key: key, indexValue: indexValue(of: child))
    }

    /// Whether a child with this index value lies within the bounds.
    func contains(key: Bytes, indexValue value: Node) -> Bool { side(of: key, value) == .inside }

    /// Where a child may lie in respect of the bounds.
    enum RangeSide {
        case below, inside, above
    }

    /// Where a child with this index value lies in respect of the bounds; below when they cross.
    func side(of key: Bytes, _ value: Node) -> RangeSide {
        if let start {
            let order = compare(key, value, to: start, openEnd: -1)
            guard order > 0 || (order == 0 && start.isInclusive) else { return .below }
        }
        if let end {
            let order = compare(key, value, to: end, openEnd: 1)
            guard order < 0 || (order == 0 && end.isInclusive) else { return .above }
        }
        return .inside
    }

    /// Orders the child with this key and index value against a bound.
    ///
    /// `openEnd` is where a bound without a key lies among equal index values: -1 before all of them,
    /// 1 after.
    private func compare(
        _ key: Bytes,
        _ value: Node,
        to bound: Bound,
        openEnd: Int,
    ) -> Int {
        if index == .key { return compare(key, toText: bound.value) }
        let order = Node.compareValues(value, bound.value)
        if order != 0 { return order }
        guard let boundKey = bound.key else { return -openEnd }
        return compare(key, to: boundKey)
    }

    private func compare(_ key: Bytes, to bound: BoundKey) -> Int {
        switch bound {
        case .minimum: 1
        case .maximum: -1
        case .key(let bytes): bytes.withBytes { Key.compare(key, $0) }
        }
    }

    /// Orders a key against the bound of a `.key` query, whose value is the key's text.
    ///
    /// The text may be a sentinel: iOS names the successor of the last possible key `[MAX_NAME]`.
    private func compare(_ key: Bytes, toText value: Node) -> Int {
        let order = value.withText { text in
            switch BoundKey.sentinel(text) {
            case .minimum: 1
            case .maximum: -1
            case .key, nil: Key.compare(key, text)
            }
        }
        // A bound that is no string sorts before every key, as null and numbers do in value order.
        return order ?? 1
    }
}

extension QuerySpec.BoundKey {
    /// Reads the key of a bound as clients send it, `[MIN_NAME]` and `[MAX_NAME]` included.
    package init(wireText text: [UInt8]) {
        self = text.withBytes { Self.sentinel($0) } ?? .key(text)
    }

    /// The sentinel that a text names; brackets are illegal in real keys, so nothing is taken away.
    static func sentinel(_ text: Bytes) -> Self? {
        guard text.count == minimumText.count else { return nil }
        if text.elementsEqual(minimumText) { return .minimum }
        return text.elementsEqual(maximumText) ? .maximum : nil
    }

    private static let minimumText = Array("[MIN_NAME]".utf8)
    private static let maximumText = Array("[MAX_NAME]".utf8)
}
