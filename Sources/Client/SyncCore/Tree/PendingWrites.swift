import JSONTree

/// Writes that the server has not acknowledged, in order, found by where they write. Their result at a node depends
/// only on the node and on the writes at, above and below it: the latest write that covers the node replaces it, and
/// later ones below change parts of that. A map exists while it has a child; its priority is that of the latest write
/// of it, or the server's. So a single part can be computed again.
struct PendingWrites {
    private struct Write {
        let locations: [LocatedNode]
        let isVisible: Bool
    }

    private var writes: [WriteID: Write] = [:]
    private let root = WriteNode()

    var visitedCount: Int { root.count.visited }

    var isEmpty: Bool { writes.isEmpty }

    mutating func add(_ id: WriteID, _ locations: [LocatedNode], isVisible: Bool) {
        writes[id] = Write(locations: locations, isVisible: isVisible)
        for location in locations {
            let entry = WriteStack.Entry(id: id, node: location.node, isVisible: isVisible)
            root.add(entry, at: location.target)
        }
    }

    /// Takes a write away and returns where it wrote; nil if there is none.
    mutating func remove(_ id: WriteID) -> (locations: [LocatedNode], isVisible: Bool)? {
        guard let write = writes.removeValue(forKey: id) else { return nil }
        for location in write.locations { _ = root.remove(id, at: location.target, 0) }
        return (write.locations, write.isVisible)
    }

    /// Whether a write replaces a whole node there.
    func covers(_ path: Path, _ layer: WriteLayer = .visible) -> Bool {
        if writes.isEmpty { return false }
        var isCovered = false
        root.visit(path) { node, _ in
            if node.sets.latest(layer) != nil { isCovered = true }
            return !isCovered
        }
        return isCovered
    }

    func touches(_ path: Path) -> Bool {
        if writes.isEmpty { return false }
        var isTouched = false
        root.visit(path) { node, level in
            isTouched = level == path.keyCount || !node.sets.isEmpty
            return !isTouched
        }
        return isTouched
    }

    /// Keys of children of a node at or below which there are writes; in no order.
    func childKeys(of path: Path) -> [Key] {
        if writes.isEmpty { return [] }
        var keys: [Key] = []
        root.visit(path) { node, level in
            if level == path.keyCount { keys = Array(node.children.keys) }
            return true
        }
        return keys
    }

    /// The result of the writes at a path, over the data `base` below them.
    func overlay(_ path: Path, on base: Node, _ layer: WriteLayer = .visible) -> Node {
        if writes.isEmpty { return base }
        var cover: (entry: WriteStack.Entry, level: Int)?
        var end: WriteNode?
        root.visit(path) { node, level in
            if let entry = node.sets.latest(layer), entry.id > cover?.entry.id ?? .none {
                cover = (entry, level)
            }
            if level == path.keyCount { end = node }
            return true
        }
        let below = cover.map { $0.entry.node.descendant(at: path.dropFirst($0.level)) } ?? base
        return end?.overlay(on: below, after: cover?.entry.id ?? .none, layer) ?? below
    }
}

extension WriteID {
    fileprivate static let none = WriteID(.min)
}

/// The pending writes at one location, and below it.
private final class WriteNode {
    /// How much was done, counted for the whole tree.
    final class Count {
        var visited = 0
    }

    var sets = WriteStack()
    var priorities = WriteStack()
    var children: [Key: WriteNode] = [:]
    /// No write here or below is later.
    private var newest = WriteID.none
    let count: Count

    init(_ count: Count = Count()) { self.count = count }

    /// Calls `body` with the existing nodes from here to the one at `path`, until it returns false.
    func visit(_ path: Path, _ body: (WriteNode, Int) -> Bool) {
        var node = self
        for level in 0...path.keyCount {
            count.visited += 1
            if !body(node, level) || level == path.keyCount || node.children.isEmpty { return }
            guard let child = node.children[path.key(at: level)] else { return }
            node = child
        }
    }

    func add(_ entry: WriteStack.Entry, at target: WriteTarget) {
        var node = self
        node.newest = max(node.newest, entry.id)
        for level in 0..<target.path.keyCount {
            let key = target.path.key(at: level)
            let child = node.children[key] ?? WriteNode(count)
            node.children[key] = child
            child.newest = max(child.newest, entry.id)
            node = child
        }
        if target.isPriority { node.priorities.add(entry) } else { node.sets.add(entry) }
    }

    /// Returns whether nothing is left here and below.
    func remove(_ id: WriteID, at target: WriteTarget, _ level: Int) -> Bool {
        if level == target.path.keyCount {
            if target.isPriority { priorities.remove(id) } else { sets.remove(id) }
        } else {
            let key = target.path.key(at: level)
            if let child = children[key], child.remove(id, at: target, level + 1) {
                children[key] = nil
            }
        }
        return children.isEmpty && sets.isEmpty && priorities.isEmpty
    }

    /// The result for a node of the writes here and below that are later than `id`.
    func overlay(on base: Node, after id: WriteID, _ layer: WriteLayer) -> Node {
        count.visited += 1
        var id = id
        var base = base
        if let entry = sets.latest(layer), entry.id > id {
            id = entry.id
            base = entry.node
        }
        var result = base
        var removed: [Key] = []
        // In any order: the parts are apart. Removals come last, or a map could vanish in between.
        for (key, child) in children where child.newest > id {
            let old = base.child(key)
            let new = child.overlay(on: old, after: id, layer)
            if new.isAbsent {
                if !old.isAbsent { removed.append(key) }
            } else if !new.isIdentical(to: old) {
                result.set(new, at: Path([key]))
            }
        }
        for key in removed { result.set(.absent, at: Path([key])) }
        // A write below a leaf made it a map, which ended with its last child.
        if result.isLeaf, children.contains(where: { $0.value.fills(after: id, layer) }) {
            return .absent
        }
        guard let priority = priorities.latest(layer), priority.id > id else { return result }
        return result.settingPriority(priority.node)
    }

    /// Whether a write here or below, later than `id`, has a value there.
    private func fills(after id: WriteID, _ layer: WriteLayer) -> Bool {
        if newest <= id { return false }
        return sets.fills(after: id, layer)
            || children.contains { $0.value.fills(after: id, layer) }
    }
}
