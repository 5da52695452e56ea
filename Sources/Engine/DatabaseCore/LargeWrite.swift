import JSONTree
import SecurityRules
import WireProtocol

/// A write so large that the rules decide it away from the loop, on the tree as it was when it came.
///
/// An object: an outcome of any write has room for one.
package final class LargeWrite: Sendable {
    let entries: [MergeEntry]
    let rules: Ruleset
    /// The tree and who asks.
    let request: RulesRequest
    let recording: Recording
    /// Whether the tree of a refused write is shown.
    let showsRefused: Bool
    /// 1 for the first time that it is decided.
    let attempt: Int

    init(
        _ entries: [MergeEntry],
        _ rules: Ruleset,
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
        if !showsRefused {
            let early = rules.refuseEarly(targets, request)
            if let decision = early.decision {
                return DecidedWrite(self, decision, decidedCount: early.checkedCount)
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
        let decision = rules.decideWrite(
            Array(targets),
            newRoot: newRoot,
            request,
            recording: recording
        )
        return DecidedWrite(
            self,
            decision,
            newRoot: newRoot,
            changes: changes,
            decidedCount: entries.count
        )
    }
}

/// What the rules say to a large write, and what it makes of the tree it was decided on.
package final class DecidedWrite: Sendable {
    let asked: LargeWrite
    let decision: Decision
    /// Nil for one that was refused before there was a new tree.
    let newRoot: Node?
    let changes: [Change]
    /// Paths that the rules were asked about.
    package let decidedCount: Int

    init(
        _ asked: LargeWrite,
        _ decision: Decision,
        newRoot: Node? = nil,
        changes: [Change] = [],
        decidedCount: Int
    ) {
        self.asked = asked
        self.decision = decision
        self.newRoot = newRoot
        self.changes = changes
        self.decidedCount = decidedCount
    }

    /// Whether the rules allow it.
    package var isAllowed: Bool { decision.isAllowed }

    /// Whether everything that it depends on is unchanged.
    func holds(in database: Database, for write: Write) -> Bool {
        database.root.isIdentical(to: asked.request.root) && database.rules === asked.rules
            && database.time <= asked.request.now && write.identity.auth == asked.request.auth
            && !write.identity.isAdmin
    }
}

extension Database {
    /// A write that is too large to decide here; nil for others, for those of administrators, whom no rule concerns,
    /// and for one whose tree has changed each time that it was decided.
    func largeWrite(_ write: Write, attempt: Int, at time: Timestamp) -> LargeWrite? {
        if write.identity.isAdmin || attempt > Limits.comparisons { return nil }
        var count = write.entries.count
        for entry in write.entries where count <= bounds.pathsDecidedAtOnce {
            count += entry.draft.serverValues.count
        }
        if count <= bounds.pathsDecidedAtOnce { return nil }
        return LargeWrite(
            write.entries,
            rules,
            RulesRequest(root: root, auth: write.identity.auth, now: time),
            recording: inspection == .all ? Recording.values : Recording(),
            showsRefused: inspection != .off || shadow != nil,
            attempt: attempt
        )
    }
}
