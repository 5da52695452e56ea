package import JSONTree
import SecurityRules
import WireProtocol

/// All databases and sessions of one server, as a state machine.
///
/// `step` is the only way in: equal states, inputs and times give equal effects. It reads no clock, draws no random
/// number, and touches no file or socket.
package final class DatabaseEngine {
    var policy: EnginePolicy
    var databases: [DatabaseID: Database] = [:]
    var sessions: [ConnectionID: Session] = [:]
    var sessionsByID: [SessionID: Session] = [:]
    var holders = CredentialHolders()
    /// What the shell has not answered yet.
    var inquiries: [InquiryID: Inquiry] = [:]
    /// Messages that have waited and continue in later ticks, oldest first.
    var portions: ArraySlice<Portion> = []
    /// Whether another node makes the commits.
    package internal(set) var isFollowing = false
    /// Whether the log can take new commits.
    var logCondition = LogCondition.ready
    /// Bytes of the commits that were made while the log should take none: removals, and what cannot be refused.
    var takenByteCount = 0
    /// What waits for room in the log, oldest first.
    var roomWaiters: ArraySlice<RoomWaiter> = []
    package private(set) var counts = EngineCounts()
    var lastInquiry: UInt64 = 0
    private var lastListen: UInt64 = 0

    package init(_ policy: EnginePolicy) {
        self.policy = policy
        for id in policy.databases + policy.reserved { databases[id] = makeDatabase(id) }
    }

    /// Applies one input and appends what the shell must now do, in order.
    ///
    /// O(depth of the path) for a write, plus the listens it concerns.
    package func step(_ input: Input, now: Timestamp, effects: inout [Effect]) {
        inStep(at: now, &effects) { step in takeInput(input, &step) }
    }

    /// Runs `body` as a step whose effects join `effects`.
    func inStep(at now: Timestamp, _ effects: inout [Effect], _ body: (inout Step) -> Void) {
        var step = Step(now: now, counts: counts, makesCommits: !isFollowing)
        swap(&step.effects, &effects)
        body(&step)
        swap(&step.effects, &effects)
        counts = step.counts
    }

    private func takeInput(_ input: Input, _ step: inout Step) {
        switch input {
        case .connected(let connection, let handshake):
            open(connection, handshake, &step)
        case .received(let message, let connection, let text):
            receive(SessionRequest(message, text: text), from: connection, &step)
        case .asked(let request, let connection, let text):
            receive(SessionRequest(request, text: text), from: connection, &step)
        case .end(let connection):
            close(connection, .ended, &step)
        case .disconnected(let connection):
            end(connection, &step)
        case .requested(let request, let id):
            receiveSingle(request, id, &step)
        case .verified(let inquiry, let outcome):
            verified(inquiry, outcome, &step)
        case .revoked(let holder, let time):
            revoke(holder, issuedBefore: time, &step)
        case .worked(let inquiry, let result):
            worked(inquiry, result, &step)
        case .owner(let message, let connection): take(message, for: connection, &step)
        case .flushed(let database, let number):
            databases[database]?.flushed(through: number, &step)
        case .defaultRules(let rules):
            policy.defaultRules = rules
            for database in sortedDatabases
            where policy.rulesByDatabase[database.id] == nil && !isReserved(database.id) {
                replaceRules(of: database, rules, &step)
            }
        case .rules(let id, let rules):
            precondition(!isReserved(id), "reserved databases have no rules")
            policy.rulesByDatabase[id] = rules
            if let database = databases[id] { replaceRules(of: database, rules, &step) }
        case .log(let condition):
            logCondition = condition
            if condition == .ready { takenByteCount = 0 }
            makeWaiting(&step)
        case .profile(let id, let isOn):
            databases[id]?.isProfiled = isOn
        case .tick:
            expireTokens(&step)
            tendIndexes(&step)
        case .longWork(let steps):
            work(steps, &step)
        case .shutDown:
            for connection in sessions.keys.sorted() { close(connection, .shutDown, &step) }
        }
    }

    /// Whether `Input.longWork` has anything to do.
    package var hasWork: Bool { !portions.isEmpty || databases.values.contains(where: \.hasWork) }

    /// Listens and observers of all databases now.
    package var listenCount: Int { databases.values.reduce(0) { $0 + $1.listens.count } }

    /// Which decisions of the rules are reported.
    package var inspection: InspectionLevel { policy.inspection }

    // MARK: - Databases

    /// The database a client named: one that exists, or a new one where that is allowed.
    func database(_ id: DatabaseID) -> Database? {
        if let database = databases[id] { return database }
        guard policy.createsDatabases, databases.count < Limits.databases else { return nil }
        let database = makeDatabase(id)
        databases[id] = database
        return database
    }

    func makeDatabase(_ id: DatabaseID) -> Database {
        Database(
            id: id,
            defaultRules: isReserved(id)
                ? .closed : policy.rulesByDatabase[id] ?? policy.defaultRules,
            policy,
        )
    }

    /// Whether nothing was ever written to this database, and it is not configured either.
    package func isEmpty(_ id: DatabaseID) -> Bool {
        !policy.databases.contains(id) && (databases[id]?.number ?? .zero) == .zero
    }

    /// The databases that are configured or were written to, by name; not those that were only read.
    package var existing: [DatabaseID] {
        sortedDatabases.map(\.id).filter { !isReserved($0) && !isEmpty($0) }
    }

    /// Whether a session may begin in this database: it exists, or naming it makes it.
    package func serves(_ id: DatabaseID) -> Bool {
        if isReserved(id) { return false }
        return databases[id] != nil
            || policy.createsDatabases && databases.count < Limits.databases
    }

    /// Whether the server keeps this database for itself.
    func isReserved(_ id: DatabaseID) -> Bool { policy.reserved.contains(id) }

    /// The tree of a database as it is now; parts of it may not be durable yet.
    package func root(of id: DatabaseID) -> Node { databases[id]?.root ?? .absent }

    /// In order of their names.
    var sortedDatabases: [Database] { databases.keys.sorted().compactMap { databases[$0] } }

    /// Puts rules of the configuration in force, unless the database has rules of its own.
    private func replaceRules(of database: Database, _ rules: Ruleset, _ step: inout Step) {
        database.defaultRules = rules
        if database.ownRules != nil { return }
        database.renewShadow(now: step.now)
        database.reauthorizeAll(&step)
        step.effects.append(.note(.rulesReplaced(database.id, nil)))
    }

    // MARK: - Long work

    /// What continues after it has waited.
    enum Portion {
        case parked(Session)
        case indexed(KeptIndex)
        case room
    }

    /// One decision counts as 20 steps, a listen that ends as 4, a message as 125.
    private func work(_ steps: Int, _ step: inout Step) {
        var left = steps
        while left > 0, let portion = portions.popFirst() {
            left -= 125 * Limits.messagesAtOnce
            goOn(with: portion, &step)
        }
        for database in sortedDatabases where left > 0 && database.hasWork {
            left -= 20 * database.reauthorizeWaiting(max(1, left / 20), &step)
            left -= 4 * database.removeLeaving(max(1, left / 4))
        }
    }

    private func goOn(with portion: Portion, _ step: inout Step) {
        switch portion {
        case .parked(let session):
            guard sessions[session.connection] === session, case .nextTick = session.waiting else {
                return
            }
            session.waiting = nil
            receiveParked(session, &step)
        case .indexed(let kept): performParked(kept, &step)
        case .room: makeWaiting(&step)
        }
    }

    // MARK: - Numbers

    func nextListen() -> ListenID {
        lastListen += 1
        return ListenID(value: lastListen)
    }
}

/// What the engine has done since the process began.
package struct EngineCounts: Sendable, Equatable {
    package var commits = 0
    /// Values that were read, and listens that have begun.
    package var reads = 0
    package var refusedWrites = 0
    package var refusedReads = 0
    package var refusedCredentials = 0
    package var sessions = 0
    package var streams = 0
}
