import JSONTree
import WireProtocol

/// Observers, reads and `keepSynced`.
extension SyncClient {
    func observe(_ observer: Observer) {
        if observer.target.path.isInfo {
            withLink { $0.start(now: $1) }
            tell(info.add(observer))
        } else {
            withTree { $0.add(observer, &$1) }
        }
    }

    func stopObserving(_ id: ObserverID) {
        info.remove(id)
        withTree { $0.remove(id, &$1) }
    }

    /// Reads once. Data under a live listen is known and returned at once, as in the official clients; other data is
    /// read from the server.
    func get(_ target: ListenTarget, _ call: CallID) {
        if target.path.isInfo { return finish(call, .value(info.result(target))) }
        if let node = tree.result(target, includingCached: false) {
            return finish(call, .value(node))
        }
        gets[call] = target
        withLink { $0.get(call, target, now: $1) }
    }

    /// The server answered a read, or could not be reached; then the disk cache's data is the best there is.
    func got(_ call: CallID, _ result: Result<Node, SyncFailure>) {
        guard let target = gets.removeValue(forKey: call) else { return }
        switch result {
        case .success(let node): finish(call, .value(tree.result(target, ofServerData: node)))
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
