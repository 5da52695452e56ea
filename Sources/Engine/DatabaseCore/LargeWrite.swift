import JSONTree
import SecurityRules
import WireProtocol

/// A write so large that it is decided and made away from the loop, on the tree as it was when it came.
///
/// An object: an outcome of any write has room for one.
package final class LargeWrite: Sendable {
    let entries: [MergeEntry]
    /// Nil for an administrator's, whom no rule concerns.
    let rules: Ruleset?
    /// The tree and who asks.
    let request: RulesRequest
    let recording: Recording
    /// Whether the tree of a refused write is shown.
    let showsRefused: Bool
    /// 1 for the first time that it is decided.
    let attempt: Int

    init(
        _ entries: [MergeEntry],
        _ rules: Ruleset?,
        _ request: RulesRequest,
        recording: Recording,
        showsRefused: Bool,
        attempt: Int
    ) {
        self.entries = entries
        self.rules = rules
        self.request = request
        self.recording = recording
        self.showsRefused = showsRefused
        self.attempt = attempt
    }

    /// Decides path by path in the order of the request as long as the rules need no new tree: a write whose first path
    /// is refused costs that path. Then makes the new tree and decides all of it.
    ///
    /// - Returns: nil when it is cancelled.
    package func decide(isCancelled: () -> Bool = { false }) -> DecidedWrite? {
        if isCancelled() { return nil }
        let targets = entries.lazy.map(\.target)
        if !showsRefused, let rules {
            let early = rules.refuseEarly(targets, request)
            if let decision = early.decision {
                return DecidedWrite(self, decision, nil, decidedCount: early.checkedCount)
            }
        }
        if isCancelled() { return nil }
        guard
            let (newRoot, changes) = Database.resolve(
                entries,
                in: request.root,
                at: request.now,
                isCancelled: isCancelled
            ), !isCancelled()
        else { return nil }
        let decision = rules?.decideWrite(
            Array(targets),
            newRoot: newRoot,
            request,
            recording: recording.union(.pathsIfFew)
        )
        if isCancelled() { return nil }
        let made = MadeWrite(newRoot, changes)
        return DecidedWrite(self, decision, made, decidedCount: entries.count)
    }
}

/// The tree that a write makes, and the commit that it is.
struct MadeWrite: Sendable {
    let newRoot: Node
    /// In the order of the entries.
    let changes: [Change]
    /// Those that differ; finding them reads what is equal to its end.
    let differing: [Change]
    /// The commit of these.
    let payload: CommitPayload

    init(_ newRoot: Node, _ changes: [Change]) {
        self.newRoot = newRoot
        self.changes = changes
        differing = changes.filter { $0.old != $0.new }
        payload = CommitPayload(differing.operations)
    }
}

/// What the rules say to a large write, and what it makes of the tree it was decided on.
package final class DecidedWrite: Sendable {
    let asked: LargeWrite
    /// Nil for an administrator's.
    let decision: Decision?
    /// Nil for one that was refused before there was a new tree.
    let made: MadeWrite?
    /// Paths that the rules were asked about.
    package let decidedCount: Int

    init(_ asked: LargeWrite, _ decision: Decision?, _ made: MadeWrite?, decidedCount: Int) {
        self.asked = asked
        self.decision = decision
        self.made = made
        self.decidedCount = decidedCount
    }

    /// About the bytes of memory that its paths take: some 300 each, for entries and changes.
    package var byteCount: Int { 300 * asked.entries.count }

    /// Whether the rules allow it.
    package var isAllowed: Bool { decision?.isAllowed ?? true }

    /// What it makes of the tree of a database; nil when something that it depends on has changed since it was decided.
    ///
    ///     decided on       /a/b  /a/c  /d        a write of /a/b and /a/c, whose rules looked at /d
    ///     since changed    /e                    the new /a is put into the tree with the new /e
    func made(for write: Write, in database: Database) -> MadeWrite? {
        guard let made, write.identity.isAdmin == (asked.rules == nil) else { return nil }
        if let rules = asked.rules {
            if rules !== database.rules || write.identity.auth != asked.request.auth { return nil }
        }
        let (before, now) = (asked.request.root, database.root)
        if now.isIdentical(to: before) { return made }
        guard decision?.lookedAtMany != true, let top = asked.entries.commonPath
        else { return nil }
        for path in (decision?.lookedAt ?? []) + [top]
        where !now.descendant(at: path).isIdentical(to: before.descendant(at: path)) { return nil }
        var newRoot = now
        newRoot.set(made.newRoot.descendant(at: top), at: top)
        return MadeWrite(made, newRoot)
    }
}

extension MadeWrite {
    /// The same changes, made in another tree.
    fileprivate init(_ made: MadeWrite, _ newRoot: Node) {
        self.newRoot = newRoot
        (changes, differing, payload) = (made.changes, made.differing, made.payload)
    }
}

extension [MergeEntry] {
    /// The path that all targets are at or below; nil for the root, and for none.
    fileprivate var commonPath: Path? {
        guard var common = first?.target.path else { return nil }
        for entry in self {
            while !common.isPrefix(of: entry.target.path) { common = common.parent ?? .root }
        }
        return common.isRoot ? nil : common
    }
}

extension Database {
    /// A write that is too large to decide here; nil for others, and for one whose tree has changed each time that it
    /// was decided.
    func largeWrite(_ write: Write, attempt: Int, at time: Timestamp) -> LargeWrite? {
        if attempt > Limits.comparisons || !isLarge(write) { return nil }
        return LargeWrite(
            write.entries,
            write.identity.isAdmin ? nil : rules,
            RulesRequest(root: root, auth: write.identity.auth, now: time),
            recording: inspection == .all ? Recording.values : Recording(),
            showsRefused: inspection != .off || shadow != nil,
            attempt: attempt
        )
    }

    private func isLarge(_ write: Write) -> Bool {
        var pathCount = write.entries.count
        var nodesLeft = bounds.nodesDecidedAtOnce
        for entry in write.entries where pathCount <= bounds.pathsDecidedAtOnce && nodesLeft > 0 {
            pathCount += entry.draft.serverValues.count
            if entry.draft.node.isMap { nodesLeft -= entry.draft.node.weight(upTo: nodesLeft) }
        }
        return pathCount > bounds.pathsDecidedAtOnce || nodesLeft <= 0
    }
}
