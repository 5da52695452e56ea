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
    /// The newest lines of the log.
    let lines: LogRing
    let commits: CommitWriter
    private let checkpointer: Checkpointer?
    private let logOptions: LogOptions?
    private(set) lazy var requests = RequestService(self)
    private(set) lazy var data = DataService(self)
    private(set) lazy var sockets = SocketService(self)
    private(set) lazy var admin = AdminService(self)
    private(set) lazy var console = ConsoleService(self)
    private(set) lazy var audit = AuditService(
        self,
        folder: auditStart.folder,
        lastNumber: auditStart.number
    )
    private(set) lazy var emulator = EmulatorService(self)
    private(set) lazy var inspection = InspectionService(self)
    private(set) lazy var search = SearchService(self)
    private(set) lazy var profiler = ProfileService(self)
    private(set) lazy var figures = FigureService(self)
    private(set) lazy var durability = DurabilityService(self, checkpointer, logOptions)
    let workers: Workers
    private let credentials: CredentialService
    private let accounts: AccountStore
    private let auditStart: (folder: String?, number: Int)
    private let fileStart: (disk: FileDisk, rules: FileRulesStore)
    private(set) lazy var fileService = FileService(self, fileStart.disk, fileStart.rules)
    private(set) lazy var identity = IdentityService(self, accounts, credentials)
    /// nil for a server that is alone.
    private(set) lazy var cluster = configuration.cluster.map { ClusterService(self, $0) }
    let originGuard: OriginGuard
    var files: WatchedFiles
    /// Set once the port is open.
    var listener: Listener?
    /// The service manager that started the server, if it wants its state.
    var notifySocket: NotifySocket?
    /// Ends the other threads and seals the log; called once all connections have ended.
    var whenDrained: () -> Void = {}
    /// Whether all that recovery left to do is done and durable.
    var isReady = false
    /// Set once the server is on its way out: probes say so, and nothing new begins.
    var isStopping = false

    /// Set once the log is sealed: input that arrives later is ignored.
    var isSealed = false

    /// Of the long work under way.
    private var tickets: [InquiryID: WorkTicket] = [:]
    private let hashes = HashMemo()
    /// Hashes that the workers have not worked out yet.
    private var waitingHashCount = 0
    /// Requests that the server makes itself, and what takes the answer.
    private var ownRequests: [RequestID: @LoopActor (Response) -> Void] = [:]
    private var lastOwnRequest = UInt64.max
    /// The step whose effects are being performed, while the profiler has readers; monotonic nanoseconds.
    private var profiledStep: (start: UInt64, end: UInt64) = (0, 0)
    /// The accounts' own port, when they have one.
    var accountsListener: Listener?
    private(set) lazy var accountsPort = AccountsApplication(self)
    /// The console's own port, when it has one.
    var consoleListener: Listener?
    private(set) lazy var consolePort = ConsoleApplication(self)
    /// The process's exit code after a clean stop.
    private(set) var exitCode: Int32 = 0
    private var pushIDs: PushIDGenerator
    /// Who reads large messages and bodies.
    let readers: ReadingService
    /// Gives the system back what large work has let go.
    let memory: MemoryReturn
    private var tickIsAsked = false
    /// Memory for the effects of the next step.
    private var spareEffects: [Effect] = []

    /// Messages and bodies ended for lack of room that the log has reported.
    var loggedOverloads = 0
    /// The same of connections that spoke TLS to the plain port.
    var loggedTLSOnPlainPort = 0

    /// Bytes of a message or body from which on it is read away from the loop: short arrays and the
    /// like take up to 0.1 µs a byte.
    nonisolated static let readAwayByteCount = 64 * 1024

    /// Effects for which memory is kept between steps.
    private static let keptEffectCount = 1_024

    /// Steps of long work between two looks at the sockets: about 2 ms.
    static let stepsPerTick = 2_000

    init(
        engine: DatabaseEngine,
        configuration: Configuration,
        commits: CommitWriter,
        checkpointer: Checkpointer?,
        logOptions: LogOptions?,
        workers: Workers,
        credentials: CredentialService,
        accounts: AccountStore,
        auditFolder: String? = nil,
        auditNumber: Int = 0,
        files: (disk: FileDisk, rules: FileRulesStore),
        log: Logger,
        lines: LogRing = LogRing(),
    ) {
        self.engine = engine
        self.configuration = configuration
        self.commits = commits
        self.checkpointer = checkpointer
        self.logOptions = logOptions
        self.workers = workers
        memory = MemoryReturn(workers.values)
        readers = ReadingService(workers.reading, memory)
        self.credentials = credentials
        self.accounts = accounts
        auditStart = (auditFolder, auditNumber)
        fileStart = files
        self.log = log
        self.lines = lines
        originGuard = configuration.originGuard
        self.files = WatchedFiles(configuration)
        pushIDs = PushIDGenerator(seed: .random(in: 0...UInt64.max))
    }

    /// Finishes recovery, starts the clockwork, and says that the server is ready once what
    /// recovery had to do is durable. A node of a group is ready to follow, and finishes recovery when it owns the group.
    func began(port: Int, _ imports: [ReadImport]) {
        if cluster == nil { endRecovery() }
        beginClockwork()
        guard let cluster else { return write(imports) { [self] in becomeReady(port: port) } }
        announce(port: port)
        cluster.begin { [self] in
            endRecovery()
            write(imports) { [self] in
                isReady = true
                emulator.writeLocator()
            }
        }
    }

    /// Does what recovery left to do.
    private func endRecovery() {
        var effects: [Effect] = []
        engine.recovered(now: Clock.now(), effects: &effects)
        perform(effects)
        identity.trustServiceAccounts()
        if cluster == nil { identity.forgetGroupKeys() }
        fileService.begin()
        admin.logRulesInForce()
    }

    private func write(_ imports: [ReadImport], then: @escaping @LoopActor @Sendable () -> Void) {
        emulator.write(imports) { [self] in
            commits.barrier { _, _ in EventLoop.shared.enqueue { then() } }
        }
    }

    private func beginClockwork() {
        let loop = EventLoop.shared
        loop.every(.seconds(1)) { [self] in tick() }
        data.keepStreamsAlive()
        figures.begin()
        if case .interval(let milliseconds) = configuration.durability {
            loop.every(.milliseconds(milliseconds)) { [self] in commits.sync() }
        }
        loop.onSignal(SIGTERM) { [self] in stop() }
        loop.onSignal(SIGINT) { [self] in stop() }
        if configuration.stopsAtEndOfInput { stopAtEndOfInput() }
        loop.onSignal(SIGHUP) { [self] in reloadAll() }
    }

    private func becomeReady(port: Int) {
        isReady = true
        emulator.writeLocator()
        announce(port: port)
    }

    private func announce(port: Int) {
        let line = ReadyLine(
            configuration,
            port: port,
            hubPort: emulator.listener?.port,
            accountsPort: accountsListener?.port,
            consolePort: consoleListener?.port,
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
        if profiler.isWatched {
            stepProfiled(input, &effects)
        } else {
            engine.step(input, now: Clock.now(), effects: &effects)
        }
        perform(effects)
        effects.removeAll(keepingCapacity: effects.count <= Server.keptEffectCount)
        spareEffects = effects
    }

    /// The same, with its time, while the profiler has readers.
    private func stepProfiled(_ input: Input, _ effects: inout [Effect]) {
        let start = Clock.monotonicNanoseconds()
        engine.step(input, now: Clock.now(), effects: &effects)
        profiledStep = (start, Clock.monotonicNanoseconds())
    }

    /// Makes 1 the exit code: something that the server was to do has failed.
    func fail() { exitCode = 1 }

    /// Stops as at a signal, with the exit code by which a service manager starts the node again.
    func stopToFollow() {
        exitCode = ClusterService.deposedExitCode
        stop()
    }

    /// Makes a request of the server's own; `then` gets the answer once it is durable.
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

    /// The name of a new child, later than those before.
    func nextKey() -> Key { pushIDs.next(now: Clock.now()) }

    /// Takes in an answer that was found at once, when the effects under way are done.
    ///
    /// A step within a step would nest as deep as a client has credentials parked, 10,000 at most, and
    /// the stack ends before that.
    func stepLater(_ input: Input) {
        EventLoop.shared.enqueue { [self] in step(input) }
    }

    func perform(_ effects: [Effect]) {
        var held = CoalescedPushes.none
        let sockets = sockets
        for effect in effects {
            if case .send(let message, let receivers) = effect {
                sockets.coalesce(message, to: receivers, &held)
            } else if case .sendNumbered(let text, let receivers) = effect {
                sockets.coalesceNumbered(text, to: receivers, &held)
            } else {
                sockets.sendCoalesced(&held)
                performEffect(effect)
            }
        }
        sockets.sendCoalesced(&held)
    }

    private func performEffect(_ effect: Effect) {
        switch effect {
        case .send(let message, let receivers): sockets.send(message, to: receivers)
        case .close(let connection, let reason): sockets.close(connection, reason)
        case .respond(let request, let response):
            if let then = ownRequests.removeValue(forKey: request) { return then(response) }
            requests.respond(response, to: request)
        case .append(let record): durability.append(record)
        case .forward(let text, let connection): cluster?.ownerSessions?.send(text, of: connection)
        case .verify(let inquiry, let token): verify(token, for: inquiry)
        case .work(let inquiry, let work): begin(work, inquiry)
        case .endWork(let inquiry): tickets.removeValue(forKey: inquiry)?.cancel()
        case .sendNumbered(let text, let receivers): sockets.sendNumbered(text, to: receivers)
        case .release(let node): memory.release(node)
        case .note(let note): logNote(note)
        case .profiled(let database, let record): profiler.take(record, of: database, profiledStep)
        case .decided(let database, let record): inspection.keep(record, of: database)
        case .explain(let request, let text): requests.explain(request, text)
        }
    }

    /// Checks a credential, as accounts are now, also where another node makes them.
    private func verify(_ token: String, for inquiry: InquiryID) {
        let check = { [self] in
            identity.check(token) { [self] outcome in
                step(.verified(inquiry, admin.named(outcome, by: token)))
            }
        }
        if let cluster, !cluster.leads { cluster.whenCurrent { _ in check() } } else { check() }
    }

    // MARK: - Threads

    /// The log has everything of these databases up to these commits.
    func flushed(_ commits: [(database: DatabaseID, through: CommitNumber)]) {
        durability.flushed(commits)
        for (database, number) in commits { step(.flushed(database, through: number)) }
    }

    private func begin(_ work: LongWork, _ inquiry: InquiryID) {
        let ticket = WorkTicket()
        let isTaken = workers.jobs.perform { [hashes] in
            work.perform(isCancelled: { ticket.isCancelled }, hash: hashes.hash)
        } then: { [self] result in
            tickets[inquiry] = nil
            if work.isHash {
                waitingHashCount -= 1
                if waitingHashCount == 0 { hashes.clear() }
            }
            step(.worked(inquiry, result))
            if case .decided(let decided) = result { memory.letGo(decided.byteCount) }
        }
        if isTaken {
            if work.isHash { waitingHashCount += 1 }
            tickets[inquiry] = ticket
        } else {
            stepLater(.worked(inquiry, .refused))
        }
    }

    // MARK: - Long work

    /// Steps long work on once the tick is over.
    func workIfNeeded() {
        guard engine.hasWork, !tickIsAsked else { return }
        tickIsAsked = true
        EventLoop.shared.enqueue { [self] in
            tickIsAsked = false
            step(.longWork(steps: Server.stepsPerTick))
        }
    }

    private func logNote(_ note: Note) {
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
        case .administered(let request, let database):
            requests.noteAdministrator(request, of: database)
        case .sessionAct(let id, let database, let name, let act):
            admin.noteDeed(act, id, of: database, by: name)
        case .overLimit(let database, let record): inspection.logOverLimit(record, of: database)
        }
    }
}
