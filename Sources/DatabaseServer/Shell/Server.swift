import DatabaseCore
import JSONTree
import Glibc
import Logging
import SecurityRules
import Transport
import WireProtocol
import WriteAheadLog

/// The shell around the engine: takes what sockets bring to `step`, and does what it answers.
///
/// Everything in it runs on the loop; other threads are reached through the mailboxes of the commit
/// writer and the workers, and answer through `EventLoop.enqueue`.
@LoopActor
final class Server {
    let engine: DatabaseEngine
    let configuration: Configuration
    let log: Logger
    let commits: CommitWriter
    /// nil when nothing is kept on disk.
    let checkpointer: Checkpointer?
    let workers: Workers
    var credentials: CredentialDesk
    let accounts: AccountDesk
    let originGuard: OriginGuard
    /// The last `Host` that the guard let pass on a request that names no page.
    var acceptedHost: String?
    /// What the last request that named a database said, and which one it meant.
    var lastSelected: (ns: String?, host: String?, database: DatabaseID)?
    var files: WatchedFiles
    /// Set once the port is open.
    var listener: Listener?
    /// Who started the server and wants to be told how it is.
    var notifySocket: NotifySocket?
    var timers: [LoopTimer] = []
    /// Ends the other threads and seals the log; called once nobody is connected any more.
    var whenDrained: () -> Void = {}
    /// Whether all that recovery left to do is done and durable.
    var isReady = false
    /// Set once the server is on its way out: probes say so, and nothing new begins.
    var isStopping = false

    /// Set once the log is sealed: what still comes in is nobody's business any more.
    var isSealed = false

    var connections = ConnectionTable<ClientConnection>()
    /// Event streams, asked for and open.
    var streams = StreamConnections()
    let polls = PollTable()
    var exchanges: [RequestID: PendingExchange] = [:]
    /// Of the long work under way.
    private var tickets: [InquiryID: WorkTicket] = [:]
    /// Requests that the server makes itself, and who awaits the answer.
    var ownRequests: [RequestID: @LoopActor (Response) -> Void] = [:]
    private var lastOwnRequest = UInt64.max
    /// The newest decisions of the rules, as far as they are told.
    var decisions = DecisionRings()
    var refusalLog = RefusalLog()
    /// Refusals by origin or host, and names of databases that are not here, that development has logged.
    var loggedOrigins = LoggedOnce()
    var loggedNames = LoggedOnce()
    /// The same for refusals by a hard limit of rules, so that other refusals do not hide them.
    var limitLog = RefusalLog()
    var profiles = ProfileStreams()
    var profileTimer: LoopTimer?
    /// The step whose effects are being performed, while somebody watches; monotonic nanoseconds.
    var profiledStep: (start: UInt64, end: UInt64) = (0, 0)
    /// The hub's own port, when it has one.
    var hubListener: Listener?
    private(set) lazy var hub = HubApplication(self)
    /// The accounts' own port, when they have one.
    var accountsListener: Listener?
    private(set) lazy var accountsPort = AccountsApplication(self)
    var locator: LocatorFile?
    /// What is written before the server is ready.
    var imports: [ReadImport] = []
    /// Exports and backups that have begun and are not whole.
    var archivesUnderWay = 0
    /// The process's exit code after a clean stop.
    var exitCode: Int32 = 0
    var pushIDs: PushIDGenerator
    var counts = ServerCounts()
    /// Who reads large messages and bodies.
    let desk: ReadingDesk
    /// Bodies on their way in.
    let bodies = BodyTable()
    private var turnIsAsked = false
    /// Memory for the effects of the next step.
    private var spareEffects: [Effect] = []

    /// What administrators are in the middle of.
    var administratorLog = AdministratorLog()

    /// Messages and bodies ended for lack of room that the log tells of.
    var loggedOverloads = 0
    /// The same of connections that spoke TLS to the plain port.
    var loggedTLSOnPlainPort = 0

    var space = SpaceState.ok
    /// How the log uses its disk; nil when nothing is kept on one.
    var logOptions: LogOptions?
    /// When the next checkpoint may be begun only to make room.
    var nextTightCheckpoint = ContinuousClock.now
    var isLogBehind = false
    var logCondition = LogCondition.ready
    var isCheckpointing = false
    /// `counts.commitBytes` when the last checkpoint was begun.
    var checkpointedCommitBytes = 0
    var lastCheckpointByteCount = 0
    /// nil while the last checkpoint counts.
    var failedCheckpoint: FailedCheckpoint?

    /// Bytes of commits after which a checkpoint is due; with a large tree, half its size.
    static let checkpointByteCount = 32 << 20
    /// Between two checkpoints that are begun only to make room.
    static let tightCheckpointPause = Duration.seconds(30)

    /// Bytes of large messages that one session may park: four of the greatest size.
    static let parkedByteCount = 64 << 20
    /// Messages below this are not counted: the engine parks 10,000 of them at most.
    static let smallMessageByteCount = 4_096

    /// Bytes of a message or body from which on it is read away from the loop: short arrays and the
    /// like take up to 0.1 µs a byte.
    nonisolated static let readAwayByteCount = 64 * 1024

    /// How long a WebSocket may be open before its first message: a client's first connection counts its use at once.
    static let firstMessageTimeout = Duration.seconds(30)
    /// The same for one that names its last session: a client with nothing to say sends a keep-alive after 45 s.
    static let returningMessageTimeout = Duration.seconds(75)

    /// Exports and backups at a time; each keeps an old state of every database in memory.
    static let archiveLimit = 4

    /// Effects for which memory is kept between steps.
    private static let keptEffectCount = 1_024

    /// Steps of long work between two looks at the sockets: about 2 ms.
    static let stepsPerTurn = 2_000

    init(
        engine: DatabaseEngine,
        configuration: Configuration,
        commits: CommitWriter,
        checkpointer: Checkpointer?,
        workers: Workers,
        credentials: CredentialDesk,
        accounts: AccountDesk,
        log: Logger,
    ) {
        self.engine = engine
        self.configuration = configuration
        self.commits = commits
        self.checkpointer = checkpointer
        self.workers = workers
        desk = ReadingDesk(workers.reading)
        self.credentials = credentials
        self.accounts = accounts
        self.log = log
        originGuard = configuration.originGuard
        files = WatchedFiles(configuration)
        pushIDs = PushIDGenerator(seed: .random(in: 0...UInt64.max))
    }

    /// Finishes recovery, starts the clockwork, and says that the server is ready once what
    /// recovery had to do is durable.
    func began(port: Int) {
        var effects: [Effect] = []
        engine.recovered(now: Clock.now(), effects: &effects)
        perform(effects)
        trustServiceAccounts()
        logRulesInForce()
        let loop = EventLoop.shared
        timers.append(loop.every(.seconds(1)) { [self] in tick() })
        keepStreamsAlive()
        if case .interval(let milliseconds) = configuration.durability {
            timers.append(
                loop.every(.milliseconds(milliseconds)) { [self] in commits.sync() }
            )
        }
        loop.onSignal(SIGTERM) { [self] in stop() }
        loop.onSignal(SIGINT) { [self] in stop() }
        if configuration.stopsAtEndOfInput { stopAtEndOfInput() }
        loop.onSignal(SIGHUP) { [self] in reloadAll() }
        importAll { [self] in becomeReadyWhenDurable(port: port) }
    }

    private func becomeReadyWhenDurable(port: Int) {
        commits.barrier { _, _ in
            EventLoop.shared.enqueue { [self] in becomeReady(port: port) }
        }
    }

    private func becomeReady(port: Int) {
        isReady = true
        writeLocator()
        let line = ReadyLine(
            configuration,
            port: port,
            hubPort: hubListener?.port,
            accountsPort: accountsListener?.port,
            networkHosts: NetworkHosts.own()
        )
        log.notice("ready", metadata: line.metadata)
        line.print()
        notifySocket?.isReady(serviceStatus)
        beginWatchdog()
    }

    /// Takes one input to the engine and performs what comes out of it.
    func step(_ input: Input) {
        if isSealed { return }
        // A step that an effect of this one brings about finds no memory and makes its own.
        var effects = spareEffects
        spareEffects = []
        if profiles.isEmpty {
            engine.step(input, now: Clock.now(), effects: &effects)
        } else {
            stepProfiled(input, &effects)
        }
        perform(effects)
        effects.removeAll(keepingCapacity: effects.count <= Server.keptEffectCount)
        spareEffects = effects
    }

    /// The same while somebody wants to know how long it takes.
    private func stepProfiled(_ input: Input, _ effects: inout [Effect]) {
        let start = Clock.monotonicNanoseconds()
        engine.step(input, now: Clock.now(), effects: &effects)
        profiledStep = (start, Clock.monotonicNanoseconds())
    }

    /// Makes a request of the server's own; `then` is told the answer once it is durable.
    func ask(
        _ operation: Request.Operation,
        of database: DatabaseID,
        then: @escaping @LoopActor (Response) -> Void
    ) {
        // Numbers of exchanges count up from 1 and never get here.
        let id = RequestID(lastOwnRequest)
        lastOwnRequest -= 1
        ownRequests[id] = then
        let request = Request(database: database, credential: .server, operation: operation)
        step(.requested(request, id: id))
    }

    /// Takes in an answer that was found at once, when the effects under way are done.
    ///
    /// A step within a step would nest as deep as a client has credentials parked, 10,000 at most, and
    /// the stack ends before that.
    func stepLater(_ input: Input) {
        EventLoop.shared.enqueue { [self] in step(input) }
    }

    /// Does what the engine said, in order.
    func perform(_ effects: [Effect]) {
        var held = HeldPushes.none
        for effect in effects {
            if case .send(let message, let receivers) = effect {
                send(message, to: receivers, &held)
            } else if case .sendNumbered(let text, let receivers) = effect {
                send(text, to: receivers, &held)
            } else {
                send(&held)
                perform(effect)
            }
        }
        send(&held)
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .send(let message, let receivers): send(message, to: receivers)
        case .close(let connection, let reason): close(connection, reason)
        case .respond(let request, let response): respond(response, to: request)
        case .append(let record): append(record)
        case .verify(let inquiry, let token):
            judge(token) { [self] outcome in step(.verified(inquiry, outcome)) }
        case .work(let inquiry, let work): perform(work, inquiry)
        case .endWork(let inquiry): tickets.removeValue(forKey: inquiry)?.cancel()
        case .sendNumbered(let text, let receivers): send(text, to: receivers)
        case .release(let node): workers.values.post(.release(node))
        case .note(let note): write(note)
        case .profiled(let database, let record): profile(database, record)
        case .judged(let database, let record): keep(record, of: database)
        case .explain(let request, let text): exchanges[request]?.explanation = text
        }
    }

    // MARK: - Threads

    private func append(_ record: CommitRecord) {
        counts.commits += 1
        counts.commitBytes += record.payloadByteCount
        commits.append(record)
    }

    /// The log has everything of these databases up to these commits.
    func flushed(_ commits: [(database: DatabaseID, through: CommitNumber)]) {
        for (database, number) in commits { step(.flushed(database, through: number)) }
    }

    /// Reads so many bytes of a request on a thread of its own; `then` is called on the loop. Returns whether there
    /// was room for them.
    func readAway<Outcome: Sendable>(
        _ byteCount: Int,
        of exchange: HTTPExchange,
        _ read: @escaping @Sendable () -> Outcome,
        then: @escaping @Sendable @LoopActor (Outcome) -> Void
    ) -> Bool {
        desk.read(byteCount, of: client(exchange.head), read, then: then)
    }

    private func perform(_ work: LongWork, _ inquiry: InquiryID) {
        let ticket = WorkTicket()
        let isTaken = workers.jobs.post(
            .work(work, ticket) { result in
                EventLoop.shared.enqueue { [self] in
                    tickets[inquiry] = nil
                    step(.worked(inquiry, result))
                }
            }
        )
        if isTaken {
            tickets[inquiry] = ticket
        } else {
            stepLater(.worked(inquiry, .refused))
        }
    }

    // MARK: - Long work

    /// Asks for room for long work once the turn is over.
    func workIfNeeded() {
        guard engine.hasWork, !turnIsAsked else { return }
        turnIsAsked = true
        EventLoop.shared.enqueue { [self] in
            turnIsAsked = false
            step(.turn(steps: Server.stepsPerTurn))
        }
    }

    private func write(_ note: Note) {
        switch note {
        case .onDisconnectRefused(let database, let path, _):
            log.warning(
                "the rules refused an on-disconnect write; it is dropped",
                metadata: ["database": "\(database)", "path": "\(path)"]
            )
        case .rulesReplaced(let database, let version):
            var metadata: Logger.Metadata = ["database": "\(database)"]
            if let version {
                metadata["by"] = "\(version.author ?? "-")"
                metadata["version"] = "\(version.number)"
                metadata["bytes"] = "\(version.byteCount)"
            }
            log.notice("rules in force are new", metadata: metadata)
        case .administered(let request, let database): exchanges[request]?.administered = database
        case .overLimit(let database, let record): logOverLimit(record, of: database)
        }
    }
}

/// What the server has counted since it began, beside the counts of engine and transport.
struct ServerCounts {
    var commits = 0
    var commitBytes = 0
    var checkpoints = 0
    var failedCheckpoints = 0
    var requests = 0
    var messages = 0
    var malformedMessages = 0
    var refusedOrigins = 0
    var unknownDatabases = 0
}
