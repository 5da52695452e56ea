import JSONTree
import Queries
import WireProtocol

extension SyncTree {
    /// The hash of the server data of a listen that is sent now; the empty text when nothing complete is known. The
    /// tree takes it that an answer without data means this data.
    func hash(_ target: ListenTarget) -> ListenHash {
        let point = root.point(at: target.path)
        let isDefault = target.query.loadsEverything
        let view = isDefault ? point?.defaultView : point?.view(target)
        view?.data.send()
        guard let view, view.data.isComplete else { return ListenHash("") }
        return ListenHash(view.data.node.hash())
    }

    /// The shown node at a path, if fully known. With `excluding`, writes that are laid aside; with `includingHidden`,
    /// writes that do not show.
    func node(at path: Path, excluding: Set<WriteID>, includingHidden: Bool) -> Node? {
        let layer = WriteLayer(excluding: excluding, includesHidden: includingHidden)
        let data = knownData(at: path)
        guard data != nil || writes.covers(path, layer) else { return nil }
        return writes.overlay(path, on: data?.base ?? .absent, layer)
    }

    /// What a query selects of the shown node, if a live listen or the disk cache knows all of it. With
    /// `includingCached`, data will do that no listen has confirmed.
    func result(_ target: ListenTarget, includingCached: Bool = true) -> Node? {
        let path = target.path
        let isEnough = includingCached || writes.covers(path)
        if let view = root.point(at: path)?.view(target), view.isComplete(writes),
            isEnough || view.data.isLive
        {
            return view.result(writes)
        }
        if isEnough || knownData(at: path)?.isLive ?? false,
            let node = node(at: path, excluding: [], includingHidden: false)
        {
            return target.query.selected(of: node)
        }
        guard includingCached, let data = closed.data(target) else { return nil }
        return data.isFiltered
            ? result(target, ofServerData: data.node)
            : target.query.selected(of: writes.overlay(target.path, on: data.node))
    }

    /// The query's selection of server data that was read once, with pending writes over it.
    func result(_ target: ListenTarget, ofServerData node: Node) -> Node {
        let data = ServerData(node, isFiltered: !target.query.loadsEverything, isLive: false)
        return View(target, at: root, data).result(writes)
    }

    /// The server data at a path if known, else absent: the base of increments and local on-disconnect writes.
    func serverNode(at path: Path) -> Node { knownData(at: path)?.node ?? .absent }

    private func knownData(at path: Path) -> ServerData? {
        var found: ServerData?
        var point = root
        for level in 0...path.keyCount {
            let below = path.dropFirst(level)
            for view in point.views {
                let data = view.data
                let isKnown =
                    view.loadsEverything && data.knowsAll
                    || found == nil && data.isComplete && !below.isRoot
                        && !data.node.child(below.key(at: 0)).isAbsent
                if !isKnown { continue }
                let base = data.base.descendant(at: below)
                found =
                    data.isComplete
                    ? ServerData(data.node.descendant(at: below), base: base, isLive: data.isLive)
                    : ServerData(assumed: base)
            }
            guard level < path.keyCount, let child = point.children[path.key(at: level)] else {
                break
            }
            point = child
        }
        return found
    }
}
