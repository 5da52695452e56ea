package import JSONTree

/// The children of one node in the order of an index, or in key order.
package struct OrderedChildren: Sendable {
    /// The node; a leaf or an absent one has no children.
    package let node: Node

    private let index: ChildIndex?

    /// Makes the children of `node` in the order of its `index`, or in key order when that is nil.
    package init(_ node: Node, index: ChildIndex?) {
        self.node = node
        self.index = index
    }

    /// What the children are ordered by.
    var order: QuerySpec.Index { index?.order ?? .key }

    /// The position of a child in one state of the node.
    func position(of key: Bytes, _ child: Node) -> IndexPosition {
        IndexPosition(value: order.value(of: child), key: key)
    }

    /// Hands the children to `body` in order, or backwards, until it returns false.
    ///
    /// Starts at `position`, or at the nearest child in the direction of the visit. The bytes are borrowed only during
    /// the call. O(log n) to start and then for each child, beside at most `ChildIndex.sparseEntryCount` children
    /// stepped over in all. Returns how many children were looked at.
    @discardableResult
    func visit(
        from position: IndexPosition? = nil,
        backwards: Bool = false,
        _ body: (Bytes, Node) -> Bool,
    ) -> Int {
        var count = 0
        func counted(_ key: Bytes, _ child: Node) -> Bool {
            count += 1
            return body(key, child)
        }
        guard let index else {
            _ = visitKeys(from: position?.key, backwards, counted)
            return count
        }
        guard index.isSparse else {
            _ = index.visit(node, from: position, backwards: backwards, counted)
            return count
        }
        func skipping(_ key: Bytes, _ child: Node) -> Bool {
            if child.priority.isAbsent { return counted(key, child) }
            count += 1
            return true
        }
        let isAmongPlain = position.map { $0.value.isAbsent } ?? !backwards
        if isAmongPlain {
            let goesOn = visitKeys(from: position?.key, backwards, skipping)
            if backwards || !goesOn { return count }
            _ = index.visit(node, from: nil, backwards: false, counted)
        } else {
            let goesOn = index.visit(node, from: position, backwards: backwards, counted)
            if !backwards || !goesOn { return count }
            _ = visitKeys(from: nil, true, skipping)
        }
        return count
    }

    /// Visits in key order; returns whether `body` never returned false.
    private func visitKeys(
        from key: QuerySpec.BoundKey?,
        _ backwards: Bool,
        _ body: (Bytes, Node) -> Bool,
    ) -> Bool {
        var goesOn = true
        func visitor(_ key: Bytes, _ child: Node) -> Bool {
            goesOn = body(key, child)
            return goesOn
        }
        switch key {
        case .minimum where backwards, .maximum where !backwards: break
        case nil, .minimum, .maximum: node.visitChildren(backwards: backwards, visitor)
        case .key(let bytes):
            bytes.withBytes { node.visitChildren(from: $0, backwards: backwards, visitor) }
        }
        return goesOn
    }
}
