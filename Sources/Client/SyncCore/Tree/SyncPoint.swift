import JSONTree
import WireProtocol

/// A path with views, or on the way to one.
final class SyncPoint {
    let path: Path
    /// Nil for the root.
    private(set) unowned var parent: SyncPoint?
    private(set) var children: [Key: SyncPoint] = [:]
    private(set) var views: [View] = []
    /// Whether the server was asked for all of the node, by a plain listen.
    var isListening = false

    init(_ path: Path = .root, parent: SyncPoint? = nil) {
        self.path = path
        self.parent = parent
    }

    var sortedChildren: [SyncPoint] { children.keys.sorted().compactMap { children[$0] } }

    var defaultView: View? { views.first(where: \.loadsEverything) }

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

    /// Calls `body` with the points at, above and below locations, the deepest first, each with the locations that
    /// concern it.
    func visit(_ locations: [LocatedNode], _ body: (SyncPoint, [LocatedNode]) -> Void) {
        let level = path.keyCount
        if children.isEmpty || locations.isEmpty {
        } else if let cover = locations.first(where: { $0.covers(keyCount: level) }) {
            for child in sortedChildren { child.visit([cover], body) }
        } else if locations.count == 1 {
            if locations[0].target.path.keyCount > level,
                let child = children[locations[0].target.path.key(at: level)]
            {
                child.visit(locations, body)
            }
        } else {
            var parts: [Key: [LocatedNode]] = [:]
            for location in locations where location.target.path.keyCount > level {
                let key = location.target.path.key(at: level)
                if children[key] != nil { parts[key, default: []].append(location) }
            }
            for key in parts.keys.sorted() { children[key]?.visit(parts[key] ?? [], body) }
        }
        if !views.isEmpty { body(self, locations) }
    }
}
