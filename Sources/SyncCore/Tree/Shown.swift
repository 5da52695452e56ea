import JSONTree
import Queries

/// What a view knows of its node, pending writes included.
struct Knowledge {
    /// The node, or while not all of it is known the children that are.
    var node: Node
    /// Whether the node is all there is, its own priority included.
    let isWhole: Bool
    /// Whether a value can be told: all that the query selects is known.
    let isComplete: Bool
}

/// What a view has last shown to those who look.
struct Shown {
    var known: Knowledge
    /// Which children are in sight; nil if all are and nobody is told of children.
    var window: Window?
    /// What the window selects, as one node; nil while nobody is told values.
    var selected: Node?
}

/// Which children of a node are in sight, and their order.
struct Window {
    private var index: ChildIndex?
    private(set) var view: QueryView

    init(_ spec: QuerySpec, of node: Node) {
        index = spec.index == .key ? nil : ChildIndex(spec.index, of: node)
        view = QueryView(spec, OrderedChildren(node, index: index))
    }

    func children(of node: Node) -> OrderedChildren { OrderedChildren(node, index: index) }

    /// Follows the node to its next state; returns what became of the children in sight.
    mutating func follow(_ differences: [ChildDifference], to node: Node) -> [ViewChange] {
        if var index {
            self.index = nil
            // Making it anew is cheaper from about here on.
            if differences.count > 64 && differences.count > node.childCount / 4 {
                index = ChildIndex(index.order, of: node)
            } else {
                index.apply(differences)
                if index.wantsRebuild { index = ChildIndex(index.order, of: node) }
            }
            self.index = index
        }
        return view.update(differences, in: children(of: node))
    }
}
