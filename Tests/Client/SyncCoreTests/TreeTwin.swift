import JSONTree
import Queries
import WireProtocol

@testable import SyncCore

/// A tree of views that recomputes everything at each step, from lists.
struct TreeTwin {
    struct View {
        let target: ListenTarget
        let path: [String]
        var observers: [Observer]
        var data: TwinData
        var known = Plain.absent
        var isComplete = false

        var spec: QuerySpec { target.query }
    }

    /// In order of creation.
    private(set) var views: [View] = []
    private var writes: [TwinWrite] = []
    private(set) var tags: [Int64: ListenTarget] = [:]
    /// Server data of listens that are closed, and kept.
    var closed: [ListenTarget: Plain] = [:]
    let isStored: Bool
    private var events: [String] = []

    init(isStored: Bool) {
        self.isStored = isStored
    }

    // MARK: Steps, each of which returns what observers receive

    mutating func add(_ observer: Observer) -> [String] {
        events = []
        let path = Plain.keys(observer.target.path)
        if let place = views.firstIndex(where: { $0.target == observer.target }) {
            views[place].observers.append(observer)
        } else {
            let before = neededListens
            var data = initialData(observer.target, path)
            let isCovered = views.contains { $0.spec.loadsEverything && path.starts(with: $0.path) }
            if !isCovered && data.isComplete { data.narrow(observer.target.query) }
            views.append(
                View(target: observer.target, path: path, observers: [observer], data: data)
            )
            remake(views.count - 1)
            close(before.filter { !neededListens.contains($0) })
            neededListens.forEach { closed[$0] = nil }
        }
        guard let view = views.first(where: { $0.target == observer.target }) else { return [] }
        var previous: String?
        for (key, child) in PlainOrder.selected(view.known, view.spec) {
            tell([observer], .childAdded, "added \(key) after \(previous ?? "-")", child)
            previous = key
        }
        if view.isComplete { tell([observer], .value, "value", value(view)) }
        return events
    }

    mutating func remove(_ id: ObserverID) -> [String] {
        events = []
        let all = views
        for place in views.indices { views[place].observers.removeAll { $0.id == id } }
        drop(all)
        return events
    }

    mutating func revoke(_ target: ListenTarget) -> [String] {
        events = []
        let all = views
        let listens = neededListens
        guard listens.contains(target) else { return [] }
        let dataBefore = closed
        for place in views.indices {
            let view = views[place]
            let isMeant =
                target.query.loadsEverything
                ? view.target.path == target.path
                : view.target == target
            if !isMeant { continue }
            for observer in view.observers { events.append("\(observer.id.value) cancelled") }
            views[place].observers = []
        }
        drop(all)
        closed[target] = nil
        _ = dataBefore
        return events
    }

    mutating func write(_ id: WriteID, _ places: [PlainPlace], isVisible: Bool) -> [String] {
        events = []
        writes.append(TwinWrite(id: id, places: places, isVisible: isVisible))
        refresh()
        return events
    }

    mutating func settle(_ id: WriteID, isRefused: Bool) -> [String] {
        events = []
        guard let place = writes.firstIndex(where: { $0.id == id }) else { return [] }
        let write = writes.remove(at: place)
        if write.isVisible && !isRefused {
            for place in views.indices where !views[place].data.isLive {
                views[place].data.keep(write.places, views[place].path)
            }
        }
        refresh()
        return events
    }

    mutating func apply(_ places: [PlainPlace], tag: Int64?, isMerge: Bool) -> [String] {
        events = []
        let target = tag.map { tags[$0] }
        let needed = neededListens
        for place in views.indices {
            let view = views[place]
            if let target, target != view.target { continue }
            let mine = places.filter { $0.concerns(view.path) }
            if mine.isEmpty { continue }
            views[place].data.apply(
                mine,
                view.path,
                view.spec,
                hasTag: !view.spec.loadsEverything && needed.contains(view.target),
                isTagged: tag != nil,
                isMerge: isMerge
            )
        }
        refresh()
        return events
    }

    mutating func answered(
        _ target: ListenTarget,
        tag: Int64?,
        isUnindexed: Bool,
    ) -> [String] {
        events = []
        if tag == nil && !neededListens.contains(target) { return [] }
        if let tag, tags[tag] == nil { return [] }
        let path = Plain.keys(target.path)
        let own = views.firstIndex {
            tag == nil ? $0.path == path && $0.spec.loadsEverything : $0.target == target
        }
        guard let own else { return [] }
        views[own].data.complete(views[own].spec, isUnindexed: isUnindexed)
        let answer = views[own].data.node
        for place in views.indices where tag == nil && place != own {
            let other = views[place].path
            if other.starts(with: path) {
                views[place].data.complete(answer[other.dropFirst(path.count)])
            }
        }
        refresh()
        return events
    }

    /// A listen is sent.
    mutating func send(_ target: ListenTarget) {
        let own = views.firstIndex {
            target.query.loadsEverything
                ? $0.target.path == target.path && $0.spec.loadsEverything : $0.target == target
        }
        if let own { views[own].data.send() }
    }

    mutating func note(_ changes: [ListenChange]) {
        for change in changes {
            switch change {
            case .start(let target, let tag): if let tag { tags[tag] = target }
            case .stop(_, let tag): if let tag { tags[tag] = nil }
            }
        }
        tags = tags.filter { tag in neededListens.contains(tag.value) }
    }

    // MARK: Listens

    /// The listens that the server must have.
    var neededListens: Set<ListenTarget> {
        var needed: Set<ListenTarget> = []
        for view in views {
            let above = views.contains {
                $0.spec.loadsEverything && $0.path.count < view.path.count
                    && view.path.starts(with: $0.path)
            }
            let here = views.contains { $0.spec.loadsEverything && $0.path == view.path }
            if above || here && !view.spec.loadsEverything { continue }
            needed.insert(here ? ListenTarget(path: view.target.path) : view.target)
        }
        return needed
    }

    /// Forgets views that no one observes; what they covered listens for itself from then on.
    private mutating func drop(_ all: [View]) {
        let before = neededListens
        let gone = views.filter(\.observers.isEmpty)
        views.removeAll(where: \.observers.isEmpty)
        for view in gone where view.data.sent != nil && view.spec.loadsEverything {
            // Another view of the same listen goes on with it.
            let next = views.firstIndex { $0.path == view.path && $0.spec.loadsEverything }
            guard let next, views[next].data.sent == nil else { continue }
            views[next].data.sent = view.data.sent
            views[next].data.isSentFiltered = view.data.isSentFiltered
        }
        let opened = neededListens.subtracting(before)
        for place in views.indices where opened.contains(views[place].target) {
            if views[place].data.isComplete { views[place].data.narrow(views[place].spec) }
        }
        for target in opened { closed[target] = nil }
        let lost = before.subtracting(neededListens)
        for view in gone {
            let listen =
                view.spec.loadsEverything ? ListenTarget(path: view.target.path) : view.target
            if isStored && lost.contains(listen) && view.data.isComplete {
                closed[listen] = view.data.node
            }
        }
        refresh()
    }

    private mutating func close(_ targets: [ListenTarget]) {
        if !isStored { return }
        for target in targets {
            let view = views.first {
                target.query.loadsEverything
                    ? $0.spec.loadsEverything && $0.target.path == target.path
                    : $0.target == target
            }
            if let view, view.data.isComplete { closed[target] = view.data.node }
        }
    }

    /// What a new view can know: the nearest plain view's data, a child that a query above selects,
    /// what was closed, or plain views one key below.
    private func initialData(_ target: ListenTarget, _ path: [String]) -> TwinData {
        let covers = views.filter { $0.spec.loadsEverything && path.starts(with: $0.path) }
        if let cover = covers.filter({ $0.data.knowsAll }).max(by: { $0.path.count < $1.path.count }
        ) {
            return cover.data.descendant(path.dropFirst(cover.path.count))
        }
        for count in (0..<path.count).reversed() {
            for view in views where view.path == Array(path[..<count]) && view.data.isComplete {
                if view.data.node.child(path[count]).isAbsent { continue }
                var data = view.data.descendant(path[count...])
                data.isFiltered = false
                data.isLive = false
                return data
            }
        }
        if !target.query.loadsEverything, let node = closed[target] {
            return TwinData(node: node, base: node, isComplete: true, isFiltered: true)
        }
        for count in (0...path.count).reversed() {
            guard let node = closed[ListenTarget(path: Plain.path(Array(path[..<count])))] else {
                continue
            }
            let part = node[path[count...]]
            return TwinData(node: part, base: part, isComplete: true)
        }
        var data = TwinData()
        for view in views where view.path.count == path.count + 1 && view.path.starts(with: path) {
            if !view.spec.loadsEverything || !view.data.isComplete { continue }
            data.node.set(view.data.node, at: view.path.suffix(1))
        }
        data.base = data.node
        return data
    }

    // MARK: Showing

    /// Recomputes what is shown of everything and tells what changed.
    private mutating func refresh() {
        // Children before their parents, children in key order; one path in order of creation.
        let order = views.indices.sorted { isTold(views[$0].path, before: views[$1].path, $0 < $1) }
        for place in order {
            let old = views[place]
            remake(place)
            tell(from: old, to: views[place])
        }
    }

    private func isTold(_ a: [String], before b: [String], _ isOlder: Bool) -> Bool {
        for (x, y) in zip(a, b) where x != y { return PlainOrder.isBefore(x, y) }
        return a.count != b.count ? a.count > b.count : isOlder
    }

    private mutating func remake(_ place: Int) {
        let view = views[place]
        let visible = writes.filter(\.isVisible).flatMap(\.places)
        let isWhole = view.data.knowsAll || visible.contains { $0.covers(view.path) }
        var known = Plain.absent
        if isWhole {
            known = TwinWrite.overlay(visible[...], view.data.base, view.path)
        } else {
            var keys = Set(view.data.base.children.keys)
            for write in visible where write.covers(Array(write.path.prefix(view.path.count + 1))) {
                if write.path.count == view.path.count + 1 && write.path.starts(with: view.path) {
                    keys.insert(write.path[view.path.count])
                }
            }
            for key in keys {
                let child = TwinWrite.overlay(
                    visible[...],
                    view.data.base.child(key),
                    view.path + [key]
                )
                if !child.isAbsent { known.children[key] = child }
            }
        }
        views[place].known = known
        views[place].isComplete = isWhole || view.data.isComplete
    }

    private func value(_ view: View) -> Plain { PlainOrder.result(view.known, view.spec) }

    private mutating func tell(from old: View, to new: View) {
        let before = PlainOrder.selected(old.known, old.spec)
        let after = PlainOrder.selected(new.known, new.spec)
        let count = events.count
        var isChanged = false
        for (key, child) in before where !after.contains(where: { $0.key == key }) {
            isChanged = true
            tell(new.observers, .childRemoved, "removed \(key)", child)
        }
        for kind in [ObservedKinds.childAdded, .childMoved, .childChanged] {
            for (place, (key, child)) in after.enumerated() {
                let previous = place == 0 ? "-" : after[place - 1].key
                let was = before.first { $0.key == key }?.child
                if let was, was == child { continue }
                isChanged = true
                let isMoved = was.map { PlainOrder.isMoved($0, child, new.spec.index) } ?? false
                let name: String
                switch kind {
                case .childAdded where was == nil: name = "added"
                case .childMoved where isMoved: name = "moved"
                case .childChanged where was != nil: name = "changed"
                default: continue
                }
                tell(new.observers, kind, "\(name) \(key) after \(previous)", child)
            }
        }
        _ = count
        var isOwnChanged = false
        if new.spec.loadsEverything {
            isOwnChanged = old.known.priority != new.known.priority
            if !new.known.isMap || !old.known.isMap { isOwnChanged = old.known != new.known }
        }
        if new.isComplete && (isChanged || !old.isComplete || isOwnChanged) {
            tell(new.observers, .value, "value", value(new))
        }
    }

    private mutating func tell(
        _ observers: [Observer],
        _ kind: ObservedKinds,
        _ text: String,
        _ node: Plain,
    ) {
        for observer in observers where observer.kinds.contains(kind) {
            events.append(
                "\(observer.id.value) \(text) \(String(decoding: node.node.json(), as: UTF8.self))"
            )
        }
    }
}

/// A pending write of a twin.
struct TwinWrite {
    let id: WriteID
    let places: [PlainPlace]
    let isVisible: Bool

    /// What writes, oldest first, make of the node at a path.
    ///
    /// The last that covers the node takes its place; later ones change its children and its
    /// priority.
    static func overlay(_ writes: ArraySlice<PlainPlace>, _ base: Plain, _ path: [String]) -> Plain
    {
        var base = base
        var later = writes
        if let last = writes.lastIndex(where: { $0.covers(path) }) {
            base = writes[last].value[path.dropFirst(writes[last].path.count)]
            later = writes[(last + 1)...]
        }
        var result = base
        for write in later where write.path.count > path.count && write.path.starts(with: path) {
            let key = write.path[path.count]
            let child = overlay(later, base.child(key), path + [key])
            result.children[key] = child.isAbsent ? nil : child
        }
        let isFilled = later.contains {
            $0.path.count > path.count && $0.path.starts(with: path) && !$0.isPriority
                && !$0.value.isAbsent
        }
        if result.isMap || isFilled { result.scalar = nil }
        if result.isAbsent { return .absent }
        if let last = later.last(where: { $0.isPriority && $0.path == path }) {
            result.priority = last.value.scalar
        }
        return result
    }
}
