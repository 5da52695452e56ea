import JSONTree
import Queries
import WireProtocol

/// Which listens the server must have: for each view one that covers it, and no more.
extension SyncTree {
    /// Whether a plain listen above a point covers it.
    func isCovered(_ point: SyncPoint) -> Bool {
        var point = point
        while let parent = point.parent {
            if parent.defaultView != nil { return true }
            point = parent
        }
        return false
    }

    func initialData(_ target: ListenTarget, at point: SyncPoint) -> ServerData {
        if let data = coveringData(at: point) { return data }
        if let data = ancestorsChild(at: point) { return data }
        if let data = closed.data(target) { return data }
        var children = Node.absent
        for (key, child) in point.children {
            // The first view may wait for its answer while another one knows all from a query above.
            let known = child.views.first { $0.loadsEverything && $0.data.isComplete }
            guard let data = known?.data else { continue }
            children.set(data.node, at: Path([key]))
        }
        return ServerData(children: children)
    }

    /// The part of the nearest complete plain listen at or above a point.
    private func coveringData(at point: SyncPoint) -> ServerData? {
        var level: SyncPoint? = point
        while let next = level {
            let known = next.views.first { $0.loadsEverything && $0.data.knowsAll }
            if let data = known?.data {
                let below = point.path.dropFirst(next.path.keyCount)
                let base = data.base.descendant(at: below)
                if !data.isComplete { return ServerData(assumed: base) }
                let node = data.node.descendant(at: below)
                return ServerData(node, base: base, isLive: data.isLive)
            }
            level = next.parent
        }
        return nil
    }

    /// The part of a child that a query at a path above selects: it is known wholly.
    private func ancestorsChild(at point: SyncPoint) -> ServerData? {
        var level = point.parent
        while let next = level {
            let below = point.path.dropFirst(next.path.keyCount)
            for view in next.views where view.data.isComplete {
                if view.data.node.child(below.key(at: 0)).isAbsent { continue }
                let node = view.data.node.descendant(at: below)
                return ServerData(node, base: view.data.base.descendant(at: below), isLive: false)
            }
            level = next.parent
        }
        return nil
    }

    /// Starts the listen of a view that nothing covers; stops those that a plain one then covers.
    func startListen(_ view: View, _ output: inout TreeOutput) {
        let point = view.point
        if !view.loadsEverything {
            lastTag += 1
            view.tag = lastTag
            tagged[lastTag] = view
            output.listens.append(.start(view.target, tag: lastTag))
            opened(view, view.target, &output)
            return
        }
        startPlainListen(view, &output)
        for view in point.views where view.tag != nil { stopListen(view, &output) }
        for child in point.sortedChildren { cover(child, &output) }
    }

    /// Stops the listens at and below a point that a plain one above covers from now on.
    private func cover(_ point: SyncPoint, _ output: inout TreeOutput) {
        if point.isListening, let view = point.defaultView {
            stopListen(at: point, of: view, &output)
            return
        }
        for view in point.views where view.tag != nil { stopListen(view, &output) }
        for child in point.sortedChildren { cover(child, &output) }
    }

    /// Starts the listens at and below a point whose plain listen has ended.
    func uncover(_ point: SyncPoint, _ output: inout TreeOutput) {
        if let view = point.defaultView {
            startUncovered(view, &output)
            return
        }
        for view in point.views { startUncovered(view, &output) }
        for child in point.sortedChildren { uncover(child, &output) }
    }

    private func startUncovered(_ view: View, _ output: inout TreeOutput) {
        if view.data.isComplete && !view.data.isFiltered && !view.loadsEverything {
            view.data.narrow(view.spec)
            refresh(view, .everything, &output)
        }
        if view.loadsEverything {
            startPlainListen(view, &output)
        } else {
            startListen(view, &output)
        }
    }

    private func startPlainListen(_ view: View, _ output: inout TreeOutput) {
        let target = ListenTarget(path: view.path)
        view.point.isListening = true
        output.listens.append(.start(target, tag: nil))
        opened(view, target, &output)
    }

    func stopListen(_ view: View, _ output: inout TreeOutput) {
        guard let tag = view.tag else { return }
        view.tag = nil
        tagged[tag] = nil
        output.listens.append(.stop(view.target, tag: tag))
        close(view, view.target, &output)
    }

    /// Stops the plain listen at a point, which served `view`.
    func stopListen(at point: SyncPoint, of view: View, _ output: inout TreeOutput) {
        let target = ListenTarget(path: point.path)
        point.isListening = false
        output.listens.append(.stop(target, tag: nil))
        close(view, target, &output)
    }
}
