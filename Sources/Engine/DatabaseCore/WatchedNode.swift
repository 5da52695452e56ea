import JSONTree
import Queries

/// A node that views show or indexes are of: the effect of a commit on it is computed once for all.
final class WatchedNode {
    let path: Path
    private(set) var views: [View] = []
    /// Where in `views` the view of a query is.
    private var indexesByKey: [ViewKey: Int] = [:]
    private(set) var indexes: [KeptIndex] = []
    /// The commit that last visited this node, so that one with many paths visits it once.
    var visitedBy = CommitNumber.zero
    /// Views that follow the children one by one.
    private var filteredViewCount = 0

    init(path: Path) {
        self.path = path
    }

    var isUnused: Bool { views.isEmpty && indexes.isEmpty }

    /// Whether anything here must know which children a commit changed.
    var followsChildren: Bool { filteredViewCount > 0 || !indexes.isEmpty }

    func add(_ view: View) {
        indexesByKey[view.key] = views.count
        views.append(view)
        if view.window != nil { filteredViewCount += 1 }
    }

    /// O(1): the last view takes the free index.
    func remove(_ view: View) {
        guard let index = indexesByKey.removeValue(forKey: view.key) else { return }
        views.swapAt(index, views.count - 1)
        views.removeLast()
        if index < views.count { indexesByKey[views[index].key] = index }
        if view.window != nil { filteredViewCount -= 1 }
    }

    func view(of key: ViewKey) -> View? {
        indexesByKey[key].map { views[$0] }
    }

    func add(_ index: KeptIndex) { indexes.append(index) }

    func remove(_ index: KeptIndex) { indexes.removeAll { $0 === index } }
}

/// What the views of one node differ in.
struct ViewKey: Hashable {
    let query: QuerySpec
    let encoding: View.Encoding
}

/// What one commit did to a watched node.
struct NodeStep {
    let old: Node
    let new: Node
    /// The children that differ; nil when the node was or became a leaf or absent, or when so many differ that it is
    /// cheaper to look at all new ones.
    let differences: [ChildDifference]?

    /// Differences that are always followed one by one.
    private static let followedCount = 1_024

    /// `keys` are those of all children that may differ, in key order; nil when any may.
    init(old: Node, new: Node, keys: [Key]?) {
        self.old = old
        self.new = new
        guard old.isMap, new.isMap else {
            differences = nil
            return
        }
        let limit = NodeStep.followedCount + new.childCount / 4
        guard let keys, keys.count <= limit else {
            differences = ChildDifference.all(from: old, to: new, limit: limit)
            return
        }
        differences = keys.compactMap { key in
            let before = old.child(key)
            let after = new.child(key)
            if before.isIdentical(to: after) { return nil }
            return ChildDifference(key: key, old: before, new: after)
        }
    }
}
