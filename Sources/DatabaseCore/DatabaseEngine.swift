package import JSONTree
import SecurityRules
import WireProtocol

/// All databases and sessions of one server, as a state machine.
///
/// `step` is the only door: equal states, inputs and times give equal effects. It reads no clock,
/// draws no random number, and touches neither file nor socket.
package final class DatabaseEngine {
    var policy: EnginePolicy
    var databases: [DatabaseID: Database] = [:]
    var sessions: [ConnectionID: Session] = [:]
    var sessionsByID: [SessionID: Session] = [:]
    var holders = CredentialHolders()
    /// Requests whose credential is being checked.
    var inquiringRequests: [InquiryID: (request: Request, id: RequestID)] = [:]
    /// Sessions with a credential or a hash under way.
    var inquiringSessions: [InquiryID: Session] = [:]
    /// Requests that wait for the hash of a large node.
    var inquiringHashes: [InquiryID: HashedRequest] = [:]
    /// Requests whose large write is being decided.
    var inquiringWrites: [InquiryID: RequestWrite] = [:]
    /// Requests that wait for rulesets to be loaded.
    var inquiringLabels: [InquiryID: LabelRequest] = [:]
    /// Simulations that are worked out away from the loop.
    var inquiringSimulations: [InquiryID: WaitingSimulation] = [:]
    /// Indexes that are worked out elsewhere.
    var inquiringIndexes: [InquiryID: (database: Database, kept: KeptIndex)] = [:]
    /// Messages that have waited, to go on in turns; the oldest first.
    var portions: ArraySlice<Portion> = []
    /// Whether the log can take new commits.
    var logCondition = LogCondition.ready
    /// Bytes of the removals that were taken while the disk was low.
    var removalByteCount = 0
    package internal(set) var counts = EngineCounts()
    private var lastInquiry: UInt64 = 0
    private var lastListen: UInt64 = 0

    package init(_ policy: EnginePolicy) {
        self.policy = policy
        for id in policy.databases + policy.reserved { databases[id] = makeDatabase(id) }
    }

    /// Applies one input and appends what the shell must now do, in order.
    ///
    /// O(depth of the path) for a write, plus the listens it concerns.
    package func step(_ input: Input, now: Timestamp, effects: inout [Effect]) {
        switch input {
        case .connected(let connection, let handshake):
            open(connection, handshake, now, &effects)
        case .received(let message, let connection):
            receive(.wire(message), from: connection, now, &effects)
        case .asked(let request, let connection):
            receive(.events(request), from: connection, now, &effects)
        case .disconnected(let connection):
            end(connection, now, &effects)
        case .requested(let request, let id):
            receive(request, id, now, &effects)
        case .verified(let inquiry, let outcome):
            verified(inquiry, outcome, now, &effects)
        case .revoked(let holder, let time):
            revoke(holder, issuedBefore: time, now, &effects)
        case .worked(let inquiry, let result):
            worked(inquiry, result, now, &effects)
        case .flushed(let database, let number):
            databases[database]?.flushed(through: number, &effects)
        case .defaultRules(let rules):
            policy.defaultRules = rules
            for database in sortedDatabases
            where policy.rulesByDatabase[database.id] == nil && !isReserved(database.id) {
                replaceRules(of: database, rules, now, &effects)
            }
        case .rules(let id, let rules):
            precondition(!isReserved(id), "no client has rules to do with the server's own")
            policy.rulesByDatabase[id] = rules
            if let database = databases[id] { replaceRules(of: database, rules, now, &effects) }
        case .log(let condition):
            logCondition = condition
            if condition == .ready { removalByteCount = 0 }
        case .profile(let id, let isOn):
            databases[id]?.isProfiled = isOn
        case .tick:
            expireTokens(now, &effects)
            tendIndexes(now, &effects)
        case .turn(let steps):
            work(steps, now, &effects)
        case .shutDown:
            for connection in sessions.keys.sorted() { close(connection, .shutDown, now, &effects) }
        }
    }

    /// Whether `Input.turn` has anything to do.
    package var hasWork: Bool { !portions.isEmpty || databases.values.contains(where: \.hasWork) }

    /// Which decisions of the rules are told.
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

    /// The databases that are configured or were written to, by name; one that was only read is none.
    package var existing: [DatabaseID] {
        sortedDatabases.map(\.id).filter { !isReserved($0) && !isEmpty($0) }
    }

    /// Whether it is a database of the server's own, for itself alone.
    func isReserved(_ id: DatabaseID) -> Bool { policy.reserved.contains(id) }

    /// The tree of a database as it is now; what is seen in it may not be durable yet.
    package func root(of id: DatabaseID) -> Node { databases[id]?.root ?? .absent }

    /// In order of their names.
    var sortedDatabases: [Database] { databases.keys.sorted().compactMap { databases[$0] } }

    /// Puts rules in force that come from the configuration; rules of its own go before them.
    private func replaceRules(
        of database: Database,
        _ rules: Ruleset,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        database.defaultRules = rules
        if database.ownRules != nil { return }
        database.renewShadow(now: now)
        database.judgeAllAgain(now: now, &effects)
        effects.append(.note(.rulesReplaced(database.id, nil)))
    }

    // MARK: - Long work

    /// Messages that go on after they have waited.
    enum Portion {
        case parked(Session)
        case askers(Database, KeptIndex)
    }

    /// One verdict counts as 20 steps, a listen that ends as 4, a message as 125.
    private func work(_ steps: Int, _ now: Timestamp, _ effects: inout [Effect]) {
        var left = steps
        while left > 0, let portion = portions.popFirst() {
            left -= 125 * Limits.messagesAtOnce
            goOn(with: portion, now, &effects)
        }
        for database in sortedDatabases where left > 0 && database.hasWork {
            left -= 20 * database.judgeHeld(max(1, left / 20), now: now, &effects)
            left -= 4 * database.removeLeaving(max(1, left / 4))
        }
    }

    private func goOn(with portion: Portion, _ now: Timestamp, _ effects: inout [Effect]) {
        switch portion {
        case .parked(let session):
            guard sessions[session.connection] === session, case .turn = session.waiting else {
                return
            }
            session.waiting = nil
            receiveParked(session, now, &effects)
        case .askers(let database, let kept):
            askAgain(kept, of: database, now, &effects)
        }
    }

    // MARK: - Numbers

    func nextInquiry() -> InquiryID {
        lastInquiry += 1
        return InquiryID(lastInquiry)
    }

    func nextListen() -> ListenID {
        lastListen += 1
        return ListenID(value: lastListen)
    }
}

/// What the engine has done since the process began.
package struct EngineCounts: Sendable, Equatable {
    package var commits = 0
    package var refusedWrites = 0
    package var refusedReads = 0
    package var refusedCredentials = 0
    package var sessions = 0
    package var streams = 0
}
