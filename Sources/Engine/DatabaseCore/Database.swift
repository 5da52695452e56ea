import EventProtocol
import JSONTree
import RulesTools
import SecurityRules
import WireProtocol

/// One database: its tree, rules, listens, and the order of its commits.
///
/// Invariant: `root` is what commit `number` left; every commit in between has been handed out as
/// `Effect.append`, and nothing that depends on one leaves before the log has it.
final class Database {
    let id: DatabaseID
    var root = Node.absent
    var number = CommitNumber.zero
    /// The time of the newest commit; commits never go back in time.
    var time = Timestamp(milliseconds: 0)
    /// The rules of its own, which win over the default ones.
    var ownRules: Ruleset?
    var defaultRules: Ruleset
    var settings = DatabaseSettings()
    /// Rules that are tried beside those in force; nil while none are.
    var shadow: ShadowRules?
    /// On-disconnect writes of live sessions and of those that ended with the process.
    var disconnects: [SessionID: DisconnectState] = [:]

    /// The nodes that listens show and indexes are of.
    var watched = PathTrie<WatchedNode>()
    var listens: [ListenID: Listen] = [:]
    var viewCount = 0
    var indexes: [IndexNeed: KeptIndex] = [:]
    /// Entries of all indexes that the rules do not declare.
    var undeclaredEntryCount = 0
    /// Which listens depend on which paths: their rules looked there.
    var dependents = PathTrie<Set<ListenID>>()
    /// Sessions that are over and have listens left, oldest first. Keeps the sessions, which their listens do not.
    var leaving: [(session: Session, listens: ArraySlice<Listen>)] = []
    /// Listens awaiting a decision, oldest first.
    var undecided: ArraySlice<ListenID> = []
    /// Whether every operation is reported to the profiler.
    var isProfiled = false
    /// Counts what one commit sends to listeners while the profiler is on.
    var tally: BroadcastTally?
    /// Which decisions of the rules are reported.
    var inspection: InspectionLevel
    /// What decisions under the rules in force have consulted while all were reported.
    var coverage: (rules: Ruleset, counts: Coverage)?
    /// How often the rules have refused what.
    var refusalCounts: [DecisionRecord.Operation: Int] = [:]
    private var outbox = Outbox(flushedThrough: .zero)

    /// The sum of `byteCount` over `disconnects`.
    var disconnectByteCount = 0

    /// What runs when a session ends, and on whose behalf.
    struct DisconnectState: Sendable {
        var identity: Identity
        var writes = OnDisconnectWrites()
        /// At least the bytes of `writes` in the log; includes what was replaced since the last count.
        var byteCount = 0
        /// The part of `byteCount` that came since the last exact count.
        var addedByteCount = 0
    }

    /// Whether listens are authorized again when data that their rule looked at changes.
    let rechecksOnData: Bool
    /// Whether clients get the reason when the rules refuse them, while refusals are inspected.
    let explainsRefusals: Bool
    /// What one step may take.
    let bounds: EnginePolicy.Bounds

    init(id: DatabaseID, defaultRules: Ruleset, _ policy: EnginePolicy) {
        self.id = id
        self.defaultRules = defaultRules
        rechecksOnData = policy.rechecksOnData
        inspection = policy.inspection
        explainsRefusals = policy.explainsRefusals
        bounds = policy.bounds
    }

    /// Whether `Input.longWork` has anything to do here.
    var hasWork: Bool { !undecided.isEmpty || !leaving.isEmpty }

    /// The rules in force.
    var rules: Ruleset { ownRules ?? defaultRules }

    /// Sends `effect` out as soon as everything it can depend on is durable.
    func emit(_ effect: Effect, _ step: inout Step) {
        if tally != nil { tally?.note(effect) }
        outbox.emit(effect, after: number, into: &step.effects)
    }

    func flushed(through number: CommitNumber, _ step: inout Step) {
        precondition(number <= self.number, "only commits that were made can be durable")
        outbox.flushed(through: number, into: &step.effects)
    }

    /// Begins anew from what recovery found: everything is durable.
    func recovered() {
        outbox = Outbox(flushedThrough: number)
    }

    /// Numbers the operations as the next commit and hands it to the log.
    func append(_ operations: [CommitOperation], at time: Timestamp, _ step: inout Step) {
        appendPayload(CommitPayload(operations), at: time, &step)
    }

    /// Numbers the payload as the next commit and hands it to the log.
    func appendPayload(_ payload: CommitPayload, at time: Timestamp, _ step: inout Step) {
        precondition(step.makesCommits, "the owner of the group makes the commits")
        precondition(
            payload.byteCount <= Limits.commitByteCount,
            "the log has room for every commit"
        )
        number = number.next
        self.time = time
        step.effects.append(.append(CommitRecord(id, number, time, payload)))
    }

    /// The time of a commit made now: a clock that was set back does not move it.
    func commitTime(_ now: Timestamp) -> Timestamp { max(now, time) }
}
