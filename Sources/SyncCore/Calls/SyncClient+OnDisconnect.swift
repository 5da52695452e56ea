import JSONTree
import WireProtocol

/// An on-disconnect request that the server has not answered.
struct OnDisconnectRequest {
    enum Kind {
        case write([MergeEntry])
        case cancel
    }

    let path: Path
    let kind: Kind
    let call: CallID?
}

extension SyncClient {
    func onDisconnectSet(_ target: WriteTarget, _ draft: Draft, _ call: CallID?) {
        if target.path.isInfo { return end(target.path, call, .infoIsReadOnly) }
        let entry = MergeEntry(target: target, draft: draft)
        let id = ask(target.path, .write([entry]), call)
        let now = now
        withLink { $0.onDisconnectSet(id, target, draft, now: now) }
    }

    /// An empty update is done without asking the server.
    func onDisconnectUpdate(_ path: Path, _ entries: [MergeEntry], _ call: CallID?) {
        if isInfo(path, entries) { return end(path, call, .infoIsReadOnly) }
        if entries.isEmpty { return finish(call, .done) }
        let id = ask(path, .write(entries), call)
        let now = now
        withLink { $0.onDisconnectUpdate(id, path, entries, now: now) }
    }

    func onDisconnectCancel(_ path: Path, _ call: CallID?) {
        if path.isInfo { return end(path, call, .infoIsReadOnly) }
        let id = ask(path, .cancel, call)
        let now = now
        withLink { $0.onDisconnectCancel(id, path, now: now) }
    }

    private func ask(
        _ path: Path,
        _ kind: OnDisconnectRequest.Kind,
        _ call: CallID?
    ) -> OnDisconnectID {
        let id = nextOnDisconnectID()
        onDisconnectRequests[id] = OnDisconnectRequest(path: path, kind: kind, call: call)
        return id
    }

    /// The server answered: only what it accepted will be written.
    func onDisconnectAnswered(_ id: OnDisconnectID, _ failure: SyncFailure?) {
        guard let request = onDisconnectRequests.removeValue(forKey: id) else { return }
        if failure == nil {
            switch request.kind {
            case .write(let entries):
                for entry in entries { onDisconnectTree.remember(entry.draft, at: entry.target) }
            case .cancel: onDisconnectTree.forget(request.path)
            }
        }
        end(request.path, request.call, failure)
    }

    /// The connection is lost: the server writes now what it promised, so that it is shown at once.
    ///
    /// Laid into the server's data, since the server has it; transactions there are overridden.
    func runOnDisconnectWrites() {
        let writes = onDisconnectTree.writes
        onDisconnectTree = OnDisconnectTree()
        if writes.isEmpty { return }
        let resolved = writes.map { target, draft in
            let old = tree.serverNode(at: target.path)
            let existing = target.isPriority ? old.priority : old
            return (target, draft.resolved(existing: existing, now: serverTime))
        }
        withTree { tree, output in
            for (target, node) in resolved { tree.apply(target, node, tag: nil, &output) }
        }
        overrideTransactions(at: writes.map(\.target.path))
    }

    /// Gives up the requests that wait for a connection; those that were sent will be answered.
    func cancelOnDisconnectRequests() {
        if link.isConnected { return }
        let ids = onDisconnectRequests.keys.sorted { $0.value < $1.value }
        for id in ids {
            guard let request = onDisconnectRequests.removeValue(forKey: id) else { continue }
            link.cancelOnDisconnect(id)
            end(request.path, request.call, .writeCancelled)
        }
    }
}
