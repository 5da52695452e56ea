import JSONTree
import WireProtocol

/// A write that the server has not answered.
struct OpenWrite {
    /// Where it is, for transactions that look at that place and for warnings.
    let path: Path
    /// Who is told.
    let call: CallID?
}

extension SyncClient {
    func set(_ target: WriteTarget, _ draft: Draft, _ call: CallID?) {
        if target.path.isInfo { return end(target.path, call, .infoIsReadOnly) }
        let id = nextWriteID()
        store(.saveWrite(id, .set(target, draft)))
        begin(id, .set(target, draft), call)
        overrideTransactions(at: [target.path])
    }

    /// An empty update is done without asking the server.
    func update(_ path: Path, _ entries: [MergeEntry], _ call: CallID?) {
        if isInfo(path, entries) { return end(path, call, .infoIsReadOnly) }
        if entries.isEmpty { return finish(call, .done) }
        let id = nextWriteID()
        store(.saveWrite(id, .update(path, entries)))
        begin(id, .update(path, entries), call)
        overrideTransactions(at: entries.map(\.target.path))
    }

    /// Whether a merge touches what the client says of itself.
    func isInfo(_ path: Path, _ entries: [MergeEntry]) -> Bool {
        path.isInfo || entries.contains { $0.target.path.isInfo }
    }

    /// Shows a write and sends it.
    func begin(_ id: WriteID, _ write: StoredWrite, _ call: CallID?) {
        let (local, path, body) = prepare(write)
        openWrites[id] = OpenWrite(path: path, call: call)
        withTree { $0.write(id, local, isVisible: true, &$1) }
        let now = now
        withLink { $0.write(LinkWrite(id: id, body: body, hash: nil), now: now) }
    }

    /// What a write makes here, where, and what the server is sent.
    private func prepare(_ write: StoredWrite) -> (LocalWrite, Path, LinkWrite.Body) {
        switch write {
        case .set(let target, let draft):
            let node = tree.resolve(draft, at: target, now: serverTime)
            return (.set(target, node), target.path, .put(target, draft))
        case .update(let path, let entries):
            let places = entries.map { entry in
                let node = tree.resolve(entry.draft, at: entry.target, now: serverTime)
                return (target: entry.target, node: node)
            }
            return (.merge(places), path, .merge(path, entries))
        }
    }

    /// The server answered a write: it is in the server's data now, or never will be.
    func written(_ id: WriteID, _ failure: SyncFailure?) {
        guard let write = openWrites.removeValue(forKey: id) else {
            return transactionWritten(id, failure)
        }
        store(.removeWrite(id))
        withTree { $0.settle(id, isRefused: failure != nil, &$1) }
        rerunTransactions(around: write.path)
        end(write.path, write.call, failure)
    }

    /// Tells a write's outcome; a failure that nobody waits for becomes a warning.
    func end(_ path: Path, _ call: CallID?, _ failure: SyncFailure?) {
        guard let failure else { return finish(call, .done) }
        if call == nil, failure != .writeCancelled {
            effects.append(.warn(.writeRefused(path, failure)))
        }
        finish(call, .failed(failure))
    }

    /// Gives up all that is not acknowledged: writes, transactions and on-disconnect requests. What they
    /// showed is taken back.
    func cancelWrites() {
        let ids = openWrites.keys.sorted()
        let calls = ids.map { openWrites[$0]?.call }
        let ended = transactions.removeAll()
        openWrites = [:]
        withLink { link in
            for id in ids + ended.sent { link.cancelWrite(id) }
        }
        for id in ids { store(.removeWrite(id)) }
        let shown = (ids + ended.transactions.map(\.writeID)).sorted()
        withTree { $0.refuse(shown, &$1) }
        for call in calls { finish(call, .failed(.writeCancelled)) }
        end(ended.transactions.map { ($0, .failed(.writeCancelled)) })
        cancelOnDisconnectRequests()
    }
}

extension SyncTree {
    /// What a draft makes at a place, as far as can be told here: increments start from what is shown.
    func resolve(_ draft: Draft, at target: WriteTarget, now: Timestamp) -> Node {
        if draft.serverValues.isEmpty { return draft.node }
        let shown = shown(at: target.path, draft.serverValues)
        return draft.resolved(existing: target.isPriority ? shown.priority : shown, now: now)
    }

    /// What is shown at a path; if not all of it is known, at least at the places of server values.
    private func shown(at path: Path, _ places: [DraftServerValue]) -> Node {
        if let node = node(at: path, excluding: [], includingHidden: true) { return node }
        var known = Node.absent
        for place in places {
            let below = place.target.path
            let full = path.appending(below)
            if let node = node(at: full, excluding: [], includingHidden: true) {
                known.set(node, at: below)
            }
        }
        return known
    }
}
