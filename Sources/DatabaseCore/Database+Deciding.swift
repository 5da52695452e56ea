import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// What the rules say to a request: every verdict of a database is given here.
extension Database {
    /// The verdict on a read, with the paths that it rests on; nil for an admin, whom the rules do not concern.
    func judgeRead(
        _ path: Path,
        _ query: QuerySpec,
        for requester: Requester,
        now: Timestamp,
        _ effects: inout [Effect]
    ) -> Decision? {
        if requester.identity.isAdmin { return nil }
        let time = commitTime(now)
        let request = RulesRequest(root: root, auth: requester.identity.auth, now: time)
        let query = query == .everything ? nil : query
        let recording: Recording = inspection == .all ? [.paths, .values] : .paths
        let decision = rules.decideRead(path, query: query, request, recording: recording)
        if requester.isPreliminary, decision.isAllowed { return decision }
        shadow?.judgeRead(path, query, request, requester, against: decision)
        if decision.isAllowed, inspection != .all { return decision }
        let question = Question(.read(path, query), requester, at: time)
        inspect(decision, of: question, &effects) {
            rules.decideRead(path, query: query, request, recording: .values)
        }
        return decision
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
        var requester = write.requester
        requester.isPreliminary = isPreliminary
        return judgeWrite(
            write.entries,
            base: write.base,
            newRoot: newRoot,
            for: requester,
            at: time,
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
        _ effects: inout [Effect]
    ) -> Decision? {
        if requester.identity.isAdmin { return nil }
        let request = RulesRequest(root: root, auth: requester.identity.auth, now: time)
        let targets = entries.map(\.target)
        let recording = inspection == .all ? Recording.values : Recording()
        let decision = rules.decideWrite(targets, newRoot: newRoot, request, recording: recording)
        if requester.isPreliminary, decision.isAllowed { return decision }
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
