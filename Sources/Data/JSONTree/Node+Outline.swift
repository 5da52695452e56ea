extension Node {
    /// What can be shown of a node whatever its size:
    ///
    ///     "tea"                                          a leaf is its own outline
    ///     {"text":"It was a dark and","bytes":48211}     a text above 4 KiB: its beginning
    ///     {"count":3,"first":{"a":1,"b":{"count":2}}}    a map: how many children, the first 6 of them
    ///
    /// Below `first`, a map is only counted, and a text above 120 bytes is cut. Priorities stay. O(1).
    package var outline: Node { outline(textByteCount: 4096, childLimit: 6) }

    private func outline(textByteCount: Int, childLimit: Int) -> Node {
        guard isMap else { return beginning(textByteCount) }
        var result = Node.absent
        result.set(Node(integer: Int64(childCount)), at: Path([OutlineKey.count]))
        var left = childLimit
        if left > 0 {
            visitChildren { key, child in
                let part = child.outline(textByteCount: 120, childLimit: 0)
                result.set(part, at: Path([OutlineKey.first, Key(key)]))
                left -= 1
                return left > 0
            }
        }
        return result.settingPriority(priority)
    }

    /// A text of more bytes by its beginning; any other leaf as it is.
    private func beginning(_ byteCount: Int) -> Node {
        let cut: Node? = withText { text in
            if text.count <= byteCount { return self }
            var end = byteCount
            // At the start of a scalar.
            while text[end] & 0xC0 == 0x80 { end -= 1 }
            var result = Node.absent
            result.set(Node(text: text.slice(0..<end)), at: Path([OutlineKey.text]))
            result.set(Node(integer: Int64(text.count)), at: Path([OutlineKey.bytes]))
            return result.settingPriority(priority)
        }
        return cut ?? self
    }
}

private enum OutlineKey {
    static let count = Key(unchecked: Array("count".utf8))
    static let first = Key(unchecked: Array("first".utf8))
    static let text = Key(unchecked: Array("text".utf8))
    static let bytes = Key(unchecked: Array("bytes".utf8))
}
