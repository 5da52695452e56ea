import DatabaseCore
import JSONTree
import SecurityRules
import SimulatedStorage
import SyncCore
import WireProtocol
import WriteAheadLog

/// A server, its disk, its clients and the model of what must happen, driven by one seed.
///
/// Each step draws one thing that happens next: a request, a connection, a call or a message of an app, a batch for the
/// log, a piece of a checkpoint, a power cut. What the server then says is compared with the model at once, and what
/// an app shows with the twin of its client.
package final class SimulatedWorld {
    /// What may happen.
    package struct Options: Sendable {
        package var seed: UInt64
        package var rules = SimulatedRules.open
        /// Whether the power ever fails.
        package var hasCrashes = false
        /// Clients of the wire protocol, and with `hasAll` of the plain event protocol.
        package var clientCount = 4
        /// Swift clients, behind a network that cuts and delays.
        package var appCount = 0
        /// Whether rules change, clocks jump, credentials expire, the disk fills and backups are taken.
        package var hasAll = false
        /// Whether everything that leaves the engine is kept in `transcript`.
        package var keepsTranscript = false
        /// Whether what happens is kept in `journal`.
        package var keepsJournal = false

        package init(seed: UInt64, rules: SimulatedRules = .open, hasCrashes: Bool = false) {
            self.seed = seed
            self.rules = rules
            self.hasCrashes = hasCrashes
        }

        /// A small world with everything in it.
        package static func everything(seed: UInt64) -> Options {
            var options = Options(seed: seed, rules: .rooms, hasCrashes: true)
            options.hasAll = true
            options.clientCount = 4
            options.appCount = Int(seed % 3)
            return options
        }

        /// Swift clients, and what they do to one another.
        package static func apps(seed: UInt64) -> Options {
            var options = Options(seed: seed, rules: .rooms)
            options.clientCount = 0
            options.appCount = 1 + Int(seed % 9)
            return options
        }
    }

    /// What a request over REST must be answered.
    enum Asked {
        case written, rulesPut, refused
    }

    package let options: Options
    var storage: SimulatedLogStorage
    let logOptions: LogOptions
    var policy: EnginePolicy
    package internal(set) var server: SimulatedServer
    package internal(set) var model: ReferenceModel
    var workload: Workload
    var clients: [UInt64: SimulatedClient] = [:]
    /// Connections whose session another one has replaced, or whose credential is revoked: they only listen.
    var leaving: Set<UInt64> = []
    /// Connections that the server has closed.
    var closed: Set<UInt64> = []
    /// Credentials that were accepted, which number them.
    private var issuedCount: Int64 = 0
    /// Credentials under way, oldest first.
    var inquiries: [(id: InquiryID, connection: UInt64, token: String)] = []
    /// The commit that each unanswered request over REST must wait for.
    var restRequests: [UInt64: (commit: Int, asked: Asked)] = [:]
    /// The clock of the server.
    var now: Int64 = 1_700_000_000_000
    /// The clock of the apps, which is never set.
    var appNow: Int64 = 1_000_000
    /// What makes keys for pushes, and the last one of this process.
    var pushIDs: PushIDGenerator
    var lastPush: (key: String, time: Int64)?
    /// Whether the disk has less room than it may need.
    var isDiskTight = false
    package internal(set) var counts = WorldCounts()
    package internal(set) var transcript: [UInt8] = []
    /// The last things that happened, for the text of a fault.
    package internal(set) var journal: [String] = []
    private var lastNumber: UInt64 = 0

    // Apps.
    var peers: [SyncPeer] = []
    var pipes: [SyncPipe] = []
    /// Whose connection it is, and whether that app still lives.
    var owners: [UInt64: (peer: Int, isAlive: Bool)] = [:]
    /// Few, so that calls meet: one that queries look at, one that comes in every world, and some in an order.
    let appKeys: [String]
    var isHealing = false
    /// By counter: transactions that are certain to have counted, and those that may have.
    var counters: [NaivePath: (certain: Int, possible: Int)] = [:]
    /// By place: increments that are certain to have been added, once at least.
    var increments: [NaivePath: Int] = [:]

    /// Makes an empty disk and starts a server on it.
    ///
    /// - Throws: `LogError`, `RulesError`: neither can happen on a new disk.
    package init(_ options: Options) throws {
        self.options = options
        var workload = Workload(seed: options.seed, rules: options.rules)
        storage = SimulatedLogStorage(seed: options.seed)
        let segmentByteCount = options.hasAll ? workload.pick([1_536, 4_096]) : 2_048
        let hasReserve = options.hasAll && workload.happens(oneIn: 2)
        logOptions = LogOptions(
            segmentByteCount: segmentByteCount,
            reserveByteCount: hasReserve ? UInt64(3 * segmentByteCount) : 0,
            syncPolicy: workload.happens(oneIn: 2) ? .always : .onRequest,
            readByteCount: 512,
        )
        policy = EnginePolicy(
            databases: [SimulatedServer.database],
            createsDatabases: false,
            defaultRules: try options.rules.ruleset(),
        )
        policy.removalByteCount = .max
        model = ReferenceModel(rules: options.rules)
        appKeys = ["a", "x"] + workload.pick(KeyOrder.allCases).keys(3, &workload.random)
        pushIDs = PushIDGenerator(seed: options.seed)
        server = try SimulatedServer(storage, logOptions, policy)
        for name in 0..<options.appCount {
            let isStored = workload.happens(oneIn: 2)
            let seed = options.seed &+ UInt64(name)
            var peer = SyncPeer(name: name, isStored: isStored, seed: seed)
            if options.hasAll { peer.account = workload.pick(["ann", "bob", nil]) }
            peers.append(peer)
        }
        self.workload = workload
    }

    // MARK: - Steps

    /// Lets the next thing happen.
    ///
    /// - Throws: `SimulationFault` when the server or an app breaks a promise.
    package func step() throws(SimulationFault) {
        now += Int64(workload.number(below: 20)) - (workload.happens(oneIn: 10) ? 40 : 0)
        if !peers.isEmpty, options.clientCount == 0 || workload.happens(oneIn: 2) {
            return try appStep()
        }
        if options.hasAll, workload.happens(oneIn: 10) { return try trouble() }
        switch workload.pick(weights: [
            60, 6, 2, 1, 6, options.rules == .rooms ? 20 : 3, 8, 14, 2,
            // One that was begun mostly becomes whole before the power fails.
            server.isCheckpointing ? 20 : 0, 1, 6,
        ]) {
        case 0: try request()
        case 1: try connect()
        case 2: try disconnect()
        case 3: try replace()
        case 4: try verify()
        case 5: try restPut()
        case 6:
            let count = 1 + workload.number(below: 4)
            try onDisk { server throws(LogError) in try server.append(atMost: count) }
        case 7: try flush()
        case 8: try onDisk { server throws(LogError) in try server.beginCheckpoint() }
        case 9:
            let count = 1 + workload.number(below: 200)
            try onDisk { server throws(LogError) in
                try server.advanceCheckpoint(byteCount: count)
            }
        case 10: try onDisk { server throws(LogError) in try server.maintain() }
        default: try revoke()
        }
    }

    /// Does something with the disk; when the power fails meanwhile another process comes up.
    ///
    /// - Returns: whether the process lives on.
    @discardableResult
    func onDisk(
        _ body: (SimulatedServer) throws(LogError) -> Void
    ) throws(SimulationFault) -> Bool {
        let abandonedCount = server.abandonedCheckpointCount
        do throws(LogError) {
            try body(server)
        } catch {
            try crashed(by: error)
            return false
        }
        counts.note(.checkpointWithoutRoom, server.abandonedCheckpointCount - abandonedCount)
        try watchSpace()
        return true
    }

    /// Appends and makes durable everything, and compares all that is left to compare.
    ///
    /// - Throws: `SimulationFault` when the server breaks a promise.
    package func settle() throws(SimulationFault) {
        makeRoom()
        try onDisk { server throws(LogError) in try server.maintain() }
        try settleApps()
        while !inquiries.isEmpty { try verify() }
        repeat {
            try onDisk { server throws(LogError) in try server.append(atMost: .max) }
            try flush()
        } while server.isBehind
        for (connection, client) in clients where !client.expected.isEmpty {
            throw SimulationFault("client \(connection) never hears \(client.expected)")
        }
        if let commit = restRequests.values.map(\.commit).min() {
            throw SimulationFault("a request over REST is never answered, commit \(commit)")
        }
        try checkClients("in the end")
        try checkTree(model.commit)
        counts.commits = model.commit
    }

    /// The ids of those who can still ask something, in order.
    private var speakers: [UInt64] {
        clients.filter { !leaving.contains($0.key) && $0.value.kind != .app }.map(\.key).sorted()
    }

    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    private func request() throws(SimulationFault) {
        let speakers = speakers
        if speakers.isEmpty { return try connect() }
        let id = workload.pick(speakers)
        guard var client = clients[id] else { return }
        counts.operations += 1
        var request = workload.request(&client, model, isSettled: !server.isBehind)
        if case .push(let path, _, let draft) = request {
            request = .push(path, key: try pushKey(), draft)
        }
        let number = client.send(request)
        clients[id] = client
        let input: DatabaseCore.Input
        if client.kind == .events {
            let request = try client.eventRequest(request, number: number)
            input = .asked(request, from: ConnectionID(id))
        } else {
            do throws(MessageError) {
                input = .received(try request.message(number: number), from: ConnectionID(id))
            } catch {
                throw SimulationFault("the server cannot read \(request): \(error)")
            }
        }
        note("\(request)", id)
        try receive(request, number: number, from: id, input)
    }

    /// Lets the model and the server take a request.
    func receive(
        _ request: SimulatedRequest,
        number: Int,
        from id: UInt64,
        _ input: DatabaseCore.Input
    ) throws(SimulationFault) {
        let (commit, time) = (model.commit, model.current.time)
        model.receive(request, number: number, from: id, now: now)
        if model.commit > commit {
            if now < time { counts.note(.timestampBehindClock) }
            if model.space == .low { counts.note(.removalOnLowDisk) }
        }
        try self.input(input, of: id)
    }

    private func connect() throws(SimulationFault) {
        let count = clients.values.count { $0.kind != .app }
        if count < options.clientCount { try connect(replacing: nil) }
    }

    private func connect(replacing last: SimulatedClient?) throws(SimulationFault) {
        var kind = SimulatedClient.Kind.wire
        // A client of the plain event protocol names no session that it had before.
        if options.hasAll, last == nil, workload.happens(oneIn: 2) { kind = .events }
        let id = nextNumber()
        try connect(id, kind, replacing: last?.connection, Self.session(id))
    }

    /// The name of the session of a connection; they sort by their connections.
    static func session(_ connection: UInt64) -> String {
        let padding = String(repeating: "0", count: 6 - String(connection).count)
        return "s\(padding)\(connection)"
    }

    /// Begins a session, whose client may name one that it had before.
    func connect(
        _ id: UInt64,
        _ kind: SimulatedClient.Kind,
        replacing last: UInt64?,
        _ session: String
    ) throws(SimulationFault) {
        let lastSession = last.flatMap { clients[$0]?.session }
        clients[id] = SimulatedClient(connection: id, session: session, kind: kind)
        let isEvents = kind == .events
        model.connect(id, session: session, isEvents: isEvents, replacing: last, now: now)
        note("connects by \(kind), replacing \(last ?? 0)", id)
        let handshake = Handshake(
            dialect: isEvents ? .events : .wire,
            database: SimulatedServer.database,
            host: "db.example.org",
            session: SessionID(session),
            lastSession: lastSession.map { SessionID($0) },
        )
        try input(.connected(ConnectionID(id), handshake), of: id)
    }

    private func replace() throws(SimulationFault) {
        let speakers = speakers.filter { clients[$0]?.kind == .wire }
        if speakers.isEmpty { return }
        let last = workload.pick(speakers)
        leaves(last)
        try connect(replacing: clients[last])
    }

    /// A session ends by decision of the server.
    func leaves(_ connection: UInt64) {
        leaving.insert(connection)
        inquiries.removeAll { $0.connection == connection }
    }

    private func disconnect() throws(SimulationFault) {
        let speakers = speakers
        if !speakers.isEmpty { try disconnect(workload.pick(speakers)) }
    }

    /// The socket of a session is gone.
    func disconnect(_ id: UInt64) throws(SimulationFault) {
        clients[id] = nil
        inquiries.removeAll { $0.connection == id }
        model.disconnect(id, now: now)
        note("disconnects", id)
        try input(.disconnected(ConnectionID(id)), of: id)
    }

    func verify() throws(SimulationFault) {
        if inquiries.isEmpty { return }
        let (inquiry, connection, token) = inquiries.removeFirst()
        issuedCount += 1
        var expiry: Int64?
        if options.hasAll, workload.happens(oneIn: 2) {
            expiry = now + Int64(workload.number(below: 300_000))
        }
        model.verified(connection, issued: issuedCount, until: expiry, now: now)
        note("is \(token)", connection)
        let identity = SimulatedIdentity(token: token)
        let term = CredentialTerm(
            expiry: expiry.map { Timestamp(milliseconds: $0) },
            holder: CredentialHolder(name(identity), issuedAt: issuedCount),
        )
        let outcome: CredentialOutcome
        switch identity {
        case .admin: outcome = .admin(term)
        case .nobody: outcome = .refused(.invalid("no such token"))
        case .user(let uid): outcome = .user(AuthVariable(try node(#"{"uid":"\#(uid)"}"#)), term)
        }
        try input(.verified(inquiry, outcome), of: connection)
    }

    private func name(_ identity: SimulatedIdentity) -> CredentialHolder.Name {
        switch identity {
        case .admin: .serviceAccount("admin@x")
        case .nobody: .user("nobody")
        case .user(let uid): .user(uid)
        }
    }

    /// The credential of a client no longer counts: all of it, or all but the newest.
    private func revoke() throws(SimulationFault) {
        counts.operations += 1
        var identity = workload.identity()
        let signedIn = model.signedIn
        if !signedIn.isEmpty, workload.happens(oneIn: 2) { identity = workload.pick(signedIn) }
        let end = issuedCount + 1 - Int64(workload.number(below: 4))
        signedOut(model.revoke(identity, before: end, now: now))
        try input(.revoked(name(identity), issuedBefore: end), of: 0)
    }

    /// The credentials of these connections no longer count.
    func signedOut(_ connections: [UInt64]) {
        for connection in connections {
            note("is signed out", connection)
            if clients[connection]?.isWriting == true { counts.note(.revocationWithPendingWrite) }
            if clients[connection]?.kind == .app { counts.note(.revokedApp) }
            // Of others, outcomes of credentials that are still checked come too late, for no session.
            if clients[connection]?.kind != .events { leaves(connection) }
        }
    }

    private func restPut() throws(SimulationFault) {
        let write = workload.adminWrite()
        let commit = model.commit
        let isDone = model.adminPut(write.target, write.node, now: now)
        if model.commit > commit, model.space == .low { counts.note(.removalOnLowDisk) }
        let operation: Request.Operation
        do {
            operation = .put(
                try WriteTarget(write.target.text),
                try Draft(json: Array(write.node.json.text.utf8))
            )
        } catch {
            throw SimulationFault("the server cannot read \(write): \(error)")
        }
        try administer(operation, isDone ? .written : .refused)
    }

    /// An administrator's request over REST, which the model has taken already.
    func administer(_ operation: Request.Operation, _ asked: Asked) throws(SimulationFault) {
        counts.operations += 1
        let id = nextNumber()
        restRequests[id] = (model.commit, asked)
        note("\(operation), which is to be \(asked)", id)
        let request = Request(
            database: SimulatedServer.database,
            credential: .admin(override: nil),
            operation: operation,
        )
        try input(.requested(request, id: RequestID(id)), of: id)
    }

    private func node(_ text: String) throws(SimulationFault) -> Node {
        do throws(JSONError) {
            return try Node(json: text)
        } catch {
            throw SimulationFault("\(text) is refused: \(error)")
        }
    }

    /// Makes what is appended durable and tells the engine, commit by commit or all at once.
    func flush() throws(SimulationFault) {
        if logOptions.syncPolicy == .onRequest {
            let lives = try onDisk { server throws(LogError) in try server.sync() }
            if !lives { return }
        }
        let isOneByOne = options.rules == .rooms || workload.happens(oneIn: 2)
        while server.durable < server.appended {
            let number = isOneByOne ? server.durable.next : server.appended
            let effects = server.flushed(through: number, now: Timestamp(milliseconds: now))
            try deliver(effects, of: 0, isOneCommit: isOneByOne)
        }
        try checkClients("after a flush")
    }
}
