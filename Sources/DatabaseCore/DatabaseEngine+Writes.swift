import EventProtocol
import JSONTree
import Queries
import WireProtocol

/// A write of a session, until it is answered.
struct SessionWrite {
    let request: Int64
    var write: Write
    /// The new child of a push.
    var key: Key?
    /// What was worked out for it so far.
    var compared: ComparedNode?
    var decided: DecidedWrite?
    /// How often its node was hashed elsewhere.
    var comparisons = 0

    init(_ request: Int64, _ write: Write, key: Key? = nil) {
        self.request = request
        self.write = write
        self.key = key
    }
}

/// A write of a request that is not part of a session, until it is answered.
struct RequestWrite {
    let id: RequestID
    let database: Database
    let write: Write
    /// The new child of a push.
    let key: Key?
    let tagUse: Request.TagUse
    let standing: Standing
    var compared: ComparedNode?
    var decided: DecidedWrite?
    var comparisons = 0
}

/// Writes of clients: done at once, or when what takes long has been worked out elsewhere.
extension DatabaseEngine {
    /// A write, unless there is no room for its commit. On a disk that is low a few removals have room.
    func perform(
        _ write: Write,
        compared: ComparedNode? = nil,
        decided: DecidedWrite? = nil,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> WriteOutcome {
        let isRemoval =
            logCondition == .diskLow && write.onlyRemoves
            && removalByteCount < policy.removalByteCount
        if !isRemoval, let refusal = logCondition.refusal { return .refused(refusal) }
        let before = database.number
        let firstEffect = effects.count
        let outcome = database.write(
            write,
            compared: compared,
            decided: decided,
            now: now,
            &effects
        )
        if database.number != before { counts.commits += 1 }
        if isRemoval {
            for case .append(let commit) in effects[firstEffect...] {
                removalByteCount += CommitRecord.overheadByteCount + commit.payloadByteCount
            }
        }
        if case .denied = outcome { counts.refusedWrites += 1 }
        database.profile(write, outcome, &effects)
        return outcome
    }

    // MARK: - Of sessions

    /// Does a write and answers it; the session's later messages wait until it is answered.
    func perform(
        _ asked: SessionWrite,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        var asked = asked
        // It may have become somebody else while it waited.
        asked.write.identity = session.identity
        let outcome = perform(
            asked.write,
            compared: asked.compared,
            decided: asked.decided,
            session.database,
            now,
            &effects
        )
        switch outcome {
        case .mustDecide(let large):
            askDecision(on: large, asked, session, &effects)
        case .mustCompare where session.dialect == .wire && asked.compared != nil:
            // What was hashed is there no longer: the client tries again, as with any stale hash.
            answer(asked, .refused(.changing), session, now, &effects)
        case .mustCompare where asked.comparisons >= Limits.comparisons:
            answer(asked, .refused(.changing), session, now, &effects)
        case .mustCompare(let node):
            asked.comparisons += 1
            askHash(of: node, .write(asked), session, &effects)
        case .done, .denied, .refused, .stale:
            answer(asked, outcome, session, now, &effects)
        }
    }

    /// Goes on with a write whose node was hashed; nil when too much waited for it to be worked out.
    func compared(
        _ asked: SessionWrite,
        _ node: Node,
        _ hash: String?,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        var asked = asked
        guard let hash else {
            return answer(asked, .refused(.busy), session, now, &effects)
        }
        asked.compared = ComparedNode(node: node, hash: hash)
        perform(asked, session, now, &effects)
    }

    private func askDecision(
        on large: LargeWrite,
        _ asked: SessionWrite,
        _ session: Session,
        _ effects: inout [Effect]
    ) {
        let inquiry = nextInquiry()
        session.waiting = .decision(inquiry, asked)
        inquiringSessions[inquiry] = session
        effects.append(.work(inquiry, .decide(large)))
    }

    /// Goes on with a large write; nil when too much waited for it to be decided.
    func decided(
        _ asked: SessionWrite,
        _ decided: DecidedWrite?,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        var asked = asked
        guard let decided else {
            return answer(asked, .refused(.busy), session, now, &effects)
        }
        asked.decided = decided
        perform(asked, session, now, &effects)
    }

    private func answer(
        _ asked: SessionWrite,
        _ outcome: WriteOutcome,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        let database = session.database
        switch session.dialect {
        case .wire:
            var body = replyBody(for: outcome)
            // A client tries again at once, with what it has been told by then.
            if case .refused(let refusal) = outcome, case .hash = asked.write.condition,
                refusal == .changing || refusal == .busy
            {
                body = .stale
            }
            database.reply(asked.request, body, to: session, &effects)
        case .events:
            let reply = eventReply(to: asked, outcome, database, now, &effects)
            database.reply(asked.request, reply, to: session, &effects)
        case .serverSent: preconditionFailure("an event stream writes nothing")
        }
    }

    private func eventReply(
        to asked: SessionWrite,
        _ outcome: WriteOutcome,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> EventReply {
        switch outcome {
        case .stale(let node, let tag):
            return maySee(asked.write, database, now, &effects) ? .mismatch(node, tag) : .denied
        case .done where asked.key != nil: return asked.key.map { .pushed($0) } ?? .done
        case .done where asked.write.condition != nil:
            let value = database.node(at: asked.write.conditionTarget)
            // A tag that takes long to work out is had by reading.
            if value.isLarge(from: policy.nodesHashedAtOnce) { return .written(nil) }
            return .written(EntityTag(value))
        case .done: return .written(nil)
        case .denied: return .denied
        case .refused(let refusal): return .refused(refusal.eventCode, refusal.text)
        case .mustCompare, .mustDecide: preconditionFailure("it is answered when that is done")
        }
    }

    /// Whether a writer whose condition does not hold may know what is there instead.
    private func maySee(
        _ write: Write,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> Bool {
        let requester = Requester(write.identity, write.requester.source, .read)
        let path = write.conditionTarget.path
        let outcome = database.read(path, .everything, for: requester, now: now, &effects)
        if case .value = outcome { return true }
        counts.refusedReads += 1
        return false
    }

    // MARK: - Of requests

    /// Does the write of a request and answers it.
    func perform(_ asked: RequestWrite, _ now: Timestamp, _ effects: inout [Effect]) {
        var asked = asked
        let (id, database, write) = (asked.id, asked.database, asked.write)
        let outcome = perform(
            write,
            compared: asked.compared,
            decided: asked.decided,
            database,
            now,
            &effects
        )
        switch outcome {
        case .mustDecide(let large):
            let inquiry = nextInquiry()
            inquiringWrites[inquiry] = asked
            beginWaiting(id, asked.standing)
            effects.append(.work(inquiry, .decide(large)))
        case .mustCompare where asked.comparisons >= Limits.comparisons:
            database.emit(.respond(id, .refused(.changing)), &effects)
        case .mustCompare(let node):
            asked.comparisons += 1
            askHash(
                HashedRequest(
                    id: id,
                    database: database,
                    node: node,
                    use: .condition(asked),
                    standing: asked.standing
                ),
                &effects
            )
        case .stale(let node, let tag):
            let maySee = maySee(write, database, now, &effects)
            let response = maySee ? Response.mismatch(node, tag) : .permissionDenied
            database.emit(.respond(id, response), &effects)
        case .done, .denied, .refused:
            answer(asked, outcome, now, &effects)
        }
    }

    /// Goes on with a large write of a request; nil when too much waited for it to be decided.
    func decided(
        _ asked: RequestWrite,
        _ decided: DecidedWrite?,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        guard goesOn(asked.id, asked.standing, now, &effects) else { return }
        guard let decided else {
            return asked.database.emit(.respond(asked.id, .refused(.busy)), &effects)
        }
        var asked = asked
        asked.decided = decided
        perform(asked, now, &effects)
    }

    private func answer(
        _ asked: RequestWrite,
        _ outcome: WriteOutcome,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        let (write, database) = (asked.write, asked.database)
        var response: Response
        var tagUse = asked.tagUse
        switch outcome {
        case .done(let done):
            let (changes, isCut) = database.shown(done, of: write, now)
            // The tag of a number is as good as the number.
            if isCut { tagUse = .none }
            response =
                write.base == nil
                ? .written(changes[0].new, nil) : .merged(changes.map { ($0.target, $0.new) }, nil)
        case .denied: response = .permissionDenied
        case .refused(let refusal): response = .refused(refusal)
        case .stale, .mustCompare, .mustDecide: preconditionFailure("these are answered before")
        }
        if case .written = response, let key = asked.key { response = .pushed(key, nil) }
        // The tag of the node of an update tells of what was not written, too.
        if tagUse == .wanted, let base = write.base,
            !database.mayRead(base, as: write.identity, now)
        {
            tagUse = .none
        }
        let node = database.node(at: write.conditionTarget)
        answer(asked.id, response, tagUse, of: node, database, asked.standing, &effects)
    }
}
