package import JSONTree
package import Queries
package import WireProtocol

/// Something to be worked out from a snapshot, too long for the loop.
///
/// Pure: any thread may do it, at any time, with the same outcome.
package enum LongWork: Sendable {
    /// The hash of a node, in priority order.
    case hash(Node)
    /// What a client with data of this hash lacks of a node.
    case compare(Node, ListenHash)
    /// An index of a node's children.
    case index(QuerySpec.Index, Node)
    /// An index of one state of a node, brought to a later one.
    case follow(ChildIndex, from: Node, to: Node)

    /// Does the work.
    package func perform() -> LongResult {
        switch self {
        case .hash(let node): return .hash(node.hash(.priority))
        case .compare(let node, let hash): return .compared(hash.compare(with: node))
        case .index(let order, let node): return .index(ChildIndex(order, of: node))
        case .follow(var index, let old, let new):
            // So many differences that working the index out anew is shorter.
            let limit = new.childCount / 8
            guard let differences = ChildDifference.all(from: old, to: new, limit: limit) else {
                return .index(ChildIndex(index.order, of: new))
            }
            index.apply(differences)
            return .index(index)
        }
    }
}

/// The outcome of `LongWork`.
package enum LongResult: Sendable {
    case hash(String)
    case compared(ListenComparison)
    case index(ChildIndex)
    /// Too much is waiting already; the work was not begun.
    case refused
}
