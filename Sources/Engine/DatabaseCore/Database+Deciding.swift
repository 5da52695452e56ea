import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// A read, or the read that a listen is, as the rules are asked about it.
struct Read {
    let path: Path
    let query: QuerySpec
    let requester: Requester

    /// The query as rules see it: nil for a read without one.
    var rulesQuery: QuerySpec? { query == .everything ? nil : query }
}

/// What the rules say to a request: every decision of a database is made here.
extension Database {
    /// The decision on a read, with the paths that it depends on; nil for an admin, whom the rules do not concern.
    ///
    /// Notes a refusal. The caller notes an allowed read with `noteRead`, once it will not ask again.
    func authorize(_ read: Read, _ step: inout Step) -> Decision? {
        authorize(read, recording: .paths, &step)
    }

    /// The same without these paths, which nothing looks at once the read is answered.
    func authorizeOnce(_ read: Read, _ step: inout Step) -> Decision? {
        authorize(read, recording: Recording(), &step)
    }

    private func authorize(
        _ read: Read,
        recording: Recording,
        _ step: inout Step
    ) -> Decision? {
        if read.requester.identity.isAdmin { return nil }
        let request = readRequest(read.requester, step.now)
        let recording = inspection == .all ? recording.union(.values) : recording
        let query = read.rulesQuery
        let decision = rules.decideRead(read.path, query: query, request, recording: recording)
        if !decision.isAllowed { noteDecidedRead(decision, read, request, &step) }
        return decision
    }

    /// Notes that a read which the rules allow is done.
    func noteRead(_ decision: Decision?, _ read: Read, _ step: inout Step) {
        guard let decision, inspection == .all || shadow != nil else { return }
        noteDecidedRead(decision, read, readRequest(read.requester, step.now), &step)
    }

    private func readRequest(_ requester: Requester, _ now: Timestamp) -> RulesRequest {
        RulesRequest(
            root: root,
            auth: requester.identity.auth,
            now: commitTime(now),
            plainReadsOrderByKey: requester.channel == .rest || requester.channel == .stream
        )
    }

    private func noteDecidedRead(
        _ decision: Decision,
        _ read: Read,
        _ request: RulesRequest,
        _ step: inout Step
    ) {
        shadow?.compare(decision, with: read, request)
        if decision.isAllowed, inspection != .all { return }
        let (path, query) = (read.path, read.rulesQuery)
        let question = Question(.read(path, query), read.requester, at: request.now)
        inspect(decision, of: question, &step) {
            rules.decideRead(path, query: query, request, recording: .values)
        }
    }

    /// The decision on a write that leads to `newRoot`; nil for an admin. Notes nothing.
    func decide(_ write: Write, newRoot: Node, at time: Timestamp) -> Decision? {
        if write.identity.isAdmin { return nil }
        let request = RulesRequest(root: root, auth: write.identity.auth, now: time)
        return decide(write.entries, newRoot: newRoot, request)
    }

    /// The decision on writes that lead to `newRoot` together. Notes nothing.
    func decide(_ entries: [MergeEntry], newRoot: Node, _ request: RulesRequest) -> Decision {
        let recording = inspection == .all ? Recording.values : Recording()
        let targets = entries.map(\.target)
        return rules.decideWrite(targets, newRoot: newRoot, request, recording: recording)
    }

    /// Notes the decision on a write once it is final. A write that was refused before its new tree was made is only
    /// counted.
    func noteWrite(
        _ decision: Decision,
        of write: Write,
        newRoot: Node?,
        at time: Timestamp,
        _ step: inout Step
    ) {
        if decision.isAllowed, inspection != .all, shadow == nil { return }
        let requester = write.requester
        guard let newRoot else { return refusalCounts[requester.operation, default: 0] += 1 }
        let subject = Question.Subject.write(write.entries.map(\.target), base: write.base)
        let question = Question(subject, requester, at: time)
        noteAnswer(decision, to: question, newRoot: newRoot, &step)
    }

    /// Notes the decision on a question about a write.
    func noteAnswer(
        _ decision: Decision,
        to question: Question,
        newRoot: Node,
        _ step: inout Step
    ) {
        guard case .write(let targets, _) = question.subject else {
            preconditionFailure("a read is noted as a read")
        }
        let requester = question.requester
        let auth = requester.identity.auth
        let request = RulesRequest(root: root, auth: auth, now: question.time)
        shadow?.compareWrite(decision, of: targets, newRoot: newRoot, request, requester)
        if decision.isAllowed, inspection != .all { return }
        inspect(decision, of: question, newRoot: newRoot, &step) {
            rules.decideWrite(targets, newRoot: newRoot, request, recording: .values)
        }
    }

    /// Whether the rules allow to read everything at a path. The server asks for itself, so nothing is noted.
    func mayRead(_ path: Path, as identity: Identity, _ now: Timestamp) -> Bool {
        if identity.isAdmin { return true }
        let request = RulesRequest(root: root, auth: identity.auth, now: commitTime(now))
        return rules.decideRead(path, query: nil, request).isAllowed
    }
}

/// What can be said of a write before its value is read.
extension Database {
    /// Whether the rules refuse any write at a target, or any update below it, whatever its value.
    ///
    /// Notes a refusal like any other, but does not ask the shadow rules: they may look at the value, which is not
    /// known.
    func foreseesRefusal(
        of target: WriteTarget,
        isUpdate: Bool,
        by requester: Requester,
        _ step: inout Step
    ) -> Bool {
        if requester.identity.isAdmin { return false }
        let time = commitTime(step.now)
        let request = RulesRequest(root: root, auth: requester.identity.auth, now: time)
        if rules.mayGrantWrite(at: target.path, isUpdate: isUpdate, request) { return false }
        // Any new data will do: no rule that decides looks at it.
        let decision = rules.decideWrite([target], newRoot: root, request)
        if decision.isAllowed { return false }
        let base = isUpdate ? target.path : nil
        let question = Question(.write([target], base: base), requester, at: time)
        inspect(decision, of: question, newRoot: root, &step) {
            rules.decideWrite([target], newRoot: root, request, recording: .values)
        }
        return true
    }
}
