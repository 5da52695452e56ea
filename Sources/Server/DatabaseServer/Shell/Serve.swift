import Accounts
import ClusterLog
import DatabaseCore
import Glibc
import JetStream
import Logging
import SecurityRules
import StateRecovery
import Tokens
import Transport
import WriteAheadLog

/// The exit code of a server that stops since its log failed: the system's EX_IOERR.
let failedLogExitCode: Int32 = 74

/// Runs a server until a signal stops it; owns the calling thread, the process's main one.
///
/// Returns the exit code: 0 after a clean stop, 1 when it could not start. A server whose log fails ends the process
/// with `failedLogExitCode`.
package func serve(_ configuration: Configuration) -> Int32 {
    let lines = LogRing()
    let log = StandardErrorLog.logger(configuration, keeping: lines)
    FreedMemory.bound()
    do {
        var server: Server?
        try EventLoop.shared.run { server = try ServerStart(configuration, log, lines).begin() }
        log.notice("stopped")
        return LoopActor.assume { server?.exitCode ?? 0 }
    } catch {
        for line in "\(error)".split(separator: "\n") { log.critical("\(line)") }
        return 1
    }
}

/// The steps from a configuration to a server that takes connections.
@LoopActor
private struct ServerStart {
    private let configuration: Configuration
    private let log: Logger
    private let lines: LogRing
    private let folder: DataFolder?
    private let engine: DatabaseEngine
    private let writer: LogWriter?
    /// The audit log; nil when nothing is kept on disk.
    private let audit: AuditFolder?
    /// How the log uses its disk; nil when nothing is kept on one.
    private let logOptions: LogOptions?
    private let workers = Workers()
    private let checkpointer: Checkpointer?
    private let credentials: CredentialService
    private let accounts: AccountStore
    private let files: (disk: FileDisk, rules: FileRulesStore)
    private let imports: [ReadImport]
    private let notifySocket = NotifySocket.fromEnvironment()
    /// Where the data folder stands in the log of a group; nil without one.
    private let mark: LogMark?

    /// Steps of a recovery between two words that it goes on.
    private static let stepsPerWord = 1_024

    /// Everything that can fail before a socket is open: folder, secrets, rules, recovery.
    init(_ configuration: Configuration, _ log: Logger, _ lines: LogRing) throws {
        self.configuration = configuration
        self.log = log
        self.lines = lines
        for warning in configuration.warnings { log.warning("\(warning)") }
        if configuration.mode == .production {
            for warning in ConfigurationCheck.warningsOfFiles(configuration) {
                log.warning("\(warning)")
            }
        }
        var policy = try EnginePolicy(configuration, log)
        imports = try ReadImport.all(configuration)
        let fileRules = try FileRulesStore(configuration)
        switch configuration.storage {
        case .memory:
            folder = nil
            checkpointer = nil
            engine = DatabaseEngine(policy)
            writer = nil
            audit = nil
            logOptions = nil
            mark = nil
            log.warning("nothing is kept on disk (--memory): all data ends with this process")
        case .folder(let path):
            let storage = FileLogStorage(path: path)
            let options = try storage.options(
                syncPolicy: configuration.durability == .always ? .always : .onRequest
            )
            logOptions = options
            policy.fit(options)
            let folder = try DataFolder.open(storage, options: options)
            self.folder = folder
            var stepCount = 0
            let state = try folder.recoverState(policy) { [notifySocket] in
                stepCount += 1
                guard stepCount % ServerStart.stepsPerWord == 0 else { return }
                notifySocket?.goesOn("Reading the log")
            }
            for line in state.report.lines { log.notice("\(line)") }
            for damage in state.report.damagedCheckpoints {
                log.critical("\(damage.summary); the state comes from before it and the log")
            }
            engine = state.engine
            writer = state.writer
            mark = try configuration.cluster.map { _ in
                try ClusterStart.mark(of: folder, isEmpty: state.engine.snapshots().isEmpty)
            }
            checkpointer = Checkpointer(folder)
            let audit = try AuditFolder(inDataFolder: path)
            if let torn = audit.tornFile {
                log.warning(
                    "\(torn): the last line is torn, as by a crash; the next one follows it"
                )
            }
            self.audit = audit
        }
        let remote = try configuration.files.s3?.blobs()
        files = (FileDisk(configuration, workers.files, remote, log), fileRules)
        accounts = AccountStore(
            configuration,
            try AccountKeys.open(
                configuration,
                group: AccountDirectory(root: engine.root(of: .accounts)).groupKeys
            ),
            try MessageService(configuration, log)
        )
        let secret = try AdminSecret.configured(configuration)
        credentials = CredentialService(
            check: CredentialCheck(adminSecret: secret, mode: configuration.mode),
            own: accounts.keys.issuer(configuration.accounts.policy),
            outside: try OutsideTokens(configuration.tokens, configuration.mode),
        )
    }

    /// Opens the port and begins to serve.
    func begin() throws -> Server {
        TransportLog.setSink { [log] isError, line in
            log.log(level: isError ? .error : .warning, "\(line)")
        }
        let box = ServerBox()
        let (auditFolder, auditNumber) = (audit?.path, audit?.lastNumber ?? 0)
        // The log thread owns the writer from then on.
        let space = writer?.spaceState ?? .ok
        let cluster = try clusterLink(to: box)
        let commits = CommitWriter(
            writer,
            audit: audit,
            cluster: cluster,
            ServerStart.reports(to: box, log)
        )
        let server = Server(
            engine: engine,
            configuration: configuration,
            commits: commits,
            checkpointer: checkpointer,
            logOptions: logOptions,
            workers: workers,
            credentials: credentials,
            accounts: accounts,
            auditFolder: auditFolder,
            auditNumber: auditNumber,
            files: files,
            log: log,
            lines: lines,
        )
        box.server = server
        let listener = try Listener(transport(for: box), application: server)
        server.listener = listener
        server.notifySocket = notifySocket
        if let port = configuration.emulator.hubPort {
            var transport = listener.configuration
            transport.port = port
            transport.tls = nil
            try server.emulator.listen(transport)
        }
        if let port = configuration.accounts.port {
            var transport = listener.configuration
            transport.port = port
            server.accountsListener = try Listener(transport, application: server.accountsPort)
        }
        if let port = configuration.consolePort, configuration.servesConsole {
            var transport = listener.configuration
            transport.port = port
            server.consoleListener = try Listener(transport, application: server.consolePort)
        }
        server.whenDrained = { [accounts, checkpointer, workers, folder, files] in
            accounts.messages.stop()
            commits.stop()
            checkpointer?.stop()
            workers.stop()
            files.disk.close()
            folder?.close()
        }
        server.durability.spaceChanged(space)
        server.began(port: listener.port, imports)
        return server
    }

    /// How sockets are served; no more of them than the system has descriptors for.
    private func transport(for box: ServerBox) -> TransportConfiguration {
        var transport = TransportConfiguration(configuration)
        let proxies = configuration.trustedProxies
        if !proxies.isEmpty || configuration.cluster != nil {
            transport.speaksForOthers = { address in
                proxies.contains { $0.contains(address) }
                    || LoopActor.assume {
                        box.server?.cluster?.nodeAddresses.contains(address) == true
                    }
            }
        }
        let room = Descriptors.raiseLimit()
        if room < transport.limits.connectionCount {
            log.notice(
                "the system's limit on open files leaves room for fewer connections",
                metadata: ["connections": "\(room)"]
            )
            transport.limits.connectionCount = room
        }
        return transport
    }

    /// What the log thread reports, taken to the loop.
    private static func reports(to box: ServerBox, _ log: Logger) -> CommitWriter.Reports {
        CommitWriter.Reports(
            flushed: { commits in
                EventLoop.shared.enqueue { box.server?.flushed(commits) }
            },
            space: { state in
                EventLoop.shared.enqueue { box.server?.durability.spaceChanged(state) }
            },
            auditFailed: { error in
                EventLoop.shared.enqueue { box.server?.audit.failed("\(error)") }
            },
            failed: { error in
                // Memory and disk may disagree from here on: nothing more may leave this process.
                log.critical("the log failed, so the server stops: \(error)")
                _exit(failedLogExitCode)
            },
        )
    }

    /// What the log thread of a node of a group needs; nil for a server that is alone.
    private func clusterLink(to box: ServerBox) throws -> ClusterLink? {
        guard let settings = configuration.cluster, let folder, let mark else { return nil }
        return ClusterLink(
            settings,
            folder,
            from: mark,
            rulesDigest: WatchedFiles(configuration).rulesDigest,
            secret: accounts.keys.groupSecret,
            open: try ClusterStart.log(settings, log),
            ClusterLink.Reports(
                entered: { commits, taken in
                    EventLoop.shared.enqueue {
                        box.server?.cluster?.entered(commits)
                        taken()
                    }
                },
                reached: { count in
                    EventLoop.shared.enqueue { box.server?.cluster?.position.reached(count) }
                },
                owned: { EventLoop.shared.enqueue { box.server?.cluster?.owned() } },
                deposed: { [log] reason in
                    log.critical("\(reason): this node ends, to start again as a follower")
                    _exit(ClusterService.deposedExitCode)
                },
                stalled: { isStalled in
                    EventLoop.shared.enqueue { box.server?.cluster?.stalled(isStalled) }
                },
                stopped: { fault in
                    EventLoop.shared.enqueue { box.server?.cluster?.stopped(fault) }
                },
                status: { status in
                    EventLoop.shared.enqueue { box.server?.cluster?.noted(status) }
                },
            )
        )
    }

    /// Holds the server for reports that may come before it is made.
    @LoopActor
    private final class ServerBox {
        var server: Server?
    }
}

extension AdminSecret {
    /// The configured secret, or the one of the data folder, made there when first needed.
    fileprivate static func configured(_ configuration: Configuration) throws -> AdminSecret? {
        if let path = configuration.adminSecretFile { return try load(path) }
        return try configuration.secretFolder.map(inFolder)
    }
}

extension EnginePolicy {
    /// On a small disk, takes no commit that is larger than the room which the log keeps free, and no more removals
    /// while the disk is low than a quarter of the segment whose room is taken.
    fileprivate mutating func fit(_ options: LogOptions) {
        if options.reserveByteCount < LogOptions().reserveByteCount {
            let room = Int(clamping: options.reserveByteCount)
            bounds.commitByteCount = min(bounds.commitByteCount, room)
        }
        removalByteCount = min(removalByteCount, options.segmentByteCount / 4)
    }

    /// What the configuration means to the engine; reads the rules files.
    fileprivate init(_ configuration: Configuration, _ log: Logger) throws {
        let isDevelopment = configuration.mode == .development
        let rules: Ruleset
        if let path = configuration.rulesFile {
            rules = try RulesFile.load(path)
            log.notice("rules from a file", metadata: ["file": "\(path)"])
        } else {
            rules = isDevelopment ? .open : .closed
            log.log(
                level: isDevelopment ? .warning : .notice,
                isDevelopment
                    ? "databases without rules are OPEN to everybody who can reach this server"
                    : "databases without rules deny everything but the admin"
            )
        }
        var rulesByDatabase: [DatabaseID: Ruleset] = [:]
        for database in configuration.databases {
            guard let path = database.rulesFile else { continue }
            rulesByDatabase[DatabaseID(database.name.text)] = try RulesFile.load(path)
        }
        for sample in configuration.sampleDatabases {
            rulesByDatabase[DatabaseID(sample.rawValue)] = try sample.rules()
        }
        self.init(
            databases: configuration.databases.map { DatabaseID($0.name.text) },
            reserved: [.accounts, .files],
            createsDatabases: isDevelopment,
            defaultRules: rules,
            rulesByDatabase: rulesByDatabase,
            rechecksOnData: configuration.listenRecheck == .data,
            inspection: configuration.inspection,
            explainsRefusals: isDevelopment,
        )
    }
}

extension TransportConfiguration {
    fileprivate init(_ configuration: Configuration) {
        self.init()
        host = configuration.host
        port = configuration.port
        tls = configuration.tls
        demandsTLS = configuration.mode == .production
        // The default is as many as the loop has room for.
        limits.connectionCount = min(limits.connectionCount, configuration.limits.connectionCount)
        limits.peer.connectionCount = configuration.limits.addressConnectionCount
        limits.peer.connectionsPerSecond = configuration.limits.connectionRate
        limits.bodyByteCount = configuration.limits.bodyByteCount
        limits.messageByteCount = configuration.limits.messageByteCount
        // Room for four messages of the greatest size of one client, and for eight such clients.
        limits.inboundShareByteCount = max(
            limits.inboundShareByteCount,
            4 * limits.messageByteCount
        )
        limits.inboundByteCount = 8 * limits.inboundShareByteCount
        limits.queueByteCount = configuration.limits.queueByteCount
        timeouts.head = configuration.limits.headerTimeout
        timeouts.progress = configuration.limits.bodyTimeout
        timeouts.idle = configuration.limits.idleTimeout
        timeouts.ping = configuration.limits.pingInterval
        timeouts.hangup = configuration.limits.pingInterval * 2
    }
}
