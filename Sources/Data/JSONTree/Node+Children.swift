extension Node {
    /// The child under `key`; absent when there is none.
    package func child(_ key: Key) -> Node { key.withBytes { child($0) } }

    /// The child under the key of these bytes; absent when there is none.
    package func child(_ key: Bytes) -> Node {
        withExtendedLifetime(self) { BorrowedNode(self).child(key).node }
    }

    /// The node at `path` below this one; absent when there is none.
    package func descendant(at path: Path) -> Node {
        if path.isRoot { return self }
        return withExtendedLifetime(self) {
            path.withKeys { keys in
                var node = BorrowedNode(self)
                for index in 0..<keys.count {
                    if node.isAbsent { break }
                    node = node.child(keys[index])
                }
                return node.node
            }
        }
    }

    /// The key of the child that has so many others before it in key order; nil when there are fewer. O(log n).
    package func key(at index: Int) -> Key? {
        guard index >= 0, index < childCount else { return nil }
        return withBody { Node.key(at: index, $0, $1) }
    }

    private static func key(at index: Int, _ block: Block, _ pointer: BytePointer) -> Key {
        let entries = Entries(pointer)
        if pointer[0] == TypeByte.map { return Key(entries.key(index)) }
        var left = index
        for place in 0..<entries.count {
            let below = block.withReference(place) { $0.childCount }
            if left < below { return block.withReference(place) { key(at: left, $0, $0.start) } }
            left -= below
        }
        preconditionFailure("a branch counts the children below it")
    }

    /// Hands the children to `body` in key order, or backwards, until it returns false.
    ///
    /// Starts at `key`, or at the nearest one in the direction of the visit. The bytes are borrowed for
    /// the call alone. O(log n) to start, then O(1) a child.
    package func visitChildren(
        from key: Key? = nil,
        backwards: Bool = false,
        _ body: (Bytes, Node) -> Bool
    ) {
        guard let key else {
            return visitChildren(from: Bytes?.none, backwards: backwards, body)
        }
        key.withBytes { visitChildren(from: $0, backwards: backwards, body) }
    }

    /// The same, from bytes that need not be a legal key; nil for all children.
    package func visitChildren(
        from key: Bytes?,
        backwards: Bool = false,
        _ body: (Bytes, Node) -> Bool
    ) {
        _ = withBody { block, pointer in Node.visit(block, pointer, key, backwards, body) }
    }

    private static func visit(
        _ block: Block,
        _ pointer: BytePointer,
        _ key: Bytes?,
        _ backwards: Bool,
        _ body: (Bytes, Node) -> Bool
    ) -> Bool {
        if pointer[0] != TypeByte.map && pointer[0] != TypeByte.branch { return true }
        let entries = Entries(pointer)
        let isBranch = pointer[0] == TypeByte.branch
        var index = backwards ? entries.count - 1 : 0
        if let key {
            let (found, isThere) = entries.search(key)
            if isBranch {
                index = isThere ? found : max(0, found - 1)
            } else {
                index = backwards && !isThere ? found - 1 : found
            }
        }
        var key = key
        while index >= 0 && index < entries.count {
            if isBranch {
                let goesOn = block.withReference(index) {
                    visit($0, $0.start, key, backwards, body)
                }
                if !goesOn { return false }
                key = nil
            } else if !body(entries.key(index), Node(block, entries.value(index))) {
                return false
            }
            index += backwards ? -1 : 1
        }
        return true
    }
}
