import JSONTree
import WireProtocol

/// An on-disconnect request that the server has not answered.
struct OnDisconnectRequest {
    let path: Path
    /// The requested writes; nil cancels those at the path and below it.
    let writes: [MergeEntry]?
    let call: CallID?
}

extension SyncClient {
    func onDisconnectSet(_ target: WriteTarget, _ draft: Draft, _ call: CallID?) {
        if target.path.isInfo { return end(target.path, call, .infoIsReadOnly) }
        let entry = MergeEntry(target: target, draft: draft)
        ask(.onDisconnectPut(target, draft), target.path, [entry], call)
    }

    /// An empty update is done without asking the server.
    func onDisconnectUpdate(_ path: Path, _ entries: [MergeEntry], _ call: CallID?) {
        if isInfo(path, entries) { return end(path, call, .infoIsReadOnly) }
        if entries.isEmpty { return finish(call, .done) }
        ask(.onDisconnectMerge(path, entries), path, entries, call)
    }

    func onDisconnectCancel(_ path: Path, _ call: CallID?) {
        if path.isInfo { return end(path, call, .infoIsReadOnly) }
        ask(.onDisconnectCancel(WriteTarget(path: path)), path, nil, call)
    }

    private func ask(
        _ action: ClientRequest.Action,
        _ path: Path,
        _ writes: [MergeEntry]?,
        _ call: CallID?
    ) {
        let id = nextOnDisconnectID()
        onDisconnectRequests[id] = OnDisconnectRequest(path: path, writes: writes, call: call)
        withLink { $0.onDisconnect(id, action, now: $1) }
    }

    /// The server answered: it will make only the writes that it accepted.
    func onDisconnectAnswered(_ id: OnDisconnectID, _ failure: SyncFailure?) {
        guard let request = onDisconnectRequests.removeValue(forKey: id) else { return }
        if failure == nil {
            if request.writes == nil { onDisconnectTree.forget(request.path) }
            for entry in request.writes ?? [] {
                onDisconnectTree.remember(entry.draft, at: entry.target)
            }
        }
        end(request.path, request.call, failure)
    }

    /// The connection is lost: the server now makes the writes it accepted, so they are shown at once. Laid into the
    /// server's data, since the server has it; transactions there are overridden.
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

    /// Drops the requests that wait for a connection; sent ones will be answered.
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
