import JSONTree
import Queries
import WireProtocol

/// One path and query: its observers, and the known data.
final class View {
    let target: ListenTarget
    /// Whether this view needs a plain listen.
    let loadsEverything: Bool
    unowned let point: SyncPoint
    /// In order of registration.
    private(set) var observers: [Observer] = []
    var data: ServerData
    /// The tag of the listen that is for this view alone, while there is one.
    var tag: Int64?
    /// Whether the disk cache has the data of the view's listen.
    var isSaved = false
    private var kinds: ObservedKinds = []
    /// What observers received last; nil while there are none.
    private var shown: Shown?
    private(set) var comparedCount = 0

    init(_ target: ListenTarget, at point: SyncPoint, _ data: ServerData) {
        self.target = target
        loadsEverything = target.query.loadsEverything
        self.point = point
        self.data = data
    }

    var path: Path { target.path }
    var spec: QuerySpec { target.query }

    /// Whether all that the query selects is known, pending writes included.
    func isComplete(_ writes: PendingWrites) -> Bool {
        data.knowsAll || data.isComplete || writes.covers(path)
    }

    /// The query's selection, pending writes included; right only when complete.
    func result(_ writes: PendingWrites) -> Node {
        shown.map(result) ?? spec.selected(of: knowledge(writes).node)
    }

    // MARK: Observers

    func add(_ observer: Observer, _ writes: PendingWrites, _ output: inout TreeOutput) {
        observers.append(observer)
        if observer.kinds.isEmpty { return }
        kinds.formUnion(observer.kinds)
        var shown = self.shown ?? Shown(known: knowledge(writes))
        if shown.window == nil && (!loadsEverything || !kinds.isDisjoint(with: .children)) {
            shown.window = Window(spec, of: shown.known.node)
        }
        if observer.kinds.contains(.value) && shown.selected == nil {
            shown.selected = selected(of: shown)
        }
        self.shown = shown
        if observer.kinds.contains(.childAdded), let window = shown.window {
            var walk = window.view.walk(in: window.children(of: shown.known.node))
            while let (key, previous, node) = walk.next() {
                let event = ChildEvent(kind: .added, key: key, previousKey: previous, node: node)
                output.events.append((observer.id, .child(event)))
            }
        }
        if observer.kinds.contains(.value) && shown.known.isComplete {
            output.events.append((observer.id, .value(result(of: shown))))
        }
    }

    func remove(_ id: ObserverID) {
        observers.removeAll { $0.id == id }
        kinds = observers.reduce([]) { $0.union($1.kinds) }
        if kinds.isEmpty { shown = nil }
        if loadsEverything && kinds.isDisjoint(with: .children) { shown?.window = nil }
        if !kinds.contains(.value) { shown?.selected = nil }
    }

    // MARK: Showing

    /// Updates the shown data from server data and writes; notifies observers of the changes.
    func refresh(_ touch: Touch, _ writes: PendingWrites, _ output: inout TreeOutput) {
        guard var shown else { return }
        self.shown = nil  // Gives up this reference, so that the window is edited in place.
        let old = shown.known
        let differences = follow(touch, &shown.known, writes)
        let node = shown.known.node
        var isChanged = !differences.isEmpty
        if isChanged, let changes = shown.window?.follow(differences, to: node) {
            isChanged = !changes.isEmpty
            for change in changes { shown.selected?.set(change.new, at: Path([change.key])) }
            if isChanged, !kinds.isDisjoint(with: .children), let window = shown.window {
                tell(window.view.events(of: changes, in: window.children(of: node)), &output)
            }
        }
        if kinds.contains(.value) && shown.known.isComplete
            && (isChanged || !old.isComplete || isOwnChanged(from: old.node, to: node))
        {
            let value = result(of: shown)
            for observer in observers where observer.kinds.contains(.value) {
                output.events.append((observer.id, .value(value)))
            }
        }
        self.shown = shown
    }

    private func tell(_ events: [ChildEvent], _ output: inout TreeOutput) {
        for event in events {
            let kind = ObservedKinds(event.kind)
            if kinds.isDisjoint(with: kind) { continue }
            for observer in observers where observer.kinds.contains(kind) {
                output.events.append((observer.id, .child(event)))
            }
        }
    }

    /// Whether the node itself, its children aside, shows and is another.
    private func isOwnChanged(from old: Node, to new: Node) -> Bool {
        if !loadsEverything { return false }
        if new.isMap && old.isMap { return old.priority != new.priority }
        return old != new
    }

    private func result(of shown: Shown) -> Node {
        let node = shown.known.node
        return loadsEverything ? node : shown.selected ?? spec.selected(of: node)
    }

    /// The window's selection; nil if that is everything. O(log n) for each selected child.
    private func selected(of shown: Shown) -> Node? {
        if loadsEverything { return nil }
        return shown.window.map { $0.view.result(in: $0.children(of: shown.known.node)) }
    }

    // MARK: Pending writes over server data

    private func knowledge(_ writes: PendingWrites) -> Knowledge {
        let isWhole = data.knowsAll || writes.covers(path)
        return Knowledge(
            node: known(isWhole: isWhole, writes),
            isWhole: isWhole,
            isComplete: isWhole || data.isComplete,
        )
    }

    /// Updates the known data from server data and writes; returns which children differ.
    private func follow(
        _ touch: Touch,
        _ known: inout Knowledge,
        _ writes: PendingWrites,
    ) -> [ChildDifference] {
        let old = known
        let isWhole = data.knowsAll || writes.covers(path)
        let isComplete = isWhole || data.isComplete
        let differences: [ChildDifference]
        if case .locations(let locations) = touch, isWhole == old.isWhole {
            let node = self.known(after: locations, old, writes)
            known = Knowledge(node: node, isWhole: isWhole, isComplete: isComplete)
            differences = self.differences(under: locations, from: old.node, to: node)
        } else {
            let node = self.known(isWhole: isWhole, writes)
            known = Knowledge(node: node, isWhole: isWhole, isComplete: isComplete)
            differences = ChildDifference.all(from: old.node, to: node, limit: .max) ?? []
        }
        comparedCount += differences.count
        return differences
    }

    /// The result of pending writes over all of the server's data. O(locations of pending writes below the path).
    private func known(isWhole: Bool, _ writes: PendingWrites) -> Node {
        if isWhole { return writes.overlay(path, on: data.base) }
        var known = data.base
        for key in writes.childKeys(of: path) {
            known.set(knownChild(key, writes), at: Path([key]))
        }
        return known
    }

    /// A child if all of it is known, else absent.
    private func knownChild(_ key: Key, _ writes: PendingWrites) -> Node {
        let base = data.base.child(key)
        let path = self.path.appending(key)
        if base.isAbsent && !writes.covers(path) { return .absent }
        return writes.overlay(path, on: base)
    }

    /// The result of pending writes over the server's data after a change of these locations.
    private func known(
        after locations: [WriteTarget],
        _ old: Knowledge,
        _ writes: PendingWrites,
    ) -> Node {
        if !writes.touches(path) { return data.base }
        var known = old.node
        for location in locations { remake(&known, location.path, isWhole: old.isWhole, writes) }
        return known
    }

    /// Computes the part of `known` at a path below the view again. The part grows upwards while that makes a map of
    /// another node, or removes a map: data below the pending writes may then become visible.
    private func remake(
        _ known: inout Node,
        _ location: Path,
        isWhole: Bool,
        _ writes: PendingWrites,
    ) {
        let top = path.keyCount
        var level = top
        var node = known
        while level < location.keyCount && node.isMap {
            // The server's node may be gone, and the priority that it had.
            if !node.priority.isAbsent {
                let below = location.prefix(level).dropFirst(top)
                if data.base.descendant(at: below).isAbsent { break }
            }
            node = location.withKey(at: level) { node.child($0) }
            level += 1
        }
        if !isWhole {
            if location.keyCount == top { return }
            // A node that is not fully known may have some of its children.
            let key = location.key(at: top)
            if data.base.child(key).isAbsent && !writes.covers(location.prefix(top + 1)) {
                known.set(.absent, at: Path([key]))
                return
            }
            level = max(level, top + 1)
        }
        while true {
            let below = location.prefix(level).dropFirst(top)
            let part = writes.overlay(location.prefix(level), on: data.base.descendant(at: below))
            known.set(part, at: below)
            if !part.isAbsent || level == top + (isWhole ? 0 : 1) { return }
            if known.descendant(at: below.prefix(level - top - 1)).isMap { return }
            level -= 1
        }
    }

    /// The children that differ, among those that contain these locations, in key order.
    private func differences(
        under locations: [WriteTarget],
        from old: Node,
        to new: Node,
    ) -> [ChildDifference] {
        let level = path.keyCount
        var keys: [Key] = []
        for location in locations where location.path.keyCount > level {
            keys.append(location.path.key(at: level))
        }
        if keys.count > 1 { keys = Array(Set(keys)).sorted() }
        var differences: [ChildDifference] = []
        for key in keys {
            let (before, after) = (old.child(key), new.child(key))
            if before == after { continue }
            differences.append(ChildDifference(key: key, old: before, new: after))
        }
        return differences
    }
}

extension ObservedKinds {
    init(_ kind: ChildEventKind) {
        switch kind {
        case .added: self = .childAdded
        case .removed: self = .childRemoved
        case .changed: self = .childChanged
        case .moved: self = .childMoved
        }
    }
}
