extension Node {
    /// The child under `key`; absent when there is none.
    package func child(_ key: Key) -> Node { key.withBytes { child($0) } }

    /// The child under the key of these bytes; absent when there is none.
    package func child(_ key: Bytes) -> Node {
        withBody { block, body in
            if body[0] == Tag.branch {
                return block.withPage(for: key) { Node.child(key, $0, $0.start) }
            }
            return body[0] == Tag.map ? Node.child(key, block, body) : .absent
        } ?? .absent
    }

    @inline(__always)
    private static func child(_ key: Bytes, _ block: Block, _ map: Place) -> Node {
        let entries = Entries(map)
        let (index, found) = entries.search(key)
        return found ? Node(block, entries.value(index)) : .absent
    }

    /// The node at `path` below this one; absent when there is none.
    package func descendant(at path: Path) -> Node {
        if path.isRoot { return self }
        return withExtendedLifetime(self) {
            path.withKeys { keys in
                var node = LentNode(self)
                for index in 0..<keys.count {
                    if node.isAbsent { break }
                    node = node.child(keys[index])
                }
                return node.node
            }
        }
    }

    /// Hands the children to `body` in key order, or backwards, until it returns false.
    ///
    /// Starts at `key`, or at the nearest one in the direction of the visit. The bytes are lent for
    /// the call alone. O(log n) to start, then O(1) a child.
    package func visitChildren(
        from key: Key? = nil,
        backwards: Bool = false,
        _ body: (Bytes, Node) -> Bool
    ) {
        guard let key else {
            visit(from: nil, backwards, body)
            return
        }
        key.withBytes { visit(from: $0, backwards, body) }
    }

    /// The same, from bytes that need not be a legal key.
    package func visitChildren(
        from key: Bytes,
        backwards: Bool = false,
        _ body: (Bytes, Node) -> Bool
    ) {
        visit(from: key, backwards, body)
    }

    private func visit(from key: Bytes?, _ backwards: Bool, _ body: (Bytes, Node) -> Bool) {
        _ = withBody { block, place in Node.visit(block, place, key, backwards, body) }
    }

    private static func visit(
        _ block: Block,
        _ place: Place,
        _ key: Bytes?,
        _ backwards: Bool,
        _ body: (Bytes, Node) -> Bool
    ) -> Bool {
        if place[0] != Tag.map && place[0] != Tag.branch { return true }
        let entries = Entries(place)
        let isBranch = place[0] == Tag.branch
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
