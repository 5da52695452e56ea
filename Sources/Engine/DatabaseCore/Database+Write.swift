import EventProtocol
import JSONTree
import SecurityRules
import WireProtocol

/// A change of the tree as a client asks for it.
struct Write {
    /// In the order of the request; no target is at or below another.
    let entries: [MergeEntry]
    /// Where the paths of a multi-path update begin; nil for a put, which has one entry.
    let base: Path?
    var identity: Identity
    /// The session that asked; its own listens are notified of the commit before the answer leaves.
    let writer: Session?
    /// The single request that asked.
    var request: RequestID?
    /// Bytes that it may touch: of what it writes and of what it replaces, as the log encodes them.
    var byteLimit: Int?
    /// Whether it is done only if the client saw the present data.
    var isTransaction = false
    /// The data that it requires; nil for any.
    var condition: WriteCondition?

    /// Who asks the rules for it.
    var requester: Requester {
        let operation: DecisionRecord.Operation =
            if isTransaction { .transaction } else { base == nil ? .set : .update }
        if let writer { return Requester(identity, .session(writer), operation) }
        return Requester(identity, request.map { .request($0) } ?? .ended, operation)
    }

    /// Whether it writes only null.
    var onlyRemoves: Bool {
        entries.allSatisfy { $0.draft.node.isAbsent && $0.draft.serverValues.isEmpty }
    }

    /// The target of its condition.
    var conditionTarget: WriteTarget { base.map { WriteTarget(path: $0) } ?? entries[0].target }
}

/// The outcome of a write.
enum WriteOutcome {
    /// It is done, with these resolved values in the order of the entries. Without a difference there is no commit.
    case done([Change])
    case denied(Decision)
    case refused(RequestRefusal)
    /// Its condition does not hold: the node that was compared, and its tag. The rules allow the write, but maybe not a
    /// read.
    case stale(Node, EntityTag)
    /// Its condition is about a node that takes too long to hash here. The rules allow it.
    case mustCompare(Node)
    /// The rules need too long for it to decide here.
    case mustDecide(LargeWrite)
}

/// One resolved value of a commit, and the one before.
struct Change: Sendable {
    let target: WriteTarget
    let old: Node
    let new: Node
}

extension ArraySlice<Change> {
    /// The order in which changes must be applied one by one to act as one.
    var inOrderOfApplication: [Change] {
        if count == 1 || allSatisfy({ $0.phase == .set }) { return Array(self) }
        return WritePhase.allCases.flatMap { phase in filter { $0.phase == phase } }
    }
}

extension [Change] {
    /// The operations of a commit of them.
    var operations: [CommitOperation] {
        self[...].inOrderOfApplication.map { CommitOperation.write($0.target, $0.new) }
    }
}

extension Change {
    fileprivate var phase: WritePhase { WritePhase(writing: new, at: target) }
}

extension Database {
    /// Decides a write and, if it is allowed, makes it a commit and notifies the listens. The caller sends the answer.
    ///
    /// Checks the shape of the request, the rules, its condition, its size, in this order. Nothing before the rules
    /// depends on data, so a client that may not write gets one answer, whatever the data is.
    ///
    /// `also` joins the commit; with it there is a commit even if no value differs. `compared` and `decided` are
    /// results of long work for this write.
    func write(
        _ write: Write,
        also operations: [CommitOperation] = [],
        compared: ComparedNode? = nil,
        decided: DecidedWrite? = nil,
        _ step: inout Step,
    ) -> WriteOutcome {
        if write.entries.count > Limits.mergeEntries { return .refused(.tooManyEntries) }
        for entry in write.entries where !entry.isWithinDepthLimit { return .refused(.tooDeep) }
        let time = commitTime(step.now)
        if let decided {
            if let decision = decided.decision, !decision.isAllowed {
                noteWrite(decision, of: write, newRoot: decided.made?.newRoot, at: time, &step)
                return .denied(decision)
            }
            if let made = decided.made(for: write, in: self) {
                let asked = AskedWrite(write, made.newRoot, decided.decision, compared)
                let askedTime = decided.asked.request.now
                if let outcome = refusalByRules(of: asked, at: askedTime, &step) { return outcome }
                return commit(made, of: write, at: commitTime(askedTime), &step)
            }
        }
        let attempt = (decided?.asked.attempt ?? 0) + 1
        if operations.isEmpty, let large = largeWrite(write, attempt: attempt, at: time) {
            return .mustDecide(large)
        }
        let (newRoot, changes) = Self.resolve(write.entries, in: root, at: time)
        let asked = AskedWrite(write, newRoot, decide(write, newRoot: newRoot, at: time), compared)
        if let outcome = refusalByRules(of: asked, at: time, &step) { return outcome }
        return commit(MadeWrite(newRoot, changes), of: write, also: operations, at: time, &step)
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
        at time: Timestamp,
    ) -> (Node, [Change]) {
        guard let resolved = resolve(entries, in: root, at: time, isCancelled: { false }) else {
            preconditionFailure("it is never cancelled")
        }
        return resolved
    }

    /// The same; nil once `isCancelled`, which is asked every 1,024 paths or server values.
    static func resolve(
        _ entries: [MergeEntry],
        in root: Node,
        at time: Timestamp,
        isCancelled: () -> Bool,
    ) -> (Node, [Change])? {
        var steps = 0
        func isOver() -> Bool {
            steps += 1
            return steps & 0x3FF == 0 && isCancelled()
        }
        var asked: [Change] = []
        asked.reserveCapacity(entries.count)
        for entry in entries {
            let old = root.node(at: entry.target)
            guard !isOver(),
                let new = entry.draft.resolved(existing: old, now: time, isCancelled: isCancelled)
            else { return nil }
            asked.append(Change(target: entry.target, old: old, new: new))
        }
        var newRoot = root
        if asked.count == 1, !asked[0].target.isPriority {
            // By far the most: a put.
            newRoot.set(asked[0].new, at: asked[0].target.path)
            return (newRoot, asked)
        }
        for change in asked[...].inOrderOfApplication {
            if isOver() { return nil }
            newRoot.write(change.new, at: change.target)
        }
        let changes = asked.map { change in
            guard change.target.isPriority else { return change }
            let kept = newRoot.descendant(at: change.target.path).priority
            return Change(target: change.target, old: change.old, new: kept)
        }
        return (newRoot, changes)
    }

    /// Makes the differences a commit and notifies the listens, unless it is too large.
    private func commit(
        _ made: MadeWrite,
        of write: Write,
        also operations: [CommitOperation] = [],
        at time: Timestamp,
        _ step: inout Step,
    ) -> WriteOutcome {
        let (changes, differing) = (made.changes, made.differing)
        if let limit = write.byteLimit, touchesMore(than: limit, changes) {
            return .refused(.tooLarge)
        }
        if differing.isEmpty, operations.isEmpty { return .done(changes) }
        let payload =
            operations.isEmpty ? made.payload : CommitPayload(differing.operations + operations)
        if payload.byteCount > bounds.commitByteCount { return .refused(.tooLarge) }
        let notified = NotifiedTree(root: root, number: number)
        let oldRoot = root
        appendPayload(payload, at: time, &step)
        root = made.newRoot
        if rechecksOnData {
            reauthorizeDependents(on: differing, notified: notified, writer: write.writer, &step)
        }
        push(differing, base: write.base, old: oldRoot, &step)
        for change in differing where change.old.isLarge(from: Limits.nodesReleasedAtOnce) {
            step.effects.append(.release(change.old))
        }
        return .done(changes)
    }
}
