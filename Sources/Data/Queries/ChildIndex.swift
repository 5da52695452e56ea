import JSONTree

/// The children of one node sorted by (index value, key).
///
/// A persistent value: a copy is O(1), and an edit copies the O(log n) pages that are shared. It holds keys and index
/// values, no nodes: a walk takes the indexed node as argument.
package struct ChildIndex: Sendable {
    /// What the children are ordered by; never `.key`, since that is the order of the tree itself.
    package let order: QuerySpec.Index

    /// A map whose keys are the sort texts of the children.
    private var entries: Node

    /// Whether children without a priority have no entry: they come first, in key order.
    let isSparse: Bool

    private let sparseEntryCount: Int

    /// Entries up to which a priority index is sparse: children with a priority that a walk over
    /// those without may have to step over.
    package static let sparseEntryCount = 4_096

    init(_ order: QuerySpec.Index, entries: Node, isSparse: Bool, sparseEntryCount: Int) {
        precondition(order != .key, "key order needs no index")
        self.order = order
        self.entries = entries
        self.isSparse = isSparse
        self.sparseEntryCount = sparseEntryCount
    }

    /// The number of entries: one for each child, or when sparse for each with a priority.
    package var entryCount: Int { entries.childCount }

    /// Whether a sparse index has so many entries that the whole one `init` makes should replace it.
    package var wantsRebuild: Bool { isSparse && entryCount > sparseEntryCount }

    /// Brings the index to the state after `differences`. O(log n) each.
    package mutating func apply(_ differences: [ChildDifference]) {
        for difference in differences {
            let old = entryValue(of: difference.old)
            let new = entryValue(of: difference.new)
            if let old, let new, Node.compareValues(old, new) == 0 { continue }
            difference.key.withBytes { key in
                if let old { entries.set(.absent, at: Self.path(old, key)) }
                if let new { entries.set(Node(true), at: Self.path(new, key)) }
            }
        }
    }

    /// The index value of a child that has an entry; nil when it has none.
    private func entryValue(of child: Node) -> Node? {
        if child.isAbsent { return nil }
        let value = order.value(of: child)
        return isSparse && value.isAbsent ? nil : value
    }

    private static func path(_ value: Node, _ key: Bytes) -> Path {
        Path([Key(unchecked: SortText.of(value, key))])
    }
}

extension ChildIndex {
    /// Hands the children that have an entry to `body` in index order, or backwards, until it
    /// returns false; returns whether it never did.
    ///
    /// Starts at `position` or at the nearest one in the direction of the visit. `node` is the one
    /// the index is of. Children in a run are all looked up and sorted when the visit comes to it.
    func visit(
        _ node: Node,
        from position: IndexPosition?,
        backwards: Bool,
        _ body: (Bytes, Node) -> Bool,
    ) -> Bool {
        var run = Run(order: order, position: position, backwards: backwards)
        var goesOn = true
        func visitEntry(_ text: Bytes, _: Node) -> Bool {
            let (offset, isCut) = SortText.keyOffset(in: text)
            if !run.isEmpty, !isCut || !run.isSame(text.slice(0..<offset)) {
                goesOn = run.finish(body)
                if !goesOn { return false }
            }
            let key = SortText.key(in: text, from: offset)
            let child = node.child(key)
            precondition(!child.isAbsent, "an index is of the node it is walked with")
            if isCut {
                run.add(text.slice(0..<offset), key, child)
            } else {
                goesOn = body(key, child)
            }
            return goesOn
        }
        if let position {
            let start = SortText.isCut(position.value) ? position.edgeOfRun(backwards) : position
            SortText.of(start).withBytes {
                entries.visitChildren(from: $0, backwards: backwards, visitEntry)
            }
        } else {
            entries.visitChildren(backwards: backwards, visitEntry)
        }
        return goesOn && run.finish(body)
    }
}

extension IndexPosition {
    /// The end at which a visit must begin that would begin within this position's run.
    fileprivate func edgeOfRun(_ backwards: Bool) -> IndexPosition {
        IndexPosition(value: value, key: backwards ? .maximum : .minimum)
    }
}

/// A run: children whose index values are strings with equal first 500 bytes. Their texts do not order them.
///
///     entries, in the order of their texts      child      its whole value
///
///     F apple 00 ............... key of c       c          "apple"
///     F mmm... 01 03 ........... key of a  ┐    a          "mmm...z"
///     F mmm... 01 03 ........... key of b  ├ run  b        "mmm...x"
///     F mmm... 01 03 ........... key of d  ┘    d          "mmm...y"
///     F pear 00 ................ key of e       e          "pear"
///
///     a visit hands out: c, then b d a (gathered, looked up and sorted), then e
///
/// A visit that begins inside a run reads it from its edge, and skips entries before its position.
private struct Run {
    let order: QuerySpec.Index
    /// Children before it, in the direction of the visit, are left out.
    let position: IndexPosition?
    let backwards: Bool
    var valueText: [UInt8] = []
    var children: [(key: Key, value: Node, child: Node)] = []

    var isEmpty: Bool { children.isEmpty }

    func isSame(_ text: Bytes) -> Bool { valueText.withBytes { $0 == text } }

    mutating func add(_ text: Bytes, _ key: Bytes, _ child: Node) {
        if children.isEmpty { valueText = text.array }
        let value = order.value(of: child)
        if let position {
            let comparison = position.compare(key, value)
            if backwards ? comparison > 0 : comparison < 0 { return }
        }
        children.append((Key(key), value, child))
    }

    /// Passes on the added children, in index order or backwards, and clears them.
    mutating func finish(_ body: (Bytes, Node) -> Bool) -> Bool {
        if children.isEmpty { return true }
        children.sort { left, right in
            let order = Node.compareValues(left.value, right.value)
            let isBefore = order != 0 ? order < 0 : left.key < right.key
            return isBefore != backwards
        }
        defer { children = [] }
        return children.allSatisfy { entry in entry.key.withBytes { body($0, entry.child) } }
    }
}
