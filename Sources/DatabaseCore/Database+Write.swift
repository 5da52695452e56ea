import EventProtocol
import JSONTree
import SecurityRules
import WireProtocol

/// A change of the tree as somebody asks for it.
struct Write {
    /// In the order of the request; no target is at or below another.
    let entries: [MergeEntry]
    /// Where the paths of a multi-path update begin; nil for a put, which has one entry.
    let base: Path?
    var identity: Identity
    /// The session that asked, whose own listens hear of the commit before the answer leaves.
    let writer: Session?
    /// The request that asked, of no session.
    var request: RequestID?
    /// Bytes that it may touch: of what it writes and of what it replaces, as the log encodes them.
    var byteLimit: Int?
    /// Whether it counts only if the client saw what is there.
    var isTransaction = false
    /// What must be there for it to count; nil for whatever is there.
    var condition: WriteCondition?

    /// Who asks the rules for it.
    var requester: Requester {
        let operation: DecisionRecord.Operation =
            if isTransaction { .transaction } else { base == nil ? .set : .update }
        if let writer { return Requester(identity, .session(writer), operation) }
        return Requester(identity, request.map { .request($0) } ?? .ended, operation)
    }

    /// Whether nothing it writes is anything but null.
    var onlyRemoves: Bool {
        entries.allSatisfy { $0.draft.node.isAbsent && $0.draft.serverValues.isEmpty }
    }

    /// What its condition is about.
    var conditionTarget: WriteTarget { base.map { WriteTarget(path: $0) } ?? entries[0].target }

    static func put(
        _ target: WriteTarget,
        _ draft: Draft,
        as identity: Identity,
        by writer: Session?
    ) -> Write {
        let entry = MergeEntry(target: target, draft: draft)
        return Write(entries: [entry], base: nil, identity: identity, writer: writer)
    }
}

/// What became of a write.
enum WriteOutcome {
    /// It holds, with these resolved values in the order of the entries. Without a difference
    /// there is no commit.
    case done([Change])
    case denied(Decision)
    case refused(RequestRefusal)
    /// Its condition does not hold: what was compared instead, and its tag. The rules have agreed, but maybe not to
    /// a read.
    case stale(Node, EntityTag)
    /// Its condition is about a node that takes too long to hash here. The rules have agreed.
    case mustCompare(Node)
    /// It takes too long to ask the rules here.
    case mustDecide(LargeWrite)
}

/// One resolved value of a commit, and what stood there.
struct Change {
    let target: WriteTarget
    let old: Node
    let new: Node
}

extension ArraySlice<Change> {
    /// The order in which changes must be applied one by one to act as one.
    var inOrderOfApplication: [Change] {
        if count == 1 || allSatisfy({ $0.turn == .set }) { return Array(self) }
        return WriteTurn.allCases.flatMap { turn in filter { $0.turn == turn } }
    }
}

extension Change {
    fileprivate var turn: WriteTurn { WriteTurn(writing: new, at: target) }
}

extension Database {
    /// Judges a write and, if it may be, makes it a commit, tells the listens, and keeps the answer
    /// for the caller to send.
    ///
    /// The order is: what the request itself shows, the rules, its condition, its size. Nothing before the rules
    /// depends on data, so who may not write has one answer, whatever is there.
    ///
    /// `also` joins the commit; with it there is a commit even if no value differs. `compared` and `decided` are what
    /// was worked out elsewhere for this write.
    func write(
        _ write: Write,
        also operations: [CommitOperation] = [],
        compared: ComparedNode? = nil,
        decided: DecidedWrite? = nil,
        now: Timestamp,
        _ effects: inout [Effect],
    ) -> WriteOutcome {
        if let refusal = refusal(of: write) { return .refused(refusal) }
        let time = commitTime(now)
        if let decided {
            if !decided.isAllowed {
                note(decided.decision, of: write, newRoot: decided.newRoot, at: time, &effects)
                return .denied(decided.decision)
            }
            if let newRoot = decided.newRoot, decided.holds(in: self, for: write) {
                let time = decided.asked.request.now
                let asked = AskedWrite(write, newRoot, decided.decision, compared)
                if let outcome = refusal(of: asked, at: time, &effects) { return outcome }
                return commit(decided.changes, newRoot, of: write, at: time, &effects)
            }
        }
        let attempt = (decided?.asked.attempt ?? 0) + 1
        if let large = largeWrite(write, attempt: attempt, at: time) { return .mustDecide(large) }
        let (newRoot, changes) = Self.resolve(write.entries, in: root, at: time)
        let asked = AskedWrite(write, newRoot, decide(write, newRoot: newRoot, at: time), compared)
        if let outcome = refusal(of: asked, at: time, &effects) { return outcome }
        return commit(changes, newRoot, of: write, also: operations, at: time, &effects)
    }

    /// Makes a write that may be a commit, unless it is too large.
    private func commit(
        _ changes: [Change],
        _ newRoot: Node,
        of write: Write,
        also operations: [CommitOperation] = [],
        at time: Timestamp,
        _ effects: inout [Effect],
    ) -> WriteOutcome {
        if let limit = write.byteLimit, touchesMore(than: limit, changes) {
            return .refused(.tooLarge)
        }
        let isMade = commit(
            changes,
            newRoot,
            base: write.base,
            also: operations,
            at: time,
            write.writer,
            &effects
        )
        return isMade ? .done(changes) : .refused(.tooLarge)
    }

    private func refusal(of write: Write) -> RequestRefusal? {
        if write.entries.count > Limits.mergeEntries { return .tooManyEntries }
        for entry in write.entries where !entry.isWithinDepthLimit { return .tooDeep }
        return nil
    }

    private func touchesMore(than byteLimit: Int, _ changes: [Change]) -> Bool {
        var left = byteLimit
        for change in changes {
            left -= change.new.encodingByteCount + change.old.encodingByteCount
            if left < 0 { return true }
        }
        return false
    }

    /// The tree with every entry in it, all server values read from the tree before.
    ///
    /// The order of the entries, that of members of a JSON object, means nothing.
    static func resolve(
        _ entries: [MergeEntry],
        in root: Node,
        at time: Timestamp
    ) -> (Node, [Change]) {
        let asked = entries.map { entry in
            let node = root.descendant(at: entry.target.path)
            let old = entry.target.isPriority ? node.priority : node
            let new = entry.draft.resolved(existing: old, now: time)
            return Change(target: entry.target, old: old, new: new)
        }
        var newRoot = root
        if asked.count == 1, !asked[0].target.isPriority {
            // By far the most: a put.
            newRoot.set(asked[0].new, at: asked[0].target.path)
            return (newRoot, asked)
        }
        for change in asked[...].inOrderOfApplication {
            if change.target.isPriority {
                newRoot.setPriority(change.new, at: change.target.path)
            } else {
                newRoot.set(change.new, at: change.target.path)
            }
        }
        let changes = asked.map { change in
            guard change.target.isPriority else { return change }
            let kept = newRoot.descendant(at: change.target.path).priority
            return Change(target: change.target, old: change.old, new: kept)
        }
        return (newRoot, changes)
    }

    /// Makes the differences a commit and tells everybody whom it concerns.
    ///
    /// - Returns: whether the log has room for it; if not, nothing is changed.
    private func commit(
        _ changes: [Change],
        _ newRoot: Node,
        base: Path?,
        also operations: [CommitOperation],
        at time: Timestamp,
        _ writer: Session?,
        _ effects: inout [Effect],
    ) -> Bool {
        let differing = changes.filter { $0.old != $0.new }
        if differing.isEmpty, operations.isEmpty { return true }
        var all = differing[...].inOrderOfApplication.map {
            CommitOperation.write($0.target, $0.new)
        }
        all.append(contentsOf: operations)
        let payload = CommitPayload(all)
        if payload.byteCount > commitByteLimit { return false }
        let told = ToldTree(root: root, number: number)
        let oldRoot = root
        append(payload, at: time, &effects)
        root = newRoot
        if rechecksOnData {
            judgeAgain(touching: differing, told: told, writer: writer, now: time, &effects)
        }
        push(differing, base: base, old: oldRoot, &effects)
        for change in differing where change.old.isLarge(from: Limits.nodesReleasedAtOnce) {
            effects.append(.release(change.old))
        }
        return true
    }
}
