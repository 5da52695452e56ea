import JSONTree
import WireProtocol

/// A write that the server has not answered.
struct OpenWrite {
    /// The path of the write, for transactions there and for warnings.
    let path: Path
    /// The call that receives the outcome.
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

    /// Whether a merge touches the client's own data.
    func isInfo(_ path: Path, _ entries: [MergeEntry]) -> Bool {
        path.isInfo || entries.contains { $0.target.path.isInfo }
    }

    /// Shows a write and sends it.
    func begin(_ id: WriteID, _ write: StoredWrite, _ call: CallID?) {
        let (path, locations) = prepare(write)
        openWrites[id] = OpenWrite(path: path, call: call)
        withTree { $0.write(id, locations, isVisible: true, &$1) }
        withLink { $0.write(LinkWrite(id: id, body: write, hash: nil), now: $1) }
    }

    private func prepare(_ write: StoredWrite) -> (Path, [LocatedNode]) {
        func located(_ draft: Draft, _ target: WriteTarget) -> LocatedNode {
            LocatedNode(target: target, node: tree.resolve(draft, at: target, now: serverTime))
        }
        return switch write {
        case .set(let target, let draft): (target.path, [located(draft, target)])
        case .update(let path, let entries): (path, entries.map { located($0.draft, $0.target) })
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

    /// Reports a write's outcome; a failure that no call awaits becomes a warning.
    func end(_ path: Path, _ call: CallID?, _ failure: SyncFailure?) {
        guard let failure else { return finish(call, .done) }
        if call == nil, failure != .writeCancelled {
            effects.append(.warn(.writeRefused(path, failure)))
        }
        finish(call, .failed(failure))
    }

    /// Drops all unacknowledged writes, transactions and on-disconnect requests, and undoes their local effects.
    func cancelWrites() {
        let ids = openWrites.keys.sorted()
        let calls = ids.map { openWrites[$0]?.call }
        let ended = transactions.removeAll()
        openWrites = [:]
        for id in ids + ended.sent { link.cancelWrite(id) }
        for id in ids { store(.removeWrite(id)) }
        let shown = (ids + ended.transactions.map(\.writeID)).sorted()
        withTree { $0.refuse(shown, &$1) }
        for call in calls { finish(call, .failed(.writeCancelled)) }
        endTransactions(ended.transactions.map { ($0, .failed(.writeCancelled)) })
        cancelOnDisconnectRequests()
    }
}

extension SyncTree {
    /// The result of a draft at a location, as far as known here: increments start from the shown value.
    func resolve(_ draft: Draft, at target: WriteTarget, now: Timestamp) -> Node {
        if draft.serverValues.isEmpty { return draft.node }
        let shown = shown(at: target.path, draft.serverValues)
        return draft.resolved(existing: target.isPriority ? shown.priority : shown, now: now)
    }

    /// The shown value at a path; if it is not fully known, at least the values at the server values' locations.
    private func shown(at path: Path, _ locations: [DraftServerValue]) -> Node {
        if let node = node(at: path, excluding: [], includingHidden: true) { return node }
        var known = Node.absent
        for location in locations {
            let below = location.target.path
            let full = path.appending(below)
            if let node = node(at: full, excluding: [], includingHidden: true) {
                known.set(node, at: below)
            }
        }
        return known
    }
}
