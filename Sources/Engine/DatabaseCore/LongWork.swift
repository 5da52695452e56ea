package import JSONTree
package import Queries
package import RulesTools
package import SecurityRules
package import WireProtocol

/// Something to be worked out from a snapshot, too long for the loop.
///
/// Pure: any thread may do it, at any time, with the same outcome.
package enum LongWork: Sendable {
    /// The hash of a node; the given one in its place if some client computes it of the same data.
    case hash(Node, like: String? = nil)
    /// What a client with data of this hash lacks of a node.
    case compare(Node, ListenHash)
    /// An index of a node's children.
    case index(QuerySpec.Index, Node)
    /// An index of one state of a node, brought to a later one.
    case follow(ChildIndex, from: Node, to: Node)

    /// The children that a query selects.
    case select(QuerySpec, OrderedChildren)

    /// A request to try on a tree, at a time, under rules unless it brings its own.
    case simulate(SimulationRequest, under: Ruleset, on: Node, at: Timestamp)

    /// Rulesets to be loaded.
    case load([StoredRuleset])

    /// What the rules say to a large write.
    case decide(LargeWrite)

    /// Whether it is the hash of a node.
    package var isHash: Bool { if case .hash = self { true } else { false } }

    /// Does the work, or stops it once it is cancelled: hashing and deciding ask now and then.
    ///
    /// `hash` gives what `Node.hash(like:)` does, maybe from before.
    package func perform(
        isCancelled: @escaping () -> Bool = { false },
        hash: (Node, String?, @escaping () -> Bool) -> String? = { node, asked, isCancelled in
            node.hash(like: asked, isCancelled: isCancelled)
        }
    ) -> LongResult {
        if isCancelled() { return .refused }
        switch self {
        case .hash(let node, let asked):
            return hash(node, asked, isCancelled).map { .hash($0) } ?? .refused
        case .decide(let write):
            return write.decide(isCancelled: isCancelled).map { .decided($0) } ?? .refused
        case .compare(let node, let hash): return .compared(hash.compare(with: node))
        case .index(let order, let node): return .index(ChildIndex(order, of: node))
        case .follow(var index, let old, let new):
            // With so many differences it is faster to make the index anew.
            let limit = new.childCount / 8
            guard let differences = ChildDifference.all(from: old, to: new, limit: limit) else {
                return .index(ChildIndex(index.order, of: new))
            }
            index.apply(differences)
            return .index(index)
        case .select(let query, let children):
            return .selected(QueryView(query, children).result(in: children))
        case .simulate(let request, let rules, let root, let now):
            return .simulated(request.answer(under: rules, on: root, at: now))
        case .load(let rulesets):
            do throws(RulesError) {
                var loaded: [Ruleset] = []
                for ruleset in rulesets { loaded.append(try Ruleset.load(ruleset.text)) }
                return .loaded(loaded)
            } catch {
                return .loaded(nil)
            }
        }
    }
}

/// The outcome of `LongWork`.
package enum LongResult: Sendable {
    case hash(String)
    case compared(ListenComparison)
    case index(ChildIndex)
    case selected(Node)
    case simulated(SimulationAnswer)
    /// Nil when one of the rulesets does not load.
    case loaded([Ruleset]?)
    case decided(DecidedWrite)
    /// Too much work waits already, and this was not begun; or it was cancelled.
    case refused
}
