/// One machine of a group, as its configuration numbers it.
package struct NodeID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number.
    package let value: UInt64

    /// Wraps a number.
    package init(_ value: UInt64) { self.value = value }

    /// The number in decimal.
    package var description: String { String(value) }

    /// Orders by number.
    package static func < (left: NodeID, right: NodeID) -> Bool { left.value < right.value }
}

/// One life of a node, from the start of its process to its end.
package struct Incarnation: Hashable, Sendable, CustomStringConvertible {
    /// The node.
    package let node: NodeID
    /// 64 random bits, made when the process starts.
    package let number: UInt64

    /// Puts an incarnation together.
    package init(node: NodeID, number: UInt64) {
        self.node = node
        self.number = number
    }

    /// Node and number: `node 2 (a1b2)`.
    package var description: String { "node \(node) (\(String(number, radix: 16)))" }
}
