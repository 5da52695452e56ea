import JSONTree

/// Values at paths, found by walking along, above and below a path.
///
/// Nodes without a value and children are removed, so memory follows the values.
struct PathTrie<Value> {
    private(set) var value: Value?
    private var children: [Key: PathTrie] = [:]

    var isEmpty: Bool { value == nil && children.isEmpty }

    /// Changes the value at `path` in place; leaving it nil removes it. O(depth).
    mutating func edit(_ path: Path, _ body: (inout Value?) -> Void) {
        edit(path, 0, body)
    }

    private mutating func edit(_ path: Path, _ depth: Int, _ body: (inout Value?) -> Void) {
        if depth == path.keyCount {
            body(&value)
            return
        }
        let key = path.key(at: depth)
        children[key, default: PathTrie()].edit(path, depth + 1, body)
        if children[key]?.isEmpty == true { children[key] = nil }
    }

    subscript(path: Path) -> Value? {
        var trie = self
        for depth in 0..<path.keyCount {
            guard let next = trie.children[path.key(at: depth)] else { return nil }
            trie = next
        }
        return trie.value
    }

    /// Visits the values at, above and below `path`: from the root down, then below in key order.
    func visit(around path: Path, _ body: (Value) -> Void) {
        visit(path, 0, body)
    }

    private func visit(_ path: Path, _ depth: Int, _ body: (Value) -> Void) {
        if depth == path.keyCount {
            visitAll(body)
            return
        }
        if let value { body(value) }
        if children.isEmpty { return }
        children[path.key(at: depth)]?.visit(path, depth + 1, body)
    }

    /// Visits every value, parents first, children in key order.
    func visitAll(_ body: (Value) -> Void) {
        if let value { body(value) }
        for key in children.keys.sorted() { children[key]?.visitAll(body) }
    }
}
