import JSONTree
import WireProtocol

/// A path with views, or on the way to one.
final class SyncPoint {
    let path: Path
    /// Nil for the root.
    private(set) unowned var parent: SyncPoint?
    private(set) var children: [Key: SyncPoint] = [:]
    /// In order of creation.
    private(set) var views: [View] = []
    /// Whether the server was asked for all of the node, by a plain listen.
    var isListening = false

    init(_ path: Path = .root, parent: SyncPoint? = nil) {
        self.path = path
        self.parent = parent
    }

    /// The children in key order.
    var sortedChildren: [SyncPoint] {
        children.keys.sorted().compactMap { children[$0] }
    }

    /// The first view that needs all of the node.
    var defaultView: View? { views.first(where: \.loadsEverything) }

    /// The view of a target.
    func view(_ target: ListenTarget) -> View? { views.first { $0.target == target } }

    /// The point at a path counted from the root, which this is; nil if there is none.
    func point(at path: Path) -> SyncPoint? {
        var point = self
        for level in 0..<path.keyCount {
            guard let child = point.children[path.key(at: level)] else { return nil }
            point = child
        }
        return point
    }

    /// The same; it is made if there is none.
    func makePoint(at path: Path) -> SyncPoint {
        var point = self
        for level in 0..<path.keyCount {
            let key = path.key(at: level)
            let child = point.children[key] ?? SyncPoint(path.prefix(level + 1), parent: point)
            point.children[key] = child
            point = child
        }
        return point
    }

    func append(_ view: View) { views.append(view) }

    func remove(_ view: View) { views.removeAll { $0 === view } }

    /// Forgets points that nothing leads to, from here up.
    func prune() {
        var point = self
        while point.views.isEmpty, point.children.isEmpty, let parent = point.parent {
            if let key = point.path.lastKey { parent.children[key] = nil }
            point = parent
        }
    }

    /// Hands the points at, above and below places to `body`, the deepest first, each with the
    /// places that concern it.
    func visit(_ places: [PlacedNode], _ body: (SyncPoint, [PlacedNode]) -> Void) {
        let level = path.keyCount
        if children.isEmpty || places.isEmpty {
        } else if let cover = places.first(where: { $0.covers(keyCount: level) }) {
            for child in sortedChildren { child.visit([cover], body) }
        } else if places.count == 1 {
            if places[0].target.path.keyCount > level,
                let child = children[places[0].target.path.key(at: level)]
            {
                child.visit(places, body)
            }
        } else {
            var parts: [Key: [PlacedNode]] = [:]
            for place in places where place.target.path.keyCount > level {
                let key = place.target.path.key(at: level)
                if children[key] != nil { parts[key, default: []].append(place) }
            }
            for key in parts.keys.sorted() { children[key]?.visit(parts[key] ?? [], body) }
        }
        if !views.isEmpty { body(self, places) }
    }
}
