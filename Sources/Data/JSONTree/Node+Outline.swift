extension Node {
    /// What can be shown of a node whatever its size:
    ///
    ///     "tea"                                          a leaf is its own outline
    ///     {"text":"It was a dark and","bytes":48211}     a text above 4 KiB: its beginning
    ///     {"count":3,"first":{"a":1,"b":{"count":2}}}    a map: how many children, the first 6 of them
    ///
    /// Below `first`, a map is only counted, and a text above 120 bytes is cut. Priorities stay. O(1).
    package var outline: Node { outline(textByteCount: 4096, childLimit: 6) }

    /// The same in less room, for one line of a list: of a map the count alone, of a text above 120 bytes what stands
    /// around `offset`, with where that begins (`"at"`).
    package func glance(around offset: Int = 0) -> Node {
        outline(textByteCount: 120, childLimit: 0, textOffset: max(0, offset - 40))
    }

    private func outline(textByteCount: Int, childLimit: Int, textOffset: Int = 0) -> Node {
        guard isMap else { return excerpt(textByteCount, from: textOffset) }
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

    /// A text of more bytes by so many of them from `offset` on; any other leaf as it is.
    private func excerpt(_ byteCount: Int, from offset: Int) -> Node {
        let cut: Node? = withText { text in
            if text.count <= byteCount { return self }
            // Both at the start of a scalar.
            var start = min(offset, text.count - byteCount)
            while text[start] & 0xC0 == 0x80 { start -= 1 }
            var end = start + byteCount
            while end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
            var result = Node.absent
            result.set(Node(text: text.slice(start..<end)), at: Path([OutlineKey.text]))
            result.set(Node(integer: Int64(text.count)), at: Path([OutlineKey.bytes]))
            if start > 0 { result.set(Node(integer: Int64(start)), at: Path([OutlineKey.at])) }
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
    static let at = Key(unchecked: Array("at".utf8))
}
