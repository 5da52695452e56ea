import JSONTree

/// The differences of one step in the order of an index: worked out once for all views in that order.
///
/// A view finds those that concern it by halving, so many views and many differences add up and do not multiply.
package struct OrderedDifferences: Sendable {
    /// One side of a difference that is not absent.
    struct Entry {
        let value: Node
        /// The index of the difference in `all`.
        let index: Int
    }

    /// All differences, in key order.
    package let all: [ChildDifference]

    /// The order.
    package let order: QuerySpec.Index

    /// The children before the step, in order.
    let old: [Entry]

    /// The children after the step, in order.
    let new: [Entry]

    /// Orders differences that are in key order. O(n log n).
    package init(_ differences: [ChildDifference], by order: QuerySpec.Index) {
        all = differences
        self.order = order
        old = Self.entries(differences.map(\.old), order)
        new = Self.entries(differences.map(\.new), order)
    }

    private static func entries(_ children: [Node], _ order: QuerySpec.Index) -> [Entry] {
        var entries: [Entry] = []
        entries.reserveCapacity(children.count)
        for (index, child) in children.enumerated() where !child.isAbsent {
            entries.append(Entry(value: order.value(of: child), index: index))
        }
        if order == .key { return entries }
        // Indexes are in key order already.
        entries.sort { a, b in
            let order = Node.compareValues(a.value, b.value)
            return order != 0 ? order < 0 : a.index < b.index
        }
        return entries
    }

    /// The difference of the child under `key`; nil when it has not changed.
    func index(of key: Key) -> Int? {
        let index = (0..<all.count).partition(where: { all[$0].key >= key })
        return index < all.count && all[index].key == key ? index : nil
    }

    /// The entries that `side` says are inside; it never says an earlier side of a later entry.
    func range(of entries: [Entry], _ side: (Bytes, Node) -> QuerySpec.RangeSide) -> Range<Int> {
        func sideOfEntry(_ index: Int) -> QuerySpec.RangeSide {
            let entry = entries[index]
            return all[entry.index].key.withBytes { side($0, entry.value) }
        }
        let low = (0..<entries.count).partition(where: { sideOfEntry($0) != .below })
        let high = (low..<entries.count).partition(where: { sideOfEntry($0) == .above })
        return low..<high
    }
}

extension Range<Int> {
    /// The first index from which on a condition holds, found by halving; the end when it never does.
    fileprivate func partition(where holds: (Int) -> Bool) -> Int {
        var low = lowerBound
        var high = upperBound
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
