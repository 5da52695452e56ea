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
    /// Whether a child that changed from one node to another, neither absent, has another index
    /// value: whether observers are notified of a move. Never for `.key`.
    package func isMoved(from old: Node, to new: Node) -> Bool {
        if index == .key { return false }
        return Node.compareValues(index.value(of: old), index.value(of: new)) != 0
    }

    /// Orders two children of one node: negative, zero or positive. Zero only for equal keys.
    package func compare(_ leftKey: Bytes, _ left: Node, _ rightKey: Bytes, _ right: Node) -> Int {
        if index != .key {
            let order = Node.compareValues(index.value(of: left), index.value(of: right))
            if order != 0 { return order }
        }
        return Key.compare(leftKey, rightKey)
    }

    /// Whether a child is within the bounds. Ignores the limit.
    package func contains(key: Bytes, child: Node) -> Bool {
        if start == nil, end == nil { return true }
        return side(of: key, index.value(of: child)) == .inside
    }

    /// The positions of a child relative to the bounds.
    enum RangeSide {
        case below, inside, above
    }

    /// The position of a child with this index value relative to the bounds; below when they cross.
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
    /// `openEnd` is where a bound without a key lies among equal index values: -1 before all of them, 1 after.
    private func compare(_ key: Bytes, _ value: Node, to bound: Bound, openEnd: Int) -> Int {
        if index == .key { return compareKey(key, toText: bound.value) }
        let order = Node.compareValues(value, bound.value)
        if order != 0 { return order }
        return bound.key?.order(of: key) ?? -openEnd
    }

    /// Orders a key against the bound of a `.key` query, whose value is the key's text.
    ///
    /// The text may be a sentinel: iOS names the successor of the last possible key `[MAX_NAME]`.
    private func compareKey(_ key: Bytes, toText value: Node) -> Int {
        let order = value.withText { text in
            switch BoundKey.sentinel(text) {
            case .minimum: 1
            case .maximum: -1
            case .key, nil: Key.compare(key, text)
            }
        }
        // A bound that is not a string sorts before every key, as null and numbers do in value order.
        return order ?? 1
    }
}

extension QuerySpec.BoundKey {
    /// Orders a key against this one: negative before it, positive behind it.
    func order(of key: Bytes) -> Int {
        switch self {
        case .minimum: 1
        case .maximum: -1
        case .key(let bytes): bytes.withBytes { Key.compare(key, $0) }
        }
    }

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
