package import JSONTree

/// What one step of a node's history changed for a query.
package enum QueryChange {
    /// The filtered set is as before.
    case unchanged

    /// The whole filtered set is now this node; absent when the queried node became empty or a leaf.
    case replaced(Node)

    /// These children changed, entered (both with their full value) or left (absent), in key order.
    ///
    /// A child that a limit displaced is among them, and so is its replacement.
    case children([(key: Key, node: Node)])
}

/// The filtered children of one node under one query, followed through the node's history.
///
/// Only a query with a limit has state: the keys it selects, in index order. Everything else can be
/// told from the difference of two nodes.
package struct QueryView: Sendable {
    /// The query.
    package let spec: QuerySpec

    /// Keys of the selected children in index order. Empty, and unused, without a limit.
    private var window: [Key]

    /// Whether children within the bounds may exist outside the window. When false there are none.
    /// When true the window is full.
    private var mayLeaveSomeOut: Bool

    /// More changed children than this in one step are not followed one by one.
    private static let followedChangeCount = 64

    /// Creates the view of `node`. O(1) without a limit, else as costly as one scan of the children.
    package init(_ spec: QuerySpec, node: Node) {
        self.spec = spec
        window = []
        mayLeaveSomeOut = false
        if spec.limit != nil { rescan(node) }
    }

    /// The filtered set in `node`, which must be the node the view was last brought up to.
    package func result(in node: Node) -> Node {
        spec.limit == nil ? node.filtered(by: spec) : node.selecting(window)
    }

    /// Brings the view from `old`, the node it was last brought up to, to `new`.
    ///
    /// Costs as much as the difference of the two nodes. Only a limited window that lost a child
    /// without an evident replacement is scanned anew, in O(children), or O(limit) by key.
    package mutating func update(old: Node, new: Node) -> QueryChange {
        if old.isIdentical(to: new) { return .unchanged }
        guard new.isMap else { return becameEmpty(old) }
        guard old.isMap else {
            if spec.limit != nil { rescan(new) }
            let result = result(in: new)
            return result.isAbsent ? .unchanged : .replaced(result)
        }
        return spec.limit.map { follow(old, new, $0) } ?? difference(old, new)
    }

    private mutating func becameEmpty(_ old: Node) -> QueryChange {
        var hadChildren = !window.isEmpty
        if spec.limit == nil {
            old.visitChildren { key, child in
                hadChildren = spec.contains(key: key, child: child)
                return !hadChildren
            }
        }
        window = []
        mayLeaveSomeOut = false
        return hadChildren ? .replaced(.absent) : .unchanged
    }

    private mutating func rescan(_ node: Node) {
        let scan = QueryScan(spec, node)
        window = scan.keys
        mayLeaveSomeOut = scan.leftSomeOut
    }

    /// Without a limit a child is in or out by itself.
    private func difference(_ old: Node, _ new: Node) -> QueryChange {
        var changes: [(key: Key, node: Node)] = []
        Node.visitDifferences(old, new) { key, before, after in
            if isMember(key, after) {
                changes.append((Key(key), after))
            } else if isMember(key, before) {
                changes.append((Key(key), .absent))
            }
            return true
        }
        return changes.isEmpty ? .unchanged : .children(changes)
    }

    private func isMember(_ key: Bytes, _ child: Node) -> Bool {
        if child.isAbsent { return false }
        return spec.contains(key: key, child: child)
    }
}

// MARK: A limited view

extension QueryView {
    private typealias Child = (key: Key, node: Node)

    /// Follows the changed children through the window one by one.
    ///
    /// Children outside the window that did not change rank behind the window's last one, the
    /// boundary. So the new window is known if it fills up with children that rank before the
    /// boundary; if it does not, an unknown child outside may belong in it.
    private mutating func follow(_ old: Node, _ new: Node, _ limit: Int) -> QueryChange {
        let boundary = mayLeaveSomeOut ? worst.map { (key: $0, node: old.child($0)) } : nil
        var removed: [Key] = []
        var candidates: [Child] = []
        var changeCount = 0
        Node.visitDifferences(old, new) { bytes, before, after in
            changeCount += 1
            if changeCount > Self.followedChangeCount { return false }
            let key = Key(bytes)
            if let index = windowIndex(of: key, before, in: old) {
                window.remove(at: index)
                removed.append(key)
            }
            if isMember(bytes, after) { candidates.append((key, after)) }
            return true
        }
        if let boundary { candidates.removeAll { ranks(boundary, before: $0) } }
        let isKnown = boundary == nil || window.count + candidates.count >= limit
        guard changeCount <= Self.followedChangeCount, isKnown else {
            return startOver(old, new, oldKeys: window + removed)
        }
        let displaced = insert(candidates, limit, new)
        return Self.changes(removed: removed, entered: candidates, displaced: displaced)
    }

    /// Puts the candidates in their places and returns the keys that fell out at the far side.
    private mutating func insert(_ candidates: [Child], _ limit: Int, _ new: Node) -> [Key] {
        for candidate in candidates {
            window.insert(candidate.key, at: place(of: candidate.key, candidate.node, in: new))
        }
        let excess = window.count - limit
        guard excess > 0 else { return [] }
        mayLeaveSomeOut = true
        switch spec.side {
        case .first:
            let displaced = Array(window.suffix(excess))
            window.removeLast(excess)
            return displaced
        case .last:
            let displaced = Array(window.prefix(excess))
            window.removeFirst(excess)
            return displaced
        }
    }

    /// What became of the keys that were touched, sorted by key.
    private static func changes(
        removed: [Key],
        entered: [Child],
        displaced: [Key],
    ) -> QueryChange {
        var nodes: [Key: Node] = [:]
        for key in removed { nodes[key] = .absent }
        for child in entered { nodes[child.key] = child.node }
        let oldKeys = Set(removed)
        let enteredKeys = Set(entered.map(\.key))
        for key in displaced {
            // A child that was not in the old window and is not in the new one was never seen.
            let wasSeen = oldKeys.contains(key) || !enteredKeys.contains(key)
            nodes[key] = wasSeen ? Node.absent : nil
        }
        return change(nodes)
    }

    /// Scans the new node and compares the two windows.
    private mutating func startOver(_ old: Node, _ new: Node, oldKeys: [Key]) -> QueryChange {
        rescan(new)
        var nodes: [Key: Node] = [:]
        var oldKeySet = Set(oldKeys)
        for key in window {
            let after = new.child(key)
            if oldKeySet.remove(key) != nil {
                let before = old.child(key)
                if before.isIdentical(to: after) || before == after { continue }
            }
            nodes[key] = after
        }
        for key in oldKeySet { nodes[key] = .absent }
        return Self.change(nodes)
    }

    private static func change(_ nodes: [Key: Node]) -> QueryChange {
        if nodes.isEmpty { return .unchanged }
        return .children(nodes.sorted { $0.key < $1.key }.map { (key: $0.key, node: $0.value) })
    }

    /// The key at the window's far side, which falls out first.
    private var worst: Key? { spec.side == .first ? window.last : window.first }

    /// Whether `left` is kept rather than `right`.
    private func ranks(_ left: Child, before right: Child) -> Bool {
        let order = spec.compare(left.key, left.node, right.key, right.node)
        return spec.side == .first ? order < 0 : order > 0
    }

    private func windowIndex(of key: Key, _ child: Node, in node: Node) -> Int? {
        if child.isAbsent { return nil }
        let index = place(of: key, child, in: node)
        return index < window.count && window[index] == key ? index : nil
    }

    /// The first place in the window that does not rank before (key, child) in index order, when
    /// `node` holds every child of the window.
    private func place(of key: Key, _ child: Node, in node: Node) -> Int {
        var low = 0
        var high = window.count
        while low < high {
            let middle = (low + high) / 2
            let other = window[middle]
            if spec.compare(other, node.child(other), key, child) < 0 {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
