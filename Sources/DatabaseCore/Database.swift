import EventProtocol
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
    var settings = DatabaseSettings()
    /// Rules that are tried beside those in force; nil while none are.
    var shadow: ShadowRules?
    /// On-disconnect writes of live sessions and of those that ended with the process.
    var disconnects: [SessionID: DisconnectState] = [:]

    /// Where listens look, and what indexes are of.
    var watched = PathTrie<WatchedNode>()
    var listens: [ListenID: Listen] = [:]
    var viewCount = 0
    var indexes: [IndexNeed: KeptIndex] = [:]
    /// Entries of all indexes that the rules do not declare.
    var undeclaredEntryCount = 0
    /// Which listens looked at which paths when they were judged.
    var dependents = PathTrie<Set<ListenID>>()
    /// Sessions that are over and have listens left, oldest first. A listen does not hold its session.
    var leaving: [(session: Session, listens: ArraySlice<Listen>)] = []
    /// Listens that await a verdict, oldest first.
    var held: ArraySlice<ListenID> = []
    /// Whether every operation is told to somebody who watches.
    var isProfiled = false
    /// Counts what is sent while a commit is told to listeners and somebody watches.
    var tally: BroadcastTally?
    /// Which decisions of the rules are told.
    var inspection: InspectionLevel
    /// What decisions under the rules in force have consulted while all were told.
    var coverage: (rules: Ruleset, counts: Coverage)?
    var refusalCounts = RefusalCounts()
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
    /// Whether clients are told why the rules refuse them, while refusals are inspected.
    let explainsRefusals: Bool
    /// Bytes of one commit.
    let commitByteLimit: Int
    /// Children of the largest node whose index is built at once.
    let childrenIndexedAtOnce: Int
    /// Nodes of the largest value that is hashed at once.
    let nodesHashedAtOnce: Int
    /// Paths and server values of the largest write that is decided at once.
    let pathsDecidedAtOnce: Int

    init(id: DatabaseID, defaultRules: Ruleset, _ policy: EnginePolicy) {
        self.id = id
        self.defaultRules = defaultRules
        rechecksOnData = policy.rechecksOnData
        inspection = policy.inspection
        explainsRefusals = policy.explainsRefusals
        commitByteLimit = policy.commitByteCount
        childrenIndexedAtOnce = policy.childrenIndexedAtOnce
        nodesHashedAtOnce = policy.nodesHashedAtOnce
        pathsDecidedAtOnce = policy.pathsDecidedAtOnce
    }

    /// Whether `Input.turn` has anything to do here.
    var hasWork: Bool { !held.isEmpty || !leaving.isEmpty }

    /// The rules in force.
    var rules: Ruleset { ownRules ?? defaultRules }

    /// Sends `effect` out as soon as everything it can depend on is durable.
    func emit(_ effect: Effect, _ effects: inout [Effect]) {
        if tally != nil { tally?.note(effect) }
        outbox.emit(effect, after: number, into: &effects)
    }

    func reply(_ request: Int64, _ body: ReplyBody, to session: Session, _ effects: inout [Effect])
    {
        let message = ServerMessage.reply(request, body).encoded()
        emit(.send(.text(message), to: [session.connection]), &effects)
    }

    /// Answers a request of the plain event protocol; without a number one that has none.
    func reply(
        _ request: Int64?,
        _ reply: EventReply,
        to session: Session,
        _ effects: inout [Effect]
    ) {
        var reply = reply
        if case .refused(let error) = reply, error.code == .permissionDenied,
            let explanation = session.takeExplanation()
        {
            reply = .refused(EventError(.permissionDenied, explanation))
        }
        let message: OutgoingMessage
        if let request, reply.isLarge {
            message = .event(StreamedEvent.reply(request, reply))
        } else {
            message = .text(EventMessage.reply(request, reply).encoded())
        }
        emit(.send(message, to: [session.connection]), &effects)
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
        append(CommitPayload(operations), at: time, &effects)
    }

    /// Numbers the payload as the next commit and hands it to the log.
    func append(_ payload: CommitPayload, at time: Timestamp, _ effects: inout [Effect]) {
        precondition(
            payload.byteCount <= Limits.commitByteCount,
            "the log has room for every commit"
        )
        number = number.next
        self.time = time
        effects.append(.append(CommitRecord(id, number, time, payload)))
    }

    /// The time of a commit made now: a clock that was set back does not move it.
    func commitTime(_ now: Timestamp) -> Timestamp { max(now, time) }
}

extension EventReply {
    /// Whether its value is better encoded as the socket drains.
    fileprivate var isLarge: Bool {
        switch self {
        case .value(let node, _, _), .mismatch(let node, _):
            node.isLarge(from: Limits.nodesEncodedAtOnce)
        case .done, .authenticated, .observing, .written, .pushed, .pong, .refused: false
        }
    }
}
