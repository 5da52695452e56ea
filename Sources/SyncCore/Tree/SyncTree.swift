import JSONTree
import Queries
import WireProtocol

/// What the client knows of the data and what it shows of it: server data, pending writes over it,
/// and views.
///
/// Data flows one way: server data and pending writes change, each view's node is made anew from
/// them, and the difference to what it showed is what its observers are told.
///
/// A plain listen at a path covers the views there and below: the server tells them all through it,
/// without a tag. Other views that are not covered have a listen each.
final class SyncTree {
    /// Whether `TreeOutput.stored` is filled.
    let isStored: Bool

    let root = SyncPoint()
    var writes = PendingWrites()
    var closed: ClosedListens
    /// The views with a tagged listen.
    var tagged: [Int64: View] = [:]
    var lastTag: Int64 = 0
    /// The view of each observer.
    private var views: [ObserverID: View] = [:]
    /// Views brought up to date so far.
    private(set) var refreshedCount = 0

    init(isStored: Bool, closedByteCount: Int = TreeLimits.closedByteCount) {
        self.isStored = isStored
        closed = ClosedListens(byteLimit: closedByteCount)
    }

    // MARK: Observers

    /// Adds an observer; tells it what is known, and starts a listen if none covers it.
    func add(_ observer: Observer, _ output: inout TreeOutput) {
        let target = observer.target
        let point = root.makePoint(at: target.path)
        let view: View
        if let found = point.view(target) {
            view = found
        } else {
            let needsListen = point.defaultView == nil && !isCovered(point)
            var data = initialData(target, at: point)
            if needsListen && data.isComplete { data.narrow(target.query) }
            view = View(target, at: point, data)
            point.append(view)
            if needsListen { startListen(view, &output) }
        }
        views[observer.id] = view
        view.add(observer, writes, &output)
    }

    /// Removes an observer; stops its listen if nobody else needs it. Unknown ones are ignored.
    func remove(_ id: ObserverID, _ output: inout TreeOutput) {
        guard let view = views.removeValue(forKey: id) else { return }
        view.remove(id)
        if !view.observers.isEmpty { return }
        let point = view.point
        let hadListen = point.isListening && point.defaultView === view
        point.remove(view)
        if view.tag != nil {
            stopListen(view, &output)
        } else if hadListen, let next = point.defaultView {
            next.isSaved = view.isSaved
            next.data.takeListen(of: view.data)
        } else if hadListen {
            uncover(point, &output)
            stopListen(at: point, of: view, &output)
        }
        point.prune()
    }

    /// The server refused or revoked a listen: its observers are told and removed.
    ///
    /// Those of a plain listen are those of all queries at the path: it is the listen of all of
    /// them, as in the official clients. Ignored when there is no such listen.
    func revoke(_ target: ListenTarget, _ failure: SyncFailure, _ output: inout TreeOutput) {
        guard let point = root.point(at: target.path) else { return }
        let isDefault = target.query.loadsEverything
        let revoked = point.views.filter { isDefault || $0.target == target }
        guard let first = revoked.first else { return }
        if isDefault ? !point.isListening : first.tag == nil { return }
        for view in revoked {
            point.remove(view)
            for observer in view.observers {
                views[observer.id] = nil
                output.events.append((observer.id, .cancelled(failure)))
            }
        }
        if let tag = first.tag { tagged[tag] = nil }
        first.tag = nil
        if isDefault {
            point.isListening = false
            uncover(point, &output)
        }
        forget(isDefault ? ListenTarget(path: target.path) : target, &output)
        point.prune()
    }

    // MARK: Pending writes

    /// Lays a write over the data. A hidden one (a transaction that does not apply locally) shows
    /// in `node(at:includingHidden:)` alone.
    func write(_ id: WriteID, _ write: LocalWrite, isVisible: Bool, _ output: inout TreeOutput) {
        let places = write.places
        writes.add(id, places, isVisible: isVisible)
        if isVisible { refresh(places, &output) }
    }

    /// Takes a write away: the server's data has it now, or it was refused. Unknown ones are
    /// ignored.
    func settle(_ id: WriteID, isRefused: Bool, _ output: inout TreeOutput) {
        guard let (places, isVisible) = writes.remove(id), isVisible else { return }
        if !isRefused {
            root.visit(places) { point, places in
                for view in point.views where !view.data.isLive {
                    view.data.keep(places, point.path)
                }
            }
        }
        refresh(places, &output)
    }

    /// Takes writes away that will not come to be, as one change.
    func refuse(_ ids: [WriteID], _ output: inout TreeOutput) {
        var places: [PlacedNode] = []
        for id in ids {
            if let (removed, isVisible) = writes.remove(id), isVisible { places += removed }
        }
        if !places.isEmpty { refresh(places, &output) }
    }

    /// Brings the views that places concern to the state of the pending writes.
    private func refresh(_ places: [PlacedNode], _ output: inout TreeOutput) {
        root.visit(places) { point, places in
            let touch = Touch(places, of: point.path)
            for view in point.views { refresh(view, touch, &output) }
        }
    }

    /// Brings what a view shows to the state of its data and the pending writes.
    func refresh(_ view: View, _ touch: Touch, _ output: inout TreeOutput) {
        refreshedCount += 1
        view.refresh(touch, writes, &output)
    }

    // MARK: Server data

    /// The server says that a place is now exactly this; a tag names the query that it is for.
    func apply(_ target: WriteTarget, _ node: Node, tag: Int64?, _ output: inout TreeOutput) {
        let places = [PlacedNode(target: target, node: node)]
        apply(target.path, places, tag: tag, isMerge: false, &output)
    }

    /// The server says that places (counted from the root) are now exactly these, as one change.
    func merge(
        _ base: Path,
        _ places: [(target: WriteTarget, node: Node)],
        tag: Int64?,
        _ output: inout TreeOutput,
    ) {
        let places = places.map { PlacedNode(target: $0.target, node: $0.node) }
        apply(base, places, tag: tag, isMerge: true, &output)
    }

    /// The server says that the leaves of intervals are now exactly these.
    ///
    /// Ignored where no complete data is known: the server counts on it.
    func merge(_ base: Path, _ ranges: [RangeMerge], tag: Int64?, _ output: inout TreeOutput) {
        let view = tag.map { tagged[$0] } ?? root.point(at: base)?.defaultView
        guard let view, view.data.isComplete, view.path == base else { return }
        var node = view.data.node
        for range in ranges { node.apply(range) }
        apply(WriteTarget(path: base), node, tag: tag, &output)
    }

    private func apply(
        _ base: Path,
        _ places: [PlacedNode],
        tag: Int64?,
        isMerge: Bool,
        _ output: inout TreeOutput,
    ) {
        if let tag {
            guard let view = tagged[tag], view.path.isPrefix(of: base) else { return }
            apply(places, to: view, isTagged: true, isMerge: isMerge, &output)
            return
        }
        root.visit(places) { point, places in
            for view in point.views {
                apply(places, to: view, isTagged: false, isMerge: isMerge, &output)
            }
        }
    }

    private func apply(
        _ places: [PlacedNode],
        to view: View,
        isTagged: Bool,
        isMerge: Bool,
        _ output: inout TreeOutput,
    ) {
        let old = view.data.node
        let touch = view.data.apply(
            places,
            view.path,
            view.spec,
            hasTag: view.tag != nil,
            isTagged: isTagged,
            isMerge: isMerge,
        )
        guard let touch else { return }
        save(view, touch, from: old, &output)
        refresh(view, touch, &output)
    }

    /// The server answered a listen with ok: what it sent is all there is. It may say that it has no
    /// index for the query.
    func listenAnswered(
        _ target: ListenTarget,
        tag: Int64?,
        isUnindexed: Bool = false,
        _ output: inout TreeOutput,
    ) {
        if let tag {
            guard let view = tagged[tag] else { return }
            let old = view.data.node
            let isNew = view.data.complete(view.spec, isUnindexed: isUnindexed)
            finish(view, isNew: isNew, from: old, &output)
            return
        }
        guard let point = root.point(at: target.path), point.isListening,
            let view = point.defaultView
        else { return }
        let old = view.data.node
        let isNew = view.data.complete(view.spec, isUnindexed: isUnindexed)
        let answer = view.data.node
        let place = PlacedNode(target: WriteTarget(path: target.path), node: answer)
        point.visit([place]) { point, _ in
            let part = answer.descendant(at: point.path.dropFirst(target.path.keyCount))
            for other in point.views {
                if other === view {
                    finish(view, isNew: isNew, from: old, &output)
                } else if other.data.complete(part) {
                    refresh(other, .everything, &output)
                }
            }
        }
    }

    /// The server answered a plain listen, or the end of one, that was followed by another of the
    /// same place.
    func earlierListenAnswered(_ target: ListenTarget) {
        root.point(at: target.path)?.defaultView?.data.receiveEarlierAnswer()
    }

    private func finish(_ view: View, isNew: Bool, from old: Node, _ output: inout TreeOutput) {
        if !view.isSaved || !view.data.node.isIdentical(to: old) {
            save(view, .everything, from: old, &output)
        }
        if isNew { refresh(view, .everything, &output) }
    }
}

extension LocalWrite {
    /// What the write puts where.
    var places: [PlacedNode] {
        switch self {
        case .set(let target, let node): [PlacedNode(target: target, node: node)]
        case .merge(let places): places.map { PlacedNode(target: $0.target, node: $0.node) }
        }
    }
}
