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
        as identity: Identity,
        now: Timestamp
    ) -> Decision? {
        if identity.isAdmin { return nil }
        let request = RulesRequest(root: root, auth: identity.auth, now: commitTime(now))
        let query = query == .everything ? nil : query
        return rules.decideRead(path, query: query, request, recording: .paths)
    }

    /// The verdict on a write of all entries at once that leads to `newRoot`; nil for an admin.
    func judgeWrite(
        _ entries: [MergeEntry],
        newRoot: Node,
        as identity: Identity,
        at time: Timestamp
    ) -> Decision? {
        if identity.isAdmin { return nil }
        let request = RulesRequest(root: root, auth: identity.auth, now: time)
        let targets = entries.map(\.target)
        return rules.decideWrite(targets, newRoot: newRoot, request, recording: Recording())
    }
}
