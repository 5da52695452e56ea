import JSONTree
import Queries
import WireProtocol

/// Changes for the disk cache: the complete server data of listens.
extension SyncTree {
    /// Takes over the content of the disk cache, least recently used first.
    func restore(_ listens: [StoredListen], _ output: inout TreeOutput) {
        for listen in listens {
            for dropped in closed.add(listen.target, listen.node) {
                output.stored.append(.removeListen(dropped))
            }
        }
    }

    /// Forgets all that is cached, of this run and of those before: it was another account's. Live listens keep their
    /// data, which the server confirms; then it is cached again.
    func forgetAll(_ output: inout TreeOutput) {
        closed.removeAll()
        if !isStored { return }
        output.stored.append(.removeAll)
        let everything = LocatedNode(target: WriteTarget(path: .root), node: .absent)
        root.visit([everything]) { point, _ in
            for view in point.views { view.isSaved = false }
        }
    }

    /// The listen whose data a view has; nil when it has part of another's.
    private func listen(of view: View) -> ListenTarget? {
        if view.tag != nil { return view.target }
        let point = view.point
        return point.isListening && point.defaultView === view
            ? ListenTarget(path: point.path) : nil
    }

    func opened(_ view: View, _ target: ListenTarget, _ output: inout TreeOutput) {
        if !isStored { return }
        let saved = closed.remove(target)
        view.isSaved = view.data.isComplete && saved?.isIdentical(to: view.data.node) ?? false
        if view.isSaved {
            output.stored.append(.useListen(target, isActive: true))
        } else if view.data.isComplete {
            saveWhole(view, target, &output)
        }
    }

    func close(_ view: View, _ target: ListenTarget, _ output: inout TreeOutput) {
        if !isStored || !view.isSaved { return }
        view.isSaved = false
        output.stored.append(.useListen(target, isActive: false))
        for dropped in closed.add(target, view.data.node) {
            output.stored.append(.removeListen(dropped))
        }
    }

    /// A listen has ended, and its data must not be used again.
    func forget(_ target: ListenTarget, _ output: inout TreeOutput) {
        closed.remove(target)
        if isStored { output.stored.append(.removeListen(target)) }
    }

    func save(_ view: View, _ touch: Touch, from old: Node, _ output: inout TreeOutput) {
        guard isStored, view.data.isComplete, let target = listen(of: view) else { return }
        let node = view.data.node
        guard case .locations(let locations) = touch, view.isSaved, old.isMap, node.isMap else {
            saveWhole(view, target, &output)
            return
        }
        var keys: Set<Key> = []
        for location in locations {
            if location.path.keyCount == view.path.keyCount {
                saveWhole(view, target, &output)
                return
            }
            keys.insert(location.path.key(at: view.path.keyCount))
        }
        let children = keys.sorted().map { (key: $0, node: node.child($0)) }
        output.stored.append(.saveChildren(target, children))
    }

    private func saveWhole(_ view: View, _ target: ListenTarget, _ output: inout TreeOutput) {
        view.isSaved = true
        output.stored.append(.saveListen(target, view.data.node))
        output.stored.append(.useListen(target, isActive: true))
    }
}
