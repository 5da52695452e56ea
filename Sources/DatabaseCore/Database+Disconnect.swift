import JSONTree
import SecurityRules
import WireProtocol

/// On-disconnect writes: kept durably, so that they run even if the process dies first.
extension Database {
    /// Stores writes to run when `session` ends, if they may be made now.
    func storeOnDisconnect(
        _ entries: [MergeEntry],
        for session: Session,
        now: Timestamp,
        _ effects: inout [Effect]
    ) -> ReplyBody {
        for entry in entries where !entry.isWithinDepthLimit {
            return .refused(.failed, "The path is deeper than \(JSONTree.Limits.depth) keys")
        }
        let stored = disconnects[session.id]?.writes.writes.count ?? 0
        if stored + entries.count > Limits.onDisconnectWrites {
            let text = "More than \(Limits.onDisconnectWrites) on-disconnect writes in one session"
            return .refused(.failed, text)
        }
        let time = commitTime(now)
        for entry in entries {
            let requester = Requester(session, .onDisconnect)
            if isAllowed(entry, for: requester, at: time, &effects) { continue }
            return .refused(.permissionDenied, "Permission denied")
        }
        var operations: [CommitOperation] = []
        if disconnects[session.id]?.identity != session.identity {
            operations.append(.identify(session.id, session.identity))
        }
        for entry in entries {
            operations.append(.onDisconnect(session.id, entry.target, entry.draft))
        }
        let payload = CommitEncoder.encode(operations)
        if let text = refusal(ofStoring: payload.count, for: session.id) {
            return .refused(.failed, text)
        }
        append(CommitPayload(bytes: payload), at: time, &effects)
        for operation in operations { applyBookkeeping(operation) }
        disconnects[session.id]?.byteCount += payload.count
        disconnects[session.id]?.addedByteCount += payload.count
        disconnectByteCount += payload.count
        return .ok
    }

    /// Why so many bytes more cannot be stored for a session; nil when they can.
    ///
    /// What the session holds is counted exactly only after it has sent a quarter of the limit, so that
    /// counting costs less than sending.
    private func refusal(ofStoring byteCount: Int, for session: SessionID) -> String? {
        let limit = Limits.onDisconnectByteCount
        if var state = disconnects[session], state.byteCount + byteCount > limit,
            state.addedByteCount >= limit / 4
        {
            disconnectByteCount -= state.byteCount
            state.byteCount = CommitEncoder.encode(state.writes.operations(of: session)).count
            state.addedByteCount = 0
            disconnectByteCount += state.byteCount
            disconnects[session] = state
        }
        if (disconnects[session]?.byteCount ?? 0) + byteCount > limit {
            return "More than \(limit) bytes of on-disconnect writes in one session"
        }
        if disconnectByteCount + byteCount > Limits.allOnDisconnectByteCount {
            return "More than \(Limits.allOnDisconnectByteCount) bytes of on-disconnect writes"
        }
        return nil
    }

    /// Forgets what is stored at and below `target`.
    func cancelOnDisconnect(
        _ target: WriteTarget,
        for session: Session,
        now: Timestamp,
        _ effects: inout [Effect]
    ) -> ReplyBody {
        guard var writes = disconnects[session.id]?.writes else { return .ok }
        if !writes.forget(target) {
            let text = "It would leave more than \(Limits.onDisconnectWrites) on-disconnect writes"
            return .refused(.failed, text)
        }
        change([.cancelOnDisconnect(session.id, target)], at: commitTime(now), &effects)
        return .ok
    }

    /// Keeps on whose behalf the stored writes run in step with the session's identity.
    func identityChanged(of session: Session, now: Timestamp, _ effects: inout [Effect]) {
        guard let state = disconnects[session.id], state.identity != session.identity else {
            return
        }
        change([.identify(session.id, session.identity)], at: commitTime(now), &effects)
    }

    /// Runs what a session has stored, as one commit, each path judged by itself.
    func runOnDisconnect(_ session: SessionID, now: Timestamp, _ effects: inout [Effect]) {
        guard let state = takeDisconnect(of: session) else { return }
        let time = commitTime(now)
        let requester = Requester(state.identity, .ended, .atDisconnect)
        var entries: [MergeEntry] = []
        for (target, draft) in state.writes.writes {
            let entry = MergeEntry(target: target, draft: draft)
            if isAllowed(entry, for: requester, at: time, &effects) {
                entries.append(entry)
            } else {
                let path = target.path.description
                effects.append(.note(.onDisconnectRefused(id, path: path, session: session)))
            }
        }
        // The rules have spoken on each path; the commit itself is the server's.
        let base: Path? = entries.count == 1 ? nil : .root
        let write = Write(entries: entries, base: base, identity: .admin, writer: nil)
        _ = self.write(write, also: [.endSession(session)], now: now, &effects)
    }

    private func takeDisconnect(of session: SessionID) -> DisconnectState? {
        guard let state = disconnects.removeValue(forKey: session) else { return nil }
        disconnectByteCount -= state.byteCount
        return state
    }

    private func isAllowed(
        _ entry: MergeEntry,
        for requester: Requester,
        at time: Timestamp,
        _ effects: inout [Effect]
    ) -> Bool {
        if requester.identity.isAdmin { return true }
        let (newRoot, _) = resolve([entry], at: time)
        let decision = judgeWrite([entry], newRoot: newRoot, for: requester, at: time, &effects)
        return decision?.isAllowed ?? true
    }

    /// Makes a commit that changes no data.
    private func change(
        _ operations: [CommitOperation],
        at time: Timestamp,
        _ effects: inout [Effect]
    ) {
        append(operations, at: time, &effects)
        for operation in operations { applyBookkeeping(operation) }
    }

    /// Applies an operation that concerns on-disconnect writes; others are not its business.
    func applyBookkeeping(_ operation: CommitOperation) {
        switch operation {
        case .identify(let session, let identity):
            disconnects[session, default: DisconnectState(identity: identity)].identity = identity
        case .onDisconnect(let session, let target, let draft):
            disconnects[session]?.writes.store(draft, at: target)
        case .cancelOnDisconnect(let session, let target):
            _ = disconnects[session]?.writes.forget(target)
            if disconnects[session]?.writes.isEmpty == true { _ = takeDisconnect(of: session) }
        case .endSession(let session):
            _ = takeDisconnect(of: session)
        case .write, .setRules, .detachRules, .setting:
            break
        }
    }
}

extension MergeEntry {
    /// Whether no key of the value would lie deeper than a path may be.
    var isWithinDepthLimit: Bool {
        target.path.keyCount + draft.depth <= JSONTree.Limits.depth
    }
}
