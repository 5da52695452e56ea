import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// What the rules say to a request: every verdict of a database is given here.
extension Database {
    /// The verdict on a read, with the paths that it rests on; nil for an admin, whom the rules do not concern.
    ///
    /// A refusal is noted here; what is allowed is noted by `noteRead`, when it need not be asked for again.
    func judgeRead(
        _ path: Path,
        _ query: QuerySpec,
        for requester: Requester,
        now: Timestamp,
        _ effects: inout [Effect]
    ) -> Decision? {
        if requester.identity.isAdmin { return nil }
        let request = readRequest(requester, now)
        let recording: Recording = inspection == .all ? [.paths, .values] : .paths
        let decision = rules.decideRead(
            path,
            query: query.asked,
            request,
            recording: recording
        )
        if !decision.isAllowed { note(decision, path, query, request, requester, &effects) }
        return decision
    }

    /// Notes that a read which the rules allow is done.
    func noteRead(
        _ decision: Decision?,
        _ path: Path,
        _ query: QuerySpec,
        for requester: Requester,
        now: Timestamp,
        _ effects: inout [Effect]
    ) {
        guard let decision, inspection == .all || shadow != nil else { return }
        note(decision, path, query, readRequest(requester, now), requester, &effects)
    }

    private func readRequest(_ requester: Requester, _ now: Timestamp) -> RulesRequest {
        RulesRequest(root: root, auth: requester.identity.auth, now: commitTime(now))
    }

    private func note(
        _ decision: Decision,
        _ path: Path,
        _ query: QuerySpec,
        _ request: RulesRequest,
        _ requester: Requester,
        _ effects: inout [Effect]
    ) {
        shadow?.judgeRead(path, query.asked, request, requester, against: decision)
        if decision.isAllowed, inspection != .all { return }
        let question = Question(.read(path, query.asked), requester, at: request.now)
        inspect(decision, of: question, &effects) {
            rules.decideRead(path, query: query.asked, request, recording: .values)
        }
    }

    /// The verdict on a write that leads to `newRoot`; nil for an admin. A preliminary one is asked for again.
    func judge(
        _ write: Write,
        newRoot: Node,
        at time: Timestamp,
        isPreliminary: Bool = false,
        _ effects: inout [Effect]
    ) -> Decision? {
        if write.identity.isAdmin { return nil }
        return judgeWrite(
            write.entries,
            base: write.base,
            newRoot: newRoot,
            for: write.requester,
            at: time,
            isPreliminary: isPreliminary,
            &effects
        )
    }

    /// The verdict on a write of all entries at once that leads to `newRoot`; nil for an admin.
    func judgeWrite(
        _ entries: [MergeEntry],
        base: Path? = nil,
        newRoot: Node,
        for requester: Requester,
        at time: Timestamp,
        isPreliminary: Bool = false,
        _ effects: inout [Effect]
    ) -> Decision? {
        if requester.identity.isAdmin { return nil }
        let request = RulesRequest(root: root, auth: requester.identity.auth, now: time)
        let targets = entries.map(\.target)
        let recording = inspection == .all ? Recording.values : Recording()
        let decision = rules.decideWrite(targets, newRoot: newRoot, request, recording: recording)
        if isPreliminary, decision.isAllowed { return decision }
        shadow?.judgeWrite(targets, newRoot: newRoot, request, requester, against: decision)
        if decision.isAllowed, inspection != .all { return decision }
        let question = Question(.write(targets, base: base), requester, at: time)
        inspect(decision, of: question, newRoot: newRoot, &effects) {
            rules.decideWrite(targets, newRoot: newRoot, request, recording: .values)
        }
        return decision
    }

    /// Whether the rules allow to read all there is at a place: for the server to know, not asked by anybody.
    func mayRead(_ path: Path, as identity: Identity, _ now: Timestamp) -> Bool {
        if identity.isAdmin { return true }
        let request = RulesRequest(root: root, auth: identity.auth, now: commitTime(now))
        return rules.decideRead(path, query: nil, request).isAllowed
    }
}

extension QuerySpec {
    /// As rules see it: nil for a read without a query.
    fileprivate var asked: QuerySpec? { self == .everything ? nil : self }
}
