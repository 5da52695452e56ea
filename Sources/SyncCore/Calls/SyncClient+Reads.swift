import JSONTree
import WireProtocol

/// Observers, reads and what is kept synced.
extension SyncClient {
    func observe(_ observer: Observer) {
        if observer.target.path.isInfo {
            let now = now
            withLink { $0.start(now: now) }
            tell(info.add(observer))
        } else {
            withTree { $0.add(observer, &$1) }
        }
    }

    func stopObserving(_ id: ObserverID) {
        info.remove(id)
        withTree { $0.remove(id, &$1) }
    }

    /// Reads once.
    ///
    /// What a live listen covers is known and given at once, as the official clients do; else the
    /// server is asked.
    func get(_ target: ListenTarget, _ call: CallID) {
        if target.path.isInfo { return finish(call, .value(info.result(target))) }
        if let node = tree.result(target, includingCached: false) {
            return finish(call, .value(node))
        }
        gets[call] = target
        let now = now
        withLink { $0.get(call, target, now: now) }
    }

    /// The server answered a read, or could not be reached; then what the disk cache has is as good as any.
    func got(_ call: CallID, _ result: Result<Node, SyncFailure>) {
        guard let target = gets.removeValue(forKey: call) else { return }
        switch result {
        case .success(let node):
            finish(call, .value(tree.result(target, ofServerData: node)))
        case .failure(.offline):
            let cached = tree.result(target)
            finish(call, cached.map { .value($0) } ?? .failed(.offline))
        case .failure(let failure): finish(call, .failed(failure))
        }
    }

    /// Listens without an observer, or stops doing so. `.info` is always up to date.
    func keepSynced(_ target: ListenTarget, _ isSynced: Bool) {
        if target.path.isInfo { return }
        if isSynced, keptSynced[target] == nil {
            let observer = Observer(id: nextInnerObserver(), target: target, kinds: [])
            keptSynced[target] = observer.id
            withTree { $0.add(observer, &$1) }
        } else if !isSynced, let id = keptSynced.removeValue(forKey: target) {
            withTree { $0.remove(id, &$1) }
        }
    }
}
