import DatabaseCore
import JSONTree
import SecurityRules
import WireProtocol
import WriteAheadLog

/// A server, its disk, its clients and the model of what must happen, driven by one seed.
///
/// Each step draws one thing that happens next: a request, a connection, a batch for the log, a
/// piece of a checkpoint, a power cut. What the server then says is compared with the model at once.
package final class SimulatedWorld {
    /// What may happen.
    package struct Options: Sendable {
        package var seed: UInt64
        package var rules = SimulatedRules.open
        /// Whether the power ever fails.
        package var hasCrashes = false
        package var clientCount = 4
        /// Whether everything that leaves the engine is kept in `transcript`.
        package var keepsTranscript = false

        package init(seed: UInt64, rules: SimulatedRules = .open, hasCrashes: Bool = false) {
            self.seed = seed
            self.rules = rules
            self.hasCrashes = hasCrashes
        }
    }

    /// How often what can happen has happened, so that tests can see that they test something.
    package struct Counts: Sendable {
        /// Power cuts survived.
        package var crashes = 0
        /// Of these, the ones after which commits were there that nobody was told of.
        package var unacknowledged = 0
        /// Of these, the ones after which commits were gone.
        package var losses = 0
        /// Recoveries that cut a torn tail.
        package var tornTails = 0
        /// Recoveries that began with a checkpoint.
        package var checkpoints = 0
        /// On-disconnect writes of dead sessions that ran after a recovery.
        package var disconnectsRun = 0
        /// Messages sent to clients.
        package var messages = 0
        /// Listens that ended because the rules refused them.
        package var cancels = 0
        /// Sessions that ended because their credential was revoked.
        package var revocations = 0
        /// Replies by their status.
        package var replies: [String: Int] = [:]

        package init() {}

        /// Adds another world's.
        package mutating func add(_ other: Counts) {
            crashes += other.crashes
            unacknowledged += other.unacknowledged
            losses += other.losses
            tornTails += other.tornTails
            checkpoints += other.checkpoints
            disconnectsRun += other.disconnectsRun
            messages += other.messages
            cancels += other.cancels
            revocations += other.revocations
            replies.merge(other.replies, uniquingKeysWith: +)
        }
    }

    package let options: Options
    let storage: SimulatedLogStorage
    let logOptions: LogOptions
    let policy: EnginePolicy
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
    /// The commit that each unanswered REST write must wait for.
    var restCommits: [UInt64: Int] = [:]
    var now: Int64 = 1_000
    package internal(set) var counts = Counts()
    package internal(set) var transcript: [UInt8] = []
    /// The last things that happened, for whoever reads of a fault.
    package internal(set) var journal: [String] = []
    private var lastNumber: UInt64 = 0

    /// Makes an empty disk and starts a server on it.
    ///
    /// - Throws: `LogError`, `RulesError`: neither can happen on a new disk.
    package init(_ options: Options) throws {
        self.options = options
        workload = Workload(seed: options.seed, rules: options.rules)
        storage = SimulatedLogStorage(seed: options.seed)
        logOptions = LogOptions(
            segmentByteCount: 2_048,
            reserveByteCount: 0,
            syncPolicy: workload.happens(oneIn: 2) ? .always : .onRequest,
            readByteCount: 512,
        )
        policy = EnginePolicy(
            databases: [SimulatedServer.database],
            createsDatabases: false,
            defaultRules: try options.rules.ruleset(),
        )
        model = ReferenceModel(rules: options.rules)
        server = try SimulatedServer(storage, logOptions, policy)
    }

    // MARK: - Steps

    /// Lets the next thing happen.
    ///
    /// - Throws: `SimulationFault` when the server breaks a promise.
    package func step() throws(SimulationFault) {
        now += Int64(workload.number(below: 20)) - (workload.happens(oneIn: 10) ? 40 : 0)
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
    private func onDisk(
        _ body: (SimulatedServer) throws(LogError) -> Void
    ) throws(SimulationFault) -> Bool {
        do throws(LogError) {
            try body(server)
            return true
        } catch {
            try crashed(by: error)
            return false
        }
    }

    /// Appends and makes durable everything, and compares all that is left to compare.
    ///
    /// - Throws: `SimulationFault` when the server breaks a promise.
    package func settle() throws(SimulationFault) {
        while !inquiries.isEmpty { try verify() }
        repeat {
            try onDisk { server throws(LogError) in try server.append(atMost: .max) }
            try flush()
        } while server.isBehind
        for (connection, client) in clients where !client.expected.isEmpty {
            throw SimulationFault("client \(connection) never hears \(client.expected)")
        }
        if let commit = restCommits.values.min() {
            throw SimulationFault("a write over REST is never answered, commit \(commit)")
        }
        try checkTree(model.commit)
    }

    /// The ids of those who can still ask something, in order.
    private var speakers: [UInt64] {
        clients.keys.filter { !leaving.contains($0) }.sorted()
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
        let request = workload.request(&client, model, isSettled: !server.isBehind)
        let number = client.send(request)
        clients[id] = client
        let message: ClientMessage
        do throws(MessageError) {
            message = try request.message(number: number)
        } catch {
            throw SimulationFault("the server cannot read \(request): \(error)")
        }
        model.receive(request, number: number, from: id, now: now)
        note("\(request.text)", id)
        try input(.received(message, from: ConnectionID(id)), of: id)
    }

    private func connect() throws(SimulationFault) {
        if clients.count < options.clientCount { try connect(replacing: nil) }
    }

    private func connect(replacing last: SimulatedClient?) throws(SimulationFault) {
        let id = nextNumber()
        let padding = String(repeating: "0", count: 6 - String(id).count)
        let session = "s\(padding)\(id)"
        clients[id] = SimulatedClient(connection: id, session: session)
        model.connect(id, session: session, replacing: last?.connection, now: now)
        note("connects, replacing \(last?.connection ?? 0)", id)
        let handshake = Handshake(
            database: SimulatedServer.database,
            host: "db.example.org",
            session: SessionID(session),
            lastSession: last.map { SessionID($0.session) },
        )
        try input(.connected(ConnectionID(id), handshake), of: id)
    }

    private func replace() throws(SimulationFault) {
        let speakers = speakers
        if speakers.isEmpty { return }
        let last = workload.pick(speakers)
        leaving.insert(last)
        inquiries.removeAll { $0.connection == last }
        try connect(replacing: clients[last])
    }

    private func disconnect() throws(SimulationFault) {
        let speakers = speakers
        if speakers.isEmpty { return }
        let id = workload.pick(speakers)
        clients[id] = nil
        inquiries.removeAll { $0.connection == id }
        model.disconnect(id, now: now)
        note("disconnects", id)
        try input(.disconnected(ConnectionID(id)), of: id)
    }

    private func verify() throws(SimulationFault) {
        if inquiries.isEmpty { return }
        let (inquiry, connection, token) = inquiries.removeFirst()
        issuedCount += 1
        model.verified(connection, issued: issuedCount, now: now)
        note("is \(token)", connection)
        let outcome: CredentialOutcome
        if token == "admin" {
            outcome = .admin(CredentialTerm(holder: holder(.admin, issued: issuedCount)))
        } else if token.hasPrefix("user:") {
            let claims = #"{"uid":"\#(token.dropFirst(5))"}"#
            let user = SimulatedIdentity.user(String(token.dropFirst(5)))
            let term = CredentialTerm(holder: holder(user, issued: issuedCount))
            outcome = .user(AuthVariable(try node(claims)), term)
        } else {
            outcome = .refused(.invalid("no such token"))
        }
        try input(.verified(inquiry, outcome), of: connection)
    }

    private func holder(_ identity: SimulatedIdentity, issued: Int64) -> CredentialHolder {
        CredentialHolder(name(identity), issuedAt: issued)
    }

    private func name(_ identity: SimulatedIdentity) -> CredentialHolder.Name {
        switch identity {
        case .admin: .serviceAccount("admin@x")
        case .nobody: .user("nobody")
        case .user(let uid): .user(uid)
        }
    }

    /// What somebody got no longer counts: all of it, or all but the newest.
    private func revoke() throws(SimulationFault) {
        let identity = workload.identity()
        let end = issuedCount + 1 - Int64(workload.number(below: 4))
        // Outcomes of credentials that are still checked come too late, and to nobody.
        for connection in model.revoke(identity, before: end, now: now) {
            leaving.insert(connection)
            note("is signed out", connection)
        }
        try input(.revoked(name(identity), issuedBefore: end), of: 0)
    }

    private func restPut() throws(SimulationFault) {
        let id = nextNumber()
        let write = workload.adminWrite()
        model.adminPut(write.target, write.node, now: now)
        restCommits[id] = model.commit
        note("PUT /\(write.target.text) \(write.node.json.text)", id)
        let operation: Request.Operation
        do {
            operation = .put(
                try WriteTarget(write.target.text),
                try Draft(json: Array(write.node.json.text.utf8))
            )
        } catch {
            throw SimulationFault("the server cannot read \(write): \(error)")
        }
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
    private func flush() throws(SimulationFault) {
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
