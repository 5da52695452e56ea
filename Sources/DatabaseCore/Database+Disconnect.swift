import JSONTree
import SecurityRules
import WireProtocol

/// On-disconnect writes: kept durably, so that they run even if the process dies first.
extension Database {
    /// Stores writes to run when `session` ends, if they may be made now, all of them as one update.
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
        if !mayStore(entries, for: session, at: time, &effects) {
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

    private func mayStore(
        _ entries: [MergeEntry],
        for session: Session,
        at time: Timestamp,
        _ effects: inout [Effect]
    ) -> Bool {
        let requester = Requester(session, .onDisconnect)
        if requester.identity.isAdmin { return true }
        let (newRoot, _) = Self.resolve(entries, in: root, at: time)
        let question = disconnectQuestion(entries, requester, at: time)
        let decision = rules.decideWrite(
            entries.map(\.target),
            newRoot: newRoot,
            RulesRequest(root: root, auth: requester.identity.auth, now: time),
            recording: inspection == .all ? .values : []
        )
        note(decision, of: question, newRoot: newRoot, &effects)
        return decision.isAllowed
    }

    private func disconnectQuestion(
        _ entries: [MergeEntry],
        _ requester: Requester,
        at time: Timestamp
    ) -> Question {
        let base: Path? = entries.count == 1 ? nil : .root
        return Question(.write(entries.map(\.target), base: base), requester, at: time)
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

    /// Runs what a session has stored, as one commit.
    ///
    /// All of it is judged as one update, just as it would commit. What is refused is dropped, and the rest is judged
    /// again without it, until all that is left is allowed together:
    ///
    ///     x, y, z stored; x and y exclude each other
    ///     {x, y, z} ──► x refused, y refused ──► {z} ──► allowed ──► commit of z
    ///
    /// All that a round refuses goes at once, so that no order of paths decides who stays.
    func runOnDisconnect(_ session: SessionID, now: Timestamp, _ effects: inout [Effect]) {
        guard let state = takeDisconnect(of: session) else { return }
        let time = commitTime(now)
        let requester = Requester(state.identity, .ended, .atDisconnect)
        var entries = state.writes.writes.map { MergeEntry(target: $0.target, draft: $0.draft) }
        if !requester.identity.isAdmin {
            let refused = dropRefused(&entries, for: requester, at: time, &effects)
            for target in refused {
                let path = target.path.description
                effects.append(.note(.onDisconnectRefused(id, path: path, session: session)))
            }
        }
        // The rules have spoken on all of it; the commit itself is the server's.
        let base: Path? = entries.count == 1 ? nil : .root
        let write = Write(entries: entries, base: base, identity: .admin, writer: nil)
        _ = self.write(write, also: [.endSession(session)], now: now, &effects)
    }

    /// Leaves of `entries` what the rules allow together, in `Limits.disconnectRounds` rounds and with the steps of one
    /// update at the most; beyond that nothing is left.
    ///
    /// - Returns: the targets that went, sorted.
    private func dropRefused(
        _ entries: inout [MergeEntry],
        for requester: Requester,
        at time: Timestamp,
        _ effects: inout [Effect]
    ) -> [WriteTarget] {
        let request = RulesRequest(root: root, auth: requester.identity.auth, now: time)
        var stepsLeft = RulesLimits.steps(pathCount: entries.count)
        var gone: [WriteTarget] = []
        for round in 1...Limits.disconnectRounds where !entries.isEmpty {
            let (newRoot, _) = Self.resolve(entries, in: root, at: time)
            let targets = entries.map(\.target)
            var refused = rules.refusedTargets(
                of: targets,
                newRoot: newRoot,
                request,
                stepsLeft: &stepsLeft
            )
            if refused.isEmpty {
                noteAllowed(entries, newRoot, request, requester, &effects)
                break
            }
            if round == Limits.disconnectRounds { refused = Array(entries.indices) }
            for (count, entry) in refused.enumerated() {
                let isExplained =
                    inspection != .off || shadow != nil
                    ? count < DecisionRecord.listedTargets : stepsLeft < 0 && count == 0
                noteRefused(entries[entry], newRoot, request, requester, isExplained, &effects)
            }
            gone += refused.map { targets[$0] }
            let dropped = Set(refused)
            entries = entries.indices.filter { !dropped.contains($0) }.map { entries[$0] }
        }
        return gone.sorted()
    }

    /// Notes what was refused by itself, among all that was to be written with it.
    private func noteRefused(
        _ entry: MergeEntry,
        _ newRoot: Node,
        _ request: RulesRequest,
        _ requester: Requester,
        _ isExplained: Bool,
        _ effects: inout [Effect]
    ) {
        if isExplained {
            let decision = rules.decideWrite(
                [entry.target],
                newRoot: newRoot,
                request,
                recording: inspection == .all ? .values : []
            )
            if !decision.isAllowed {
                let question = disconnectQuestion([entry], requester, at: request.now)
                return note(decision, of: question, newRoot: newRoot, &effects)
            }
            // It went for want of steps, or of rounds.
        }
        refusalCounts.count(requester.operation)
    }

    private func noteAllowed(
        _ entries: [MergeEntry],
        _ newRoot: Node,
        _ request: RulesRequest,
        _ requester: Requester,
        _ effects: inout [Effect]
    ) {
        if inspection != .all, shadow == nil { return }
        let decision = rules.decideWrite(
            entries.map(\.target),
            newRoot: newRoot,
            request,
            recording: inspection == .all ? .values : []
        )
        let question = disconnectQuestion(entries, requester, at: request.now)
        note(decision, of: question, newRoot: newRoot, &effects)
    }

    private func takeDisconnect(of session: SessionID) -> DisconnectState? {
        guard let state = disconnects.removeValue(forKey: session) else { return nil }
        disconnectByteCount -= state.byteCount
        return state
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
