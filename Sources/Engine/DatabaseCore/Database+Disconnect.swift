import EventProtocol
import JSONTree
import SecurityRules
import WireProtocol

/// On-disconnect writes: kept durably, so that they run even if the process dies first.
extension Database {
    /// Stores writes to run when `session` ends, if they may be made now, all of them as one update.
    func storeOnDisconnect(
        _ entries: [MergeEntry],
        for session: Session,
        _ step: inout Step
    ) -> Answer {
        for entry in entries where !entry.isWithinDepthLimit {
            return .failed(.tooManyWrites, "The path is deeper than \(JSONTree.Limits.depth) keys")
        }
        let stored = disconnects[session.id]?.writes.writes.count ?? 0
        if stored + entries.count > Limits.onDisconnectWrites {
            let text = "More than \(Limits.onDisconnectWrites) on-disconnect writes in one session"
            return .failed(.tooManyWrites, text)
        }
        let time = commitTime(step.now)
        if !mayStore(entries, for: session, at: time, &step) {
            return .denied
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
            return .failed(.tooManyWrites, text)
        }
        appendPayload(.bytes(payload), at: time, &step)
        for operation in operations { applyBookkeeping(operation) }
        disconnects[session.id]?.byteCount += payload.count
        disconnects[session.id]?.addedByteCount += payload.count
        disconnectByteCount += payload.count
        return .done
    }

    private func mayStore(
        _ entries: [MergeEntry],
        for session: Session,
        at time: Timestamp,
        _ step: inout Step
    ) -> Bool {
        let requester = Requester(session, .onDisconnect)
        if requester.identity.isAdmin { return true }
        let (newRoot, _) = Self.resolve(entries, in: root, at: time)
        let request = RulesRequest(root: root, auth: requester.identity.auth, now: time)
        let decision = decide(entries, newRoot: newRoot, request)
        noteStored(decision, entries, newRoot, request, requester, &step)
        return decision.isAllowed
    }

    private func noteStored(
        _ decision: Decision,
        _ entries: [MergeEntry],
        _ newRoot: Node,
        _ request: RulesRequest,
        _ requester: Requester,
        _ step: inout Step
    ) {
        let base: Path? = entries.count == 1 ? nil : .root
        let subject = Question.Subject.write(entries.map(\.target), base: base)
        let question = Question(subject, requester, at: request.now)
        noteAnswer(decision, to: question, newRoot: newRoot, &step)
    }

    /// Why these bytes cannot be stored for a session; nil when they can.
    ///
    /// The session's bytes are counted exactly only after it has sent a quarter of the limit, so that counting costs
    /// less than sending.
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

    /// Removes the writes stored at and below `target`.
    func cancelOnDisconnect(
        _ target: WriteTarget,
        for session: Session,
        _ step: inout Step
    ) -> Answer {
        guard var writes = disconnects[session.id]?.writes else { return .done }
        if !writes.forget(target) {
            let text = "It would leave more than \(Limits.onDisconnectWrites) on-disconnect writes"
            return .failed(.tooManyWrites, text)
        }
        change([.cancelOnDisconnect(session.id, target)], at: commitTime(step.now), &step)
        return .done
    }

    /// Keeps on whose behalf the stored writes run in step with the session's identity.
    func identityChanged(of session: Session, _ step: inout Step) {
        guard let state = disconnects[session.id], state.identity != session.identity else {
            return
        }
        change([.identify(session.id, session.identity)], at: commitTime(step.now), &step)
    }

    /// Runs what a session has stored, as one commit.
    ///
    /// All of it is decided as one update, just as it would commit. Refused writes are dropped, and the rest is decided
    /// again without them, until all that is left is allowed together:
    ///
    ///     x, y, z stored; x and y exclude each other
    ///     {x, y, z} ──► x refused, y refused ──► {z} ──► allowed ──► commit of z
    ///
    /// All writes that a round refuses are dropped at once, so the order of paths does not matter.
    func runOnDisconnect(_ session: SessionID, _ step: inout Step) {
        guard let state = takeDisconnect(of: session) else { return }
        let time = commitTime(step.now)
        let requester = Requester(state.identity, .ended, .atDisconnect)
        var entries = state.writes.writes.map { MergeEntry(target: $0.target, draft: $0.draft) }
        if !requester.identity.isAdmin {
            let refused = dropRefused(&entries, for: requester, at: time, &step)
            for target in refused {
                let path = target.path.description
                step.effects.append(.note(.onDisconnectRefused(id, path: path, session: session)))
            }
        }
        // The rules allow all of it; the server makes the commit.
        let base: Path? = entries.count == 1 ? nil : .root
        let write = Write(entries: entries, base: base, identity: .admin, writer: nil)
        _ = self.write(write, also: [.endSession(session)], &step)
    }

    /// Leaves of `entries` what the rules allow together, in at most `Limits.disconnectRounds` rounds and with the cost
    /// units of one update; beyond that nothing is left.
    ///
    /// - Returns: the dropped targets, sorted.
    private func dropRefused(
        _ entries: inout [MergeEntry],
        for requester: Requester,
        at time: Timestamp,
        _ step: inout Step
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
                if inspection == .all || shadow != nil {
                    let decision = decide(entries, newRoot: newRoot, request)
                    noteStored(decision, entries, newRoot, request, requester, &step)
                }
                break
            }
            if round == Limits.disconnectRounds { refused = Array(entries.indices) }
            for (count, entry) in refused.enumerated() {
                let isExplained =
                    inspection != .off || shadow != nil
                    ? count < DecisionRecord.listedTargets : stepsLeft < 0 && count == 0
                noteRefused(entries[entry], newRoot, request, requester, isExplained, &step)
            }
            gone += refused.map { targets[$0] }
            let dropped = Set(refused)
            entries = entries.indices.filter { !dropped.contains($0) }.map { entries[$0] }
        }
        return gone.sorted()
    }

    /// Notes one refused write, decided on the tree with all of them.
    private func noteRefused(
        _ entry: MergeEntry,
        _ newRoot: Node,
        _ request: RulesRequest,
        _ requester: Requester,
        _ isExplained: Bool,
        _ step: inout Step
    ) {
        if isExplained {
            let decision = decide([entry], newRoot: newRoot, request)
            if !decision.isAllowed {
                return noteStored(decision, [entry], newRoot, request, requester, &step)
            }
            // It was dropped because cost units or rounds ran out.
        }
        refusalCounts[requester.operation, default: 0] += 1
    }

    private func takeDisconnect(of session: SessionID) -> DisconnectState? {
        guard let state = disconnects.removeValue(forKey: session) else { return nil }
        disconnectByteCount -= state.byteCount
        return state
    }

    /// Makes a commit that changes no data.
    private func change(_ operations: [CommitOperation], at time: Timestamp, _ step: inout Step) {
        append(operations, at: time, &step)
        for operation in operations { applyBookkeeping(operation) }
    }

    /// Applies an operation that concerns on-disconnect writes, and ignores others.
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
