import JSONTree
import Queries

/// A view's knowledge of its node, pending writes included.
struct Knowledge {
    /// The node, or while not all of it is known the children that are.
    var node: Node
    /// Whether the node is all there is, its own priority included.
    let isWhole: Bool
    /// Whether a value can be reported: all that the query selects is known.
    let isComplete: Bool
}

/// The data that a view last reported to its observers.
struct Shown {
    var known: Knowledge
    /// The selected children; nil if all are, and no observer wants child events.
    var window: Window?
    /// The window as one node; nil while no observer wants values.
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

    /// Updates from the node's next state; returns the changes of the selected children.
    mutating func follow(_ differences: [ChildDifference], to node: Node) -> [ViewChange] {
        if var index {
            self.index = nil
            // From about here on, computing everything again is cheaper.
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
