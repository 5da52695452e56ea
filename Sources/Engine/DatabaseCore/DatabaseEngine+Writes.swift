import EventProtocol
import JSONTree
import Queries
import WireProtocol

/// A write, until it is answered.
struct PendingWrite {
    let asker: Asker
    var write: Write
    /// The new child of a push.
    let pushed: Key?
    let tagUse: Request.TagUse
    /// The results of long work for it.
    var compared: ComparedNode?
    var decided: DecidedWrite?
    /// How often its node was hashed elsewhere.
    var comparisons = 0

    init(
        _ asker: Asker,
        _ entries: [MergeEntry],
        _ base: Path?,
        _ condition: WriteCondition?,
        pushed: Key?,
        _ tagUse: Request.TagUse
    ) {
        let session = asker.session
        write = Write(entries: entries, base: base, identity: asker.identity, writer: session)
        write.condition = condition
        if case .single(let asked) = asker {
            let limit = asked.sizeLimit ?? asked.database.settings.defaultWriteSizeLimit
            write.byteLimit = limit.byteCount
            write.request = asked.id
        } else {
            write.isTransaction = condition != nil
        }
        self.asker = asker
        self.pushed = pushed
        self.tagUse = tagUse
    }

    /// What it is called in the server's log.
    var kind: WriteKind {
        if pushed != nil { return .push }
        if write.base != nil { return .update }
        return write.onlyRemoves ? .remove : .set
    }

    /// Whether it depends on a hash that a client of the wire protocol computed, and will compute again.
    var isHashed: Bool { if case .hash = write.condition { true } else { false } }
}

/// Writes of clients: done at once, or after long work.
extension DatabaseEngine {
    /// Does a write and answers it; its session's later messages wait until it is answered.
    func write(_ asked: PendingWrite, _ step: inout Step) {
        var asked = asked
        // Its session may have got another identity while it waited.
        asked.write.identity = asked.asker.identity
        let outcome = commit(asked, &step)
        switch outcome {
        case .mustDecide(let large): wait(for: .decide(large), .decision(asked), asked.asker, &step)
        // The node has changed since it was hashed. A client with a hash tries again, as with any stale one.
        case .mustCompare where asked.comparisons >= (asked.isHashed ? 1 : Limits.comparisons):
            answerWrite(asked, .refused(.changing), &step)
        case .mustCompare(let node):
            asked.comparisons += 1
            var hash: String?
            if case .hash(let given) = asked.write.condition { hash = given }
            wait(for: .hash(node, like: hash), .condition(asked, node), asked.asker, &step)
        case .done, .denied, .refused, .stale: answerWrite(asked, outcome, &step)
        }
    }

    /// Makes a write a commit, if the log has room. On a disk that is low a few removals have room.
    private func commit(_ asked: PendingWrite, _ step: inout Step) -> WriteOutcome {
        let (write, database) = (asked.write, asked.asker.database)
        let isRemoval =
            logCondition == .diskLow && write.onlyRemoves
            && takenByteCount < policy.removalByteCount
        if !isRemoval, let refusal = writeRefusal { return .refused(refusal) }
        let before = database.number
        let firstEffect = step.effects.count
        let (compared, decided) = (asked.compared, asked.decided)
        let outcome = database.write(write, compared: compared, decided: decided, &step)
        if database.number != before { step.counts.commits += 1 }
        if case .done(let changes) = outcome, let session = asked.asker.session {
            // Ahead of its commit, so that it is on disk no later.
            let byteCount = { changes.reduce(0) { $0 + $1.new.encodingByteCount } }
            let note = note(
                of: .write(asked.kind, write.conditionTarget.path, byteCount: byteCount()),
                by: session
            )
            if let note { step.effects.insert(note, at: firstEffect) }
        }
        countRoom(from: firstEffect, step)
        if case .denied = outcome { step.counts.refusedWrites += 1 }
        database.profileWrite(write, outcome, &step)
        return outcome
    }

    func answerWrite(_ asked: PendingWrite, _ outcome: WriteOutcome, _ step: inout Step) {
        let asker = asked.asker
        switch outcome {
        case .done(let changes): answerDone(asked, changes, &step)
        case .denied: answer(.denied, to: asker, &step)
        case .refused(.busy) where asked.isHashed: answer(.refused(.changing), to: asker, &step)
        case .refused(let refusal): answer(.refused(refusal), to: asker, &step)
        case .stale(let node, let tag):
            let maySee = asked.isHashed || maySee(asked.write.conditionTarget.path, asker, &step)
            answer(maySee ? .mismatch(node, tag) : .denied, to: asker, &step)
        case .mustCompare, .mustDecide: preconditionFailure("it is answered when that is done")
        }
    }

    private func answerDone(_ asked: PendingWrite, _ changes: [Change], _ step: inout Step) {
        let (write, database) = (asked.write, asked.asker.database)
        let target = write.conditionTarget
        var (shown, tagUse) = (changes, asked.tagUse)
        if asked.asker.session == nil {
            let (kept, isCut) = database.shownChanges(changes, of: write, step.now)
            shown = kept
            // The tag of a number is as good as the number.
            if isCut { tagUse = .none }
            // The tag of an update reveals data that was not written, too.
            if tagUse == .wanted, let base = write.base,
                !database.mayRead(base, as: write.identity, step.now)
            {
                tagUse = .none
            }
        }
        var done = Answer.written(shown, isUpdate: write.base != nil, nil)
        if let key = asked.pushed { done = .pushed(key, nil) }
        answerTagged(
            done,
            tagUse,
            of: database.root.node(at: target),
            at: target.path,
            to: asked.asker,
            &step
        )
    }

    /// Whether a writer whose condition does not hold may read the data.
    private func maySee(_ path: Path, _ asker: Asker, _ step: inout Step) -> Bool {
        let read = Read(path: path, query: .everything, requester: asker.requester(.read))
        if case .value = asker.database.readOnce(read, &step) { return true }
        step.counts.refusedReads += 1
        return false
    }
}
