import EventProtocol
import JSONTree
import Queries
import WireProtocol

/// The one dispatcher: whatever protocol a request came by, it is done here.
extension DatabaseEngine {
    /// Does an operation and answers it: now, or when the result that it waits for is there.
    func perform(_ operation: Operation, for asker: Asker, _ step: inout Step) {
        let database = asker.database
        if operation.isChange, asker.term.isReadOnly {
            asker.session?.explanation = "This session only reads."
            return answer(.denied, to: asker, &step)
        }
        var need: IndexNeed?
        switch operation {
        case .answered(let message, let advice):
            let session = asker.ownSession
            if let advice { tellDeveloper(advice, session, &step) }
            if let message { database.emit(.send(message, to: [session.connection]), &step) }
        case .ping: answer(.pong(now: step.now), to: asker, &step)
        case .authenticate(let token, let override):
            awaitCredential(token, .session(asker, override), &step)
        case .signOut:
            become(.nobody, .unlimited, asker.ownSession, &step)
            answer(.signedOut, to: asker, &step)
        case .get(let target, let query, let use, let form):
            need = get(AskedRead(target, query, use, form), for: asker, &step)
        case .keyAt(let path, let index): keyAt(path, index, for: asker, &step)
        case .listen(let asked, let hash):
            need = listen(asked, hash, on: asker.ownSession, for: asker, &step)
        case .stream(let connection, let asked):
            let session = streamSession(connection, for: asker)
            need = listen(asked, nil, on: session, for: asker, &step)
        case .unlisten(let name): unlisten(name, for: asker, &step)
        case .put(let entry, let condition, let key, let use):
            write(PendingWrite(asker, [entry], nil, condition, pushed: key, use), &step)
        case .update(let base, let entries, let condition, let use):
            write(PendingWrite(asker, entries, base, condition, pushed: nil, use), &step)
        case .storeOnDisconnect(let entries):
            answer(storeOnDisconnect(entries, asker.ownSession, &step), to: asker, &step)
        case .cancelOnDisconnect(let target):
            answer(cancelOnDisconnect(target, asker.ownSession, &step), to: asker, &step)
        case .foresee(let target, let isUpdate):
            foresee(target, isUpdate: isUpdate, for: asker.singleRequest, &step)
        case .administer(let operation): administer(operation, for: asker.singleRequest, &step)
        }
        // It is performed again when the index is there.
        if let need {
            park(ParkedOperation(operation: operation, asker: asker), until: need, &step)
        }
    }

    // MARK: - Answers

    /// Answers in the dialect of the client.
    func answer(_ answer: Answer, to asker: Asker, _ step: inout Step) {
        switch asker {
        case .single(let asked):
            asked.database.emit(.respond(asked.id, Response(answer)), &step)
        case .session(let session, let number):
            let message: OutgoingMessage =
                switch session.dialect {
                case .wire: .wire(answer, to: number)
                case .events: .events(answer, to: number, explanation: session.takeExplanation())
                case .serverSent: preconditionFailure("an event stream asks for nothing")
                }
            session.database.emit(.send(message, to: [session.connection]), &step)
        }
    }

    /// The same with the tag of the node at `path` that it is about, where one belongs and is wanted.
    func answerTagged(
        _ answer: Answer,
        _ use: Request.TagUse,
        of node: @autoclosure () -> Node,
        at path: Path,
        to asker: Asker,
        _ step: inout Step
    ) {
        guard use == .wanted, answer.with(nil) != nil else {
            return self.answer(answer, to: asker, &step)
        }
        let node = node()
        if !node.isLarge(from: policy.bounds.nodesHashedAtOnce) {
            return self.answer(answer.with(EntityTag(node)) ?? answer, to: asker, &step)
        }
        // A session gets a tag that takes long to compute only by reading.
        if asker.session != nil, !answer.isValue { return self.answer(answer, to: asker, &step) }
        let use = ResultUse.tag(answer, at: path, reader: asker.identity)
        wait(for: .hash(node), use, asker, &step)
    }

    /// In development, sends a client what its SDK does not say about a refusal, ahead of it.
    func tellDeveloper(_ text: String, _ session: Session, _ step: inout Step) {
        let database = session.database
        guard database.explainsRefusals, database.inspection != .off else { return }
        let message = ServerMessage.securityDebug(text).encoded()
        database.emit(.send(.text(message), to: [session.connection]), &step)
    }

    // MARK: - Reading

    /// Answers with the value; returns the index that it must wait for.
    private func get(_ asked: AskedRead, for asker: Asker, _ step: inout Step) -> IndexNeed? {
        let (path, query) = (asked.target.path, asked.query)
        let read = Read(path: path, query: query, requester: asker.requester(.read))
        let outcome = asker.database.readOnce(read, &step)
        profile(asked, outcome, for: asker, &step)
        switch outcome {
        case .mustWait(let need): return need
        case .denied:
            step.counts.refusedReads += 1
            answer(.denied, to: asker, &step)
        case .notIndexed(let text): answer(.failed(.indexNotDefined, text), to: asker, &step)
        case .value(let node):
            step.counts.reads += 1
            answer(node, to: asked, for: asker, &step)
        case .mustSelect(let children):
            step.counts.reads += 1
            let use = ResultUse.read(asked, reader: asker.identity)
            wait(for: .select(query, children), use, asker, &step)
        }
        return nil
    }

    /// Continues a read whose children were collected elsewhere. They are those of the tree when it was asked for.
    func collected(
        _ node: Node,
        for asked: AskedRead,
        reader: Identity,
        _ asker: Asker,
        _ step: inout Step
    ) {
        // Its session may have another identity by now.
        if asker.identity != reader {
            return perform(asked.operation, for: asker, &step)
        }
        profile(asked, .value(node), for: asker, &step)
        answer(node, to: asked, for: asker, &step)
    }

    private func answer(
        _ node: Node,
        to asked: AskedRead,
        for asker: Asker,
        _ step: inout Step
    ) {
        let path = asked.target.path
        if let session = asker.session, asked.form != .outline {
            noteRead(of: path, asked.query, session, &step)
        }
        let value = asked.target.isPriority ? node.priority : node
        let found = Answer.value(value, nil, asked.form)
        answerTagged(found, asked.tagUse, of: value, at: path, to: asker, &step)
    }

    private func profile(
        _ asked: AskedRead,
        _ outcome: ReadOutcome,
        for asker: Asker,
        _ step: inout Step
    ) {
        let name = asker.session == nil ? OperationRecord.Name.restRead : .read
        asker.database.profileRead(name, asked.target.path, asked.query, outcome, &step)
    }

    private func keyAt(_ path: Path, _ index: Int, for asker: Asker, _ step: inout Step) {
        let read = Read(path: path, query: .everything, requester: asker.requester(.read))
        guard case .value(let node) = asker.database.readOnce(read, &step) else {
            step.counts.refusedReads += 1
            return answer(.denied, to: asker, &step)
        }
        answer(.key(node.key(at: index)), to: asker, &step)
    }

    private func foresee(
        _ target: WriteTarget,
        isUpdate: Bool,
        for asked: SingleRequest,
        _ step: inout Step
    ) {
        let asker = Asker.single(asked)
        let requester = asker.requester(isUpdate ? .update : .set)
        if asked.database.foreseesRefusal(of: target, isUpdate: isUpdate, by: requester, &step) {
            step.counts.refusedWrites += 1
            answer(.denied, to: asker, &step)
        } else {
            // It depends on no commit, so it does not wait for one.
            step.effects.append(.respond(asked.id, .done))
        }
    }

    // MARK: - On-disconnect writes

    private func storeOnDisconnect(
        _ entries: [MergeEntry],
        _ session: Session,
        _ step: inout Step
    ) -> Answer {
        if let refusal = writeRefusal { return .refused(refusal) }
        let outcome = session.database.storeOnDisconnect(entries, for: session, &step)
        if case .done = outcome, let path = entries.first?.target.path {
            note(.write(.onDisconnect, path, byteCount: entries.byteCount), of: session, &step)
        }
        return outcome
    }

    private func cancelOnDisconnect(
        _ target: WriteTarget,
        _ session: Session,
        _ step: inout Step
    ) -> Answer {
        if let refusal = writeRefusal { return .refused(refusal) }
        return session.database.cancelOnDisconnect(target, for: session, &step)
    }
}

/// A read, until it is answered.
struct AskedRead {
    let target: WriteTarget
    let query: QuerySpec
    let tagUse: Request.TagUse
    let form: Node.JSONForm

    init(
        _ target: WriteTarget,
        _ query: QuerySpec,
        _ tagUse: Request.TagUse,
        _ form: Node.JSONForm
    ) {
        self.target = target
        self.query = query
        self.tagUse = tagUse
        self.form = form
    }

    var operation: Operation { .get(target, query, tagUse, form) }
}

extension LogCondition {
    /// Why writes are refused in this condition.
    var refusal: RequestRefusal? {
        switch self {
        case .ready: nil
        case .diskLow, .diskFull: .noSpace
        case .behind: .logBehind
        }
    }
}

extension Node {
    /// Whether it is a map of at least that many nodes, itself included; 256 bytes of a long text count as
    /// another one. O(nodeCount).
    func isLarge(from nodeCount: Int) -> Bool {
        isMap && weight(upTo: nodeCount) >= nodeCount
    }

    /// Whether nodes together are better encoded as a socket drains; each counts as one node more.
    static func areLarge(_ nodes: some Sequence<Node>) -> Bool {
        let limit = Limits.nodesEncodedAtOnce
        var nodeCount = 0
        for node in nodes where nodeCount < limit { nodeCount += 1 + node.weight(upTo: limit) }
        return nodeCount >= limit
    }
}

extension [MergeEntry] {
    /// Bytes of the values, as the log keeps them.
    fileprivate var byteCount: Int { reduce(0) { $0 + $1.draft.node.encodingByteCount } }
}
