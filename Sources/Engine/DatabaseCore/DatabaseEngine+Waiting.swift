import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// An operation that is performed again when its index is there.
struct ParkedOperation {
    let operation: Operation
    let asker: Asker
}

/// What the engine has asked the shell.
enum Inquiry {
    case credential(CredentialUse)
    case index(KeptIndex)
    /// Work that a request waits for, and what it is for.
    case work(Asker, ResultUse)
}

/// What a credential is checked for.
enum CredentialUse {
    case session(Asker, AuthOverride?)
    indirect case single(Request, RequestID)
}

/// How a request continues with the result of its work.
enum ResultUse {
    /// With the children that the query of a read selects. `reader` is allowed to read them.
    case read(AskedRead, reader: Identity)
    /// With the hash of a node: the answer lacks the tag alone. `reader` was allowed to see the node at the path.
    case tag(Answer, at: Path, reader: Identity)
    /// With what the client lacks of the snapshot. The listen is registered and receives nothing until then; the answer
    /// comes behind the data.
    case listen(Listen, Node, Answer)
    /// With the hash of the node that the condition of a write is about.
    case condition(PendingWrite, Node)
    /// With what the rules say to a large write.
    case decision(PendingWrite)
    case labels(RulesetLabels, author: String)
    case simulation
}

/// Requests that wait for work away from the loop, and continue here.
extension DatabaseEngine {
    /// Lets a request wait for long work.
    func wait(for work: LongWork, _ use: ResultUse, _ asker: Asker, _ step: inout Step) {
        let inquiry = inquire(.work(asker, use))
        beginWaiting(asker, .inquiry(inquiry))
        step.effects.append(.work(inquiry, work))
    }

    /// Asks the shell about a credential.
    func awaitCredential(_ token: String, _ use: CredentialUse, _ step: inout Step) {
        let inquiry = inquire(.credential(use))
        if case .session(let asker, _) = use { beginWaiting(asker, .inquiry(inquiry)) }
        step.effects.append(.verify(inquiry, token: token))
    }

    /// Lets a request wait, and the later messages of its session behind it.
    func beginWaiting(_ asker: Asker, _ waiting: Session.Waiting) {
        switch asker {
        case .session(let session, _): session.waiting = waiting
        case .single(let asked): holders.add(asked.principal.term.holder, .request(asked.id))
        }
    }

    /// Continues a request that has waited, then what its session has parked.
    ///
    /// Refuses a request whose credential is no longer valid, unless it is `done` and has its answer.
    func endWaiting(
        _ asker: Asker,
        done: Answer? = nil,
        _ step: inout Step,
        _ body: (inout Step) -> Void
    ) {
        switch asker {
        case .session(let session, _):
            // The session has ended meanwhile.
            guard sessions[session.connection] === session else { return }
            session.waiting = nil
            body(&step)
            receiveParked(session, &step)
        case .single(let asked):
            let isValid = holders.remove(asked.principal.term.holder, .request(asked.id))
            if isValid, !asked.principal.term.isOver(at: step.now) { return body(&step) }
            if let done { return answer(done, to: asker, &step) }
            refuse(asked.id, isValid ? .overdue : .revoked, &step)
        }
    }

    /// Continues what waited for long work.
    func worked(_ inquiry: InquiryID, _ result: LongResult, _ step: inout Step) {
        switch inquiries.removeValue(forKey: inquiry) {
        case .index(let kept):
            var index: ChildIndex?
            if case .index(let built) = result { index = built }
            built(index, kept, &step)
        case .work(let asker, let use):
            var done: Answer?
            // A write is done, with or without a tag.
            if case .tag(let answer, _, _) = use, !answer.isValue { done = answer }
            endWaiting(asker, done: done, &step) { step in finish(use, with: result, asker, &step) }
        case .credential, nil: break
        }
    }

    private func finish(
        _ use: ResultUse,
        with result: LongResult,
        _ asker: Asker,
        _ step: inout Step
    ) {
        switch (use, result) {
        case (.tag(let found, let path, let reader), .hash(let hash)):
            // Its session may have another identity by now, which may not read it.
            let identity = asker.identity
            if found.isValue, identity != reader,
                !asker.database.mayRead(path, as: identity, step.now)
            {
                step.counts.refusedReads += 1
                answer(.denied, to: asker, &step)
            } else {
                answer(found.with(EntityTag(hash: hash)) ?? found, to: asker, &step)
            }
        case (.tag(let found, _, _), _) where !found.isValue: answer(found, to: asker, &step)
        case (.read(let asked, let reader), .selected(let node)):
            collected(node, for: asked, reader: reader, asker, &step)
        case (.listen(let listen, let snapshot, let done), _):
            var comparison = ListenComparison.different
            if case .compared(let found) = result { comparison = found }
            compared(listen, snapshot, comparison, done, asker, &step)
        case (.condition(var asked, let node), .hash(let hash)):
            asked.compared = ComparedNode(node: node, hash: hash)
            write(asked, &step)
        case (.decision(var asked), .decided(let decided)):
            asked.decided = decided
            write(asked, &step)
        case (.condition(let asked, _), _), (.decision(let asked), _):
            answerWrite(asked, .refused(.busy), &step)
        case (.labels(let labels, let author), .loaded(let rules)):
            label(labels, by: author, loaded: rules, for: asker.singleRequest, &step)
        case (.simulation, .simulated(let answer)):
            let id = asker.singleRequest.id
            asker.database.emit(.respond(id, .simulated(answer)), &step)
        case (.tag, _), (.read, _), (.labels, _), (.simulation, _):
            // Too much work waited.
            answer(.refused(.busy), to: asker, &step)
        }
    }

    private func inquire(_ inquiry: Inquiry) -> InquiryID {
        lastInquiry += 1
        let id = InquiryID(value: lastInquiry)
        inquiries[id] = inquiry
        return id
    }

    // MARK: - Indexes

    /// Lets an operation wait for an index that is being built, or is begun now.
    func park(_ parked: ParkedOperation, until need: IndexNeed, _ step: inout Step) {
        guard let kept = parked.asker.database.indexes[need] else {
            preconditionFailure("an operation waits for an index that is kept")
        }
        beginWaiting(parked.asker, .index)
        kept.parked.append(parked)
        if kept.snapshot == nil { build(kept, &step) }
    }

    /// Has an index worked out from the present state of its node.
    func build(_ kept: KeptIndex, _ step: inout Step) {
        let node = kept.database.root.descendant(at: kept.need.path)
        kept.snapshot = node
        kept.followCount = 0
        step.effects.append(.work(inquire(.index(kept)), .index(kept.need.order, node)))
    }

    /// Takes in an index, or nil when too much work waited to make it.
    private func built(_ index: ChildIndex?, _ kept: KeptIndex, _ step: inout Step) {
        if let index {
            if let work = kept.database.bringUpToDate(index, for: kept) {
                step.effects.append(.work(inquire(.index(kept)), work))
                return
            }
        } else {
            kept.snapshot = nil
        }
        kept.lastUsed = step.now
        performParked(kept, &step)
    }

    /// Performs some of what waited for an index; the rest in later ticks.
    func performParked(_ kept: KeptIndex, _ step: inout Step) {
        for _ in 0..<Limits.messagesAtOnce {
            guard let parked = kept.parked.popFirst() else { break }
            endWaiting(parked.asker, &step) { step in
                if kept.ready != nil {
                    perform(parked.operation, for: parked.asker, &step)
                } else {
                    answer(.refused(.busy), to: parked.asker, &step)
                }
            }
        }
        if kept.parked.isEmpty {
            kept.database.dropIfIdle(kept)
        } else {
            portions.append(.indexed(kept))
        }
    }

    /// Drops indexes that are not used, and makes sparse ones anew that have grown too large.
    func tendIndexes(_ step: inout Step) {
        for database in sortedDatabases where !database.indexes.isEmpty {
            database.dropIdleIndexes(now: step.now)
            let outgrown = database.indexes.values.filter {
                $0.ready?.wantsRebuild == true && $0.snapshot == nil
            }
            for kept in outgrown.sorted(by: { $0.need.path < $1.need.path }) {
                build(kept, &step)
            }
        }
    }
}
