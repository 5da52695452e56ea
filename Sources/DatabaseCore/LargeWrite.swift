import JSONTree
import SecurityRules
import WireProtocol

/// A write of so much that the rules are asked away from the loop, about the tree as it was when it came.
///
/// An object, as every write that is not large carries the room for one.
package final class LargeWrite: Sendable {
    let entries: [MergeEntry]
    let rules: Ruleset
    /// The tree and who asks.
    let request: RulesRequest
    let recording: Recording
    /// Whether somebody is shown what a refused write would have left.
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

    /// Asks the rules, path by path in the order of the request as long as they need no new tree: a write whose first
    /// path is refused costs that path. Only then is the new tree made and all of it decided.
    ///
    /// - Returns: nil when nobody waits for it any more.
    package func decide(isCancelled: () -> Bool = { false }) -> DecidedWrite? {
        if isCancelled() { return nil }
        let targets = entries.lazy.map(\.target)
        if !showsRefused {
            let early = rules.refuseEarly(targets, request)
            if let decision = early.decision {
                return DecidedWrite(self, decision, judgedCount: early.judgedCount)
            }
        }
        if isCancelled() { return nil }
        let (newRoot, changes) = Database.resolve(entries, in: request.root, at: request.now)
        if isCancelled() { return nil }
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
            judgedCount: entries.count
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
    package let judgedCount: Int

    init(
        _ asked: LargeWrite,
        _ decision: Decision,
        newRoot: Node? = nil,
        changes: [Change] = [],
        judgedCount: Int
    ) {
        self.asked = asked
        self.decision = decision
        self.newRoot = newRoot
        self.changes = changes
        self.judgedCount = judgedCount
    }

    /// Whether the rules allow it.
    package var isAllowed: Bool { decision.isAllowed }

    /// Paths whose values were worked out.
    package var resolvedCount: Int { changes.count }

    /// Whether nothing has changed since that it rests on.
    func holds(in database: Database, for write: Write) -> Bool {
        database.root.isIdentical(to: asked.request.root) && database.rules === asked.rules
            && database.time <= asked.request.now && write.identity.auth == asked.request.auth
            && !write.identity.isAdmin
    }
}

extension Database {
    /// A write that is too large to be decided here; nil for others, for those of administrators, whom no rule concerns,
    /// and for one whose tree has changed each time that it was decided.
    func largeWrite(_ write: Write, attempt: Int, at time: Timestamp) -> LargeWrite? {
        if write.identity.isAdmin || attempt > Limits.comparisons { return nil }
        var count = write.entries.count
        for entry in write.entries where count <= pathsDecidedAtOnce {
            count += entry.draft.serverValues.count
        }
        if count <= pathsDecidedAtOnce { return nil }
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
