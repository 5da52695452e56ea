import JSONTree
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
    /// On-disconnect writes of live sessions and of those that ended with the process.
    var disconnects: [SessionID: DisconnectState] = [:]

    var views = PathTrie<[View]>()
    var listens: [ListenID: Listen] = [:]
    /// Which listens looked at which paths when they were judged.
    var dependents = PathTrie<Set<ListenID>>()
    /// Listens that await a verdict, oldest first.
    var held: [ListenID] = []
    private var outbox = Outbox(flushedThrough: .zero)

    /// The sum of `byteCount` over `disconnects`.
    var disconnectByteCount = 0

    /// What runs when a session ends, and on whose behalf.
    struct DisconnectState: Sendable {
        var identity: Identity
        var writes = OnDisconnectWrites()
        /// At least the bytes of `writes` in the log; what was replaced since the last count is still in it.
        var byteCount = 0
        /// The part of `byteCount` that came since the last exact count.
        var addedByteCount = 0
    }

    /// Whether listens are judged again when data that their rule looked at changes.
    let rechecksOnData: Bool
    /// Bytes of one commit.
    let commitByteLimit: Int

    init(id: DatabaseID, defaultRules: Ruleset, rechecksOnData: Bool, commitByteLimit: Int) {
        self.id = id
        self.defaultRules = defaultRules
        self.rechecksOnData = rechecksOnData
        self.commitByteLimit = commitByteLimit
    }

    /// The rules in force.
    var rules: Ruleset { ownRules ?? defaultRules }

    /// Sends `effect` out as soon as everything it can depend on is durable.
    func emit(_ effect: Effect, _ effects: inout [Effect]) {
        outbox.emit(effect, after: number, into: &effects)
    }

    func reply(_ request: Int64, _ body: ReplyBody, to session: Session, _ effects: inout [Effect])
    {
        let message = ServerMessage.reply(request, body).encoded()
        emit(.send(.text(message), to: [session.connection]), &effects)
    }

    func flushed(through number: CommitNumber, _ effects: inout [Effect]) {
        precondition(number <= self.number, "only commits that were made can be durable")
        outbox.flushed(through: number, into: &effects)
    }

    /// Begins anew from what recovery found: everything is durable.
    func recovered() {
        outbox = Outbox(flushedThrough: number)
    }

    /// Numbers the operations as the next commit and hands it to the log.
    func append(_ operations: [CommitOperation], at time: Timestamp, _ effects: inout [Effect]) {
        append(payload: CommitEncoder.encode(operations), at: time, &effects)
    }

    /// Numbers encoded operations as the next commit and hands it to the log.
    func append(payload: [UInt8], at time: Timestamp, _ effects: inout [Effect]) {
        precondition(payload.count <= Limits.commitByteCount, "the log has room for every commit")
        number = number.next
        self.time = time
        effects.append(
            .append(CommitRecord(database: id, number: number, time: time, payload: payload))
        )
    }

    /// The time of a commit made now: a clock that was set back does not move it.
    func commitTime(_ now: Timestamp) -> Timestamp { max(now, time) }
}
