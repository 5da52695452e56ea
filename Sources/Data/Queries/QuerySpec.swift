package import JSONTree

/// Which children of a node a listen or a read is about: an order, bounds within it, a limit.
///
/// Children are ordered by (index value, key). The bounds keep a range of that order; then the limit keeps some
/// children from one side of the range. The node's own priority is never part of what is selected, and a leaf or an
/// absent node has no children. An order alone selects nothing: it is the whole node, as clients listen to it.
///
/// Source: the Realtime Database wire protocol, query object.
package struct QuerySpec: Hashable, Sendable {
    /// What children are ordered by. Equal index values are ordered by key.
    package enum Index: Hashable, Sendable {
        /// Only the child's key.
        case key
        /// The child itself, in value order.
        case value
        /// The child's priority, in priority order. The default.
        case priority
        /// The child's descendant at this path (never the root), in value order; absent is null.
        case child(Path)
    }

    /// The key half of a bound.
    package enum BoundKey: Hashable, Sendable {
        /// Below every key; `[MIN_NAME]` on the wire.
        case minimum
        /// Above every key; `[MAX_NAME]` on the wire.
        case maximum
        /// These bytes, compared in key order. Clients send texts that are not legal keys (iOS pads
        /// predecessors to 786 characters), so the bytes are opaque.
        case key([UInt8])
    }

    /// One end of the range.
    package struct Bound: Hashable, Sendable {
        /// The index value: a leaf without priority, or absent for null. For `.key`, a string.
        package var value: Node

        /// The key that decides between equal index values. Unused when the index is `.key`.
        ///
        /// When nil, a start lies before and an end after every child with an equal index value.
        package var key: BoundKey?

        /// Whether a child exactly at (value, key) is in range.
        package var isInclusive: Bool

        /// Creates a bound.
        package init(value: Node, key: BoundKey? = nil, isInclusive: Bool = true) {
            precondition(!value.isMap, "a bound is a scalar or null")
            self.value = value
            self.key = key
            self.isInclusive = isInclusive
        }
    }

    /// The side of the range that a limit keeps.
    package enum Side: Hashable, Sendable {
        case first, last
    }

    /// What the children are ordered by.
    package var index: Index

    /// The lower end of the range; nil for no lower end.
    package var start: Bound?

    /// The upper end of the range; nil for no upper end.
    package var end: Bound?

    /// The most children in the result, at least 1; nil for no limit.
    package let limit: Int?

    /// The side that `limit` keeps; without a limit always `.first`, so that equality means sameness.
    package let side: Side

    /// Creates a query; all defaults give `everything`.
    package init(
        index: Index = .priority,
        start: Bound? = nil,
        end: Bound? = nil,
        limit: Int? = nil,
        side: Side = .first,
    ) {
        if let limit { precondition(limit > 0, "a limit is positive") }
        if case .child(let path) = index {
            precondition(!path.isRoot, "the child index of the root is the value index")
        }
        self.index = index
        self.start = start
        self.end = end
        self.limit = limit
        self.side = limit == nil ? .first : side
    }

    /// The query of a plain listen or read.
    package static let everything = QuerySpec()

    /// Whether every child is in the result, whatever the order: no bounds, no limit.
    package var loadsEverything: Bool { start == nil && end == nil && limit == nil }

    /// Whether finding the children takes an index: not when all are in the result or in key order.
    package var usesIndex: Bool { index != .key && !loadsEverything }
}

extension QuerySpec.Bound {
    /// Feeds what equality compares.
    package func hash(into hasher: inout Hasher) {
        // A scalar is one of these three; the rest of equality (priority) never occurs in a bound.
        hasher.combine(value.boolean)
        hasher.combine(value.number)
        hasher.combine(value.string.map { Array($0.utf8) })
        hasher.combine(key)
        hasher.combine(isInclusive)
    }
}
