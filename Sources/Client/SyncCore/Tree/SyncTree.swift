import JSONTree
import Queries
import WireProtocol

/// The known data and the shown data: server data, pending writes over it, and views.
///
/// Data flows one way: server data and pending writes change, each view computes its node from them, and its
/// observers get the difference to the node before.
///
///     pending writes   2  update /room        n: 2         the newest lies on top
///                      1  put    /room/topic  "milk"
///     server data                /room        { n: 1, topic: "tea" }
///                                             ──────────────────────
///     a view shows               /room        { n: 2, topic: "milk" }
///
///     the server sends topic: "milk", then accepts 1     write 1 goes; the view shows the same, nothing is sent
///     the server refuses 2                               write 2 goes; the view shows n: 1, observers get that
///
/// A plain listen at a path covers the views there and below: the server sends their data through it, without a tag.
/// Each view that is not covered has its own listen.
final class SyncTree {
    /// Whether `TreeOutput.stored` is filled.
    let isStored: Bool

    let root = SyncPoint()
    var writes = PendingWrites()
    var closed: ClosedListens
    var tagged: [Int64: View] = [:]
    var lastTag: Int64 = 0
    private var views: [ObserverID: View] = [:]
    /// Views brought up to date so far.
    private(set) var refreshedCount = 0

    init(isStored: Bool, closedByteCount: Int = TreeLimits.closedByteCount) {
        self.isStored = isStored
        closed = ClosedListens(byteLimit: closedByteCount)
    }

    // MARK: Observers

    /// Adds an observer, notifies it of the known data, and starts a listen if none covers it.
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

    /// Removes an observer, and stops its listen if no other needs it. Ignores unknown ones.
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

    /// The server refused or revoked a listen: its observers are notified and removed. A plain listen has the observers
    /// of all queries at its path, as in the official clients. Ignored if there is no such listen.
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
    func write(
        _ id: WriteID,
        _ locations: [LocatedNode],
        isVisible: Bool,
        _ output: inout TreeOutput,
    ) {
        writes.add(id, locations, isVisible: isVisible)
        if isVisible { refresh(locations, &output) }
    }

    /// Takes a write away: the server's data has it now, or it was refused. Unknown ones are ignored.
    func settle(_ id: WriteID, isRefused: Bool, _ output: inout TreeOutput) {
        guard let (locations, isVisible) = writes.remove(id), isVisible else { return }
        if !isRefused {
            root.visit(locations) { point, locations in
                for view in point.views where !view.data.isLive {
                    view.data.keep(locations, point.path)
                }
            }
        }
        refresh(locations, &output)
    }

    func refuse(_ ids: [WriteID], _ output: inout TreeOutput) {
        var locations: [LocatedNode] = []
        for id in ids {
            if let (removed, isVisible) = writes.remove(id), isVisible { locations += removed }
        }
        if !locations.isEmpty { refresh(locations, &output) }
    }

    private func refresh(_ locations: [LocatedNode], _ output: inout TreeOutput) {
        root.visit(locations) { point, locations in
            let touch = Touch(locations, of: point.path)
            for view in point.views { refresh(view, touch, &output) }
        }
    }

    func refresh(_ view: View, _ touch: Touch, _ output: inout TreeOutput) {
        refreshedCount += 1
        view.refresh(touch, writes, &output)
    }

    // MARK: Server data

    /// The server's node at a location; a tag names its query.
    func apply(_ target: WriteTarget, _ node: Node, tag: Int64?, _ output: inout TreeOutput) {
        let locations = [LocatedNode(target: target, node: node)]
        apply(target.path, locations, tag: tag, isMerge: false, &output)
    }

    /// The server's nodes at locations (counted from the root), as one change.
    func merge(
        _ base: Path,
        _ locations: [(target: WriteTarget, node: Node)],
        tag: Int64?,
        _ output: inout TreeOutput,
    ) {
        let locations = locations.map { LocatedNode(target: $0.target, node: $0.node) }
        apply(base, locations, tag: tag, isMerge: true, &output)
    }

    /// The server says that the leaves of intervals are now exactly these. Ignored where no complete data is known: the
    /// server counts on it.
    func mergeRanges(_ base: Path, _ ranges: [RangeMerge], tag: Int64?, _ output: inout TreeOutput)
    {
        let view = tag.map { tagged[$0] } ?? root.point(at: base)?.defaultView
        guard let view, view.data.isComplete, view.path == base else { return }
        var node = view.data.node
        for range in ranges { node.apply(range) }
        apply(WriteTarget(path: base), node, tag: tag, &output)
    }

    private func apply(
        _ base: Path,
        _ locations: [LocatedNode],
        tag: Int64?,
        isMerge: Bool,
        _ output: inout TreeOutput,
    ) {
        if let tag {
            guard let view = tagged[tag], view.path.isPrefix(of: base) else { return }
            apply(locations, to: view, isTagged: true, isMerge: isMerge, &output)
            return
        }
        root.visit(locations) { point, locations in
            for view in point.views {
                apply(locations, to: view, isTagged: false, isMerge: isMerge, &output)
            }
        }
    }

    private func apply(
        _ locations: [LocatedNode],
        to view: View,
        isTagged: Bool,
        isMerge: Bool,
        _ output: inout TreeOutput,
    ) {
        let old = view.data.node
        let touch = view.data.apply(
            locations,
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

    /// The server accepted a listen: all its data has arrived. It may report that it has no index for the query.
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
        let location = LocatedNode(target: WriteTarget(path: target.path), node: answer)
        point.visit([location]) { point, _ in
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

    /// The server answered a plain listen, or its end, after which another of the same location was started.
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
