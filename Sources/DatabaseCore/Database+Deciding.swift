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
        RulesRequest(
            root: root,
            auth: requester.identity.auth,
            now: commitTime(now),
            plainReadsOrderByKey: requester.channel == .rest || requester.channel == .stream
        )
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

    /// The verdict on a write that leads to `newRoot`; nil for an admin. Nothing is noted.
    func decide(_ write: Write, newRoot: Node, at time: Timestamp) -> Decision? {
        if write.identity.isAdmin { return nil }
        return rules.decideWrite(
            write.entries.map(\.target),
            newRoot: newRoot,
            RulesRequest(root: root, auth: write.identity.auth, now: time),
            recording: inspection == .all ? Recording.values : Recording()
        )
    }

    /// Notes the verdict on a write, once it is what becomes of it. Without a new tree it was refused before there was
    /// one, and is counted alone.
    func note(
        _ decision: Decision,
        of write: Write,
        newRoot: Node?,
        at time: Timestamp,
        _ effects: inout [Effect]
    ) {
        if decision.isAllowed, inspection != .all, shadow == nil { return }
        let requester = write.requester
        guard let newRoot else { return refusalCounts.count(requester.operation) }
        let subject = Question.Subject.write(write.entries.map(\.target), base: write.base)
        note(decision, of: Question(subject, requester, at: time), newRoot: newRoot, &effects)
    }

    /// Notes the verdict on a question about a write.
    func note(
        _ decision: Decision,
        of question: Question,
        newRoot: Node,
        _ effects: inout [Effect]
    ) {
        guard case .write(let targets, _) = question.subject else {
            preconditionFailure("what is read is noted as a read")
        }
        let requester = question.requester
        let auth = requester.identity.auth
        let request = RulesRequest(root: root, auth: auth, now: question.time)
        shadow?.judgeWrite(targets, newRoot: newRoot, request, requester, against: decision)
        if decision.isAllowed, inspection != .all { return }
        inspect(decision, of: question, newRoot: newRoot, &effects) {
            rules.decideWrite(targets, newRoot: newRoot, request, recording: .values)
        }
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
