package import JSONTree

/// What a search looks for: a text within keys and texts, whatever its case, and the number or boolean that it spells.
package struct SearchPattern: Sendable {
    /// In lower case.
    private let text: [UInt8]
    private let isASCII: Bool
    /// The number or boolean that the text is as JSON; absent for other texts.
    private let scalar: Node

    /// - Parameter text: at least one character.
    package init(_ text: String) {
        self.text = Array(text.lowercased().utf8)
        isASCII = self.text.allSatisfy { $0 < 0x80 }
        do throws(JSONError) {
            let node = try Node(json: text)
            scalar = node.kind == .number || node.kind == .boolean ? node : .absent
        } catch {
            scalar = .absent
        }
    }

    /// Where the text begins in UTF-8; nil where it is not. With other characters than ASCII the offset is that of the bytes
    /// in lower case, which may be a few beside it.
    func offset(in bytes: Bytes) -> Int? {
        if isASCII { return offset(within: bytes) }
        return offset(within: Array(bytes.string.lowercased().utf8))
    }

    private func offset<Text>(within bytes: Text) -> Int?
    where Text: RandomAccessCollection<UInt8>, Text.Index == Int {
        let last = bytes.count - text.count
        guard last >= 0 else { return nil }
        let first = text[0]
        for start in 0...last where Self.lower(bytes[start]) == first {
            if text.indices.allSatisfy({ Self.lower(bytes[start + $0]) == text[$0] }) {
                return start
            }
        }
        return nil
    }

    /// Whether a node is the number or boolean.
    func isValue(of node: Node) -> Bool {
        switch scalar.kind {
        case .boolean: node.boolean == scalar.boolean
        case .number where scalar.integer != nil: node.integer == scalar.integer
        case .number: node.number == scalar.number
        default: false
        }
    }

    @inline(__always)
    private static func lower(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }
}

/// What a search has found.
package struct SearchHit: Sendable {
    /// From the root of the database.
    package let path: Path
    package let node: Node
    /// Where the text begins in the node's own; nil when its key has it, or when it is a number or boolean.
    package let offset: Int?
    package let isKey: Bool
}

/// A search of a snapshot below a path, in slices: any thread may do it, at any time, with the same outcome.
///
///     a ── b ── c        looked at in this order: a, a/b, a/b/c, d
///     d                  a slice that ends before c keeps a/b/c, and the next one goes down there again
///
/// The node at the path counts by its value alone. A hit by key is not looked at by its value.
package struct TreeSearch: Sendable {
    /// What is compared.
    package enum Part: String, CaseIterable, Sendable {
        case keys, values, both
    }

    private let root: Node
    private let base: Path
    private let pattern: SearchPattern
    private let part: Part
    /// The keys below the base at which it goes on; empty at the beginning, nil at the end.
    private var next: [Key]? = []
    /// Nodes that were looked at.
    package private(set) var nodeCount = 0
    /// What that took: a unit for each node, and one for each 64 bytes of a text.
    package private(set) var workCount = 0

    /// Searches `root`, which is what stands at `base`.
    package init(_ root: Node, at base: Path, for pattern: SearchPattern, in part: Part) {
        self.root = root
        self.base = base
        self.pattern = pattern
        self.part = part
    }

    /// Whether all was looked at, or the search was ended.
    package var isOver: Bool { next == nil }

    /// Goes on by `work` units, and by one node at least. `take` gets each hit in its order, and returns false to end the search.
    package mutating func advance(work: Int, _ take: (SearchHit) -> Bool) {
        guard let start = next else { return }
        next = nil
        let end = workCount + work
        if start.isEmpty, !look(at: root, key: nil, [], take) { return }
        var keys: [Key] = []
        _ = descend(root, start[...], &keys, until: end, take)
    }

    /// Looks at what is below a node, from `start` on; returns whether it goes on behind it.
    private mutating func descend(
        _ node: Node,
        _ start: ArraySlice<Key>,
        _ keys: inout [Key],
        until end: Int,
        _ take: (SearchHit) -> Bool
    ) -> Bool {
        var start = start
        var goesOn = true
        node.visitChildren(from: start.first) { bytes, child in
            let key = Key(bytes)
            keys.append(key)
            // Those on the way to where it goes on were looked at.
            let isOnTheWay = start.count > 1
            if !isOnTheWay, start.isEmpty, workCount >= end {
                next = keys
                goesOn = false
            } else if !isOnTheWay {
                goesOn = look(at: child, key: bytes, keys, take)
            }
            if goesOn, child.isMap {
                goesOn = descend(child, start.dropFirst(), &keys, until: end, take)
            }
            start = []
            keys.removeLast()
            return goesOn
        }
        return goesOn
    }

    private mutating func look(
        at node: Node,
        key: Bytes?,
        _ keys: [Key],
        _ take: (SearchHit) -> Bool
    ) -> Bool {
        nodeCount += 1
        workCount += 1
        if part != .values, let key, pattern.offset(in: key) != nil {
            return take(hit(node, keys, offset: nil, isKey: true))
        }
        if part == .keys || node.isMap { return true }
        if pattern.isValue(of: node) { return take(hit(node, keys, offset: nil, isKey: false)) }
        let found: Int?? = node.withText { text in
            workCount += text.count / 64
            return pattern.offset(in: text)
        }
        guard let offset = found ?? nil else { return true }
        return take(hit(node, keys, offset: offset, isKey: false))
    }

    private func hit(_ node: Node, _ keys: [Key], offset: Int?, isKey: Bool) -> SearchHit {
        SearchHit(path: base.appending(Path(keys)), node: node, offset: offset, isKey: isKey)
    }
}
