package import SimulatedStorage

/// One range of a range merge, applied to data as iOS and Android clients apply it.
///
/// They visit the children of a node in no order of their own, and a node that is empty in between
/// has lost its priority; the sender of ranges must see to it that neither can be noticed.
package struct NaiveRangeMerge: Sendable {
    /// The leaf behind which the range begins; nil for the first of all.
    package var start: NaivePath?
    /// The last leaf of the range; nil for the last of all.
    package var end: NaivePath?
    /// What is in the range from now on.
    package var updates: NaiveNode

    /// Reads one member of the array that a push carries.
    package init(_ json: JSONText) {
        start = json["s"]?.string.map { $0.split(separator: "/").map(String.init) }
        end = json["e"]?.string.map { $0.split(separator: "/").map(String.init) }
        updates = NaiveNode(json["m"] ?? .null).withoutLonePriority
    }

    /// The data after the merge.
    package func applied(to node: NaiveNode, _ random: inout SplitMix64) -> NaiveNode {
        update([], node, updates, &random) ?? node
    }

    /// What becomes of the node at `path`; nil when it stays the very same.
    private func update(
        _ path: NaivePath,
        _ node: NaiveNode,
        _ updates: NaiveNode,
        _ random: inout SplitMix64
    ) -> NaiveNode? {
        let isBehindStart = start.map { Self.compare(path, $0) > 0 } ?? true
        let endOrder = end.map { Self.compare(path, $0) } ?? -1
        let holdsStart = start?.starts(with: path) ?? false
        let holdsEnd = end?.starts(with: path) ?? false
        if isBehindStart {
            if endOrder < 0 && !holdsEnd || holdsEnd && updates.leaf != nil {
                return node.isAbsent && updates.isAbsent ? nil : updates
            }
            if endOrder == 0 { return node.leaf != nil ? .absent : nil }
        }
        guard holdsStart || holdsEnd else { return nil }
        var keys = Set(node.children.keys).union(updates.children.keys).sorted()
        keys.shuffle(using: &random)
        if node.priority != nil || updates.priority != nil { keys.append(".priority") }
        var result = node
        for key in keys {
            let child = node.child(key)
            if let new = update(path + [key], child, updates.child(key), &random) {
                result.replaceChild(key, new)
            }
        }
        return result
    }

    /// By key order, `.priority` being a key; a path before those below it.
    private static func compare(_ left: NaivePath, _ right: NaivePath) -> Int {
        for (a, b) in zip(left, right) where a != b { return NaiveOrder.ofKeys(a, b) }
        return left.count - right.count
    }
}

extension NaiveNode {
    /// Clients read a priority beside nothing as nothing.
    fileprivate var withoutLonePriority: NaiveNode { isAbsent ? .absent : self }

    fileprivate func child(_ key: String) -> NaiveNode {
        key == ".priority" ? NaiveNode(priority) : children[key] ?? .absent
    }

    /// A node without children is nothing, whatever priority it had.
    fileprivate mutating func replaceChild(_ key: String, _ child: NaiveNode) {
        if key == ".priority" {
            if !isAbsent { priority = child.leaf }
        } else if !child.isAbsent {
            children[key] = child
            leaf = nil
        } else if leaf == nil {
            children[key] = nil
            if isAbsent { priority = nil }
        }
    }
}
