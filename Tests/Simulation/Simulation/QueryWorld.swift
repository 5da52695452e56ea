import DatabaseCore
import JSONTree
import WireProtocol

/// An engine under random writes whose every query is followed by a client: listens, observers of the
/// plain event protocol and readers of event streams, in all query forms.
///
/// Indexes and comparisons of more than a few children are worked out late and out of step, and
/// sometimes refused. Commits become durable one by one; after each, what every watcher shows is
/// compared with all children sorted and filtered anew.
package final class QueryWorld {
    /// How often what can happen has happened.
    package struct Counts: Sendable {
        /// Steps that were checked.
        package var steps = 0
        package var commits = 0
        /// Watchers compared with what there is.
        package var checks = 0
        package var events = 0
        package var works = 0
        /// Writes that waited behind a listen of the writer's.
        package var parkedWrites = 0
        package var refusedWorks = 0
        package var watchers = 0
        /// Range merges that listens were sent.
        package var rangeMerges = 0
        /// Event streams that began.
        package var streams = 0
        package var streamEvents = 0
    }

    package let seed: UInt64
    package internal(set) var counts = Counts()
    /// The last things that happened, for the text of a fault.
    package private(set) var journal: [String] = []
    let engine: DatabaseEngine
    var model = ReferenceModel(rules: .open)
    var workload: Workload
    var now: Int64 = 1_000
    var durable = 0
    var appended = 0
    var works: [(inquiry: InquiryID, work: LongWork)] = []
    var watchers: [Watcher] = []
    /// What each unanswered request begins or ends: the number of a watcher.
    var requests: [UInt64: [Int: (number: Int, isEnd: Bool)]] = [:]
    /// What ended listens showed last.
    var kept: [NaiveListen: NaiveNode] = [:]
    /// What the writer asked behind a request that waits; nil for what is no write.
    var parked: [(number: Int, write: SimulatedRequest?)] = []
    var lastNumber = 0
    /// Streams that began after their readers had left; the shell ends them.
    var leaving: [ConnectionID] = []
    /// Streams whose readers have left: what was on its way to them is lost.
    var left: Set<ConnectionID> = []

    static let writer: UInt64 = 1
    private static let listeners: [UInt64] = [writer, 2]
    /// Has one default listen at a time: a push without a tag is about all of them.
    private static let plainListener: UInt64 = 6
    static let observers: [UInt64] = [4, 5]
    private static let watcherCount = 14
    /// Streams have connections of their own, this and a number.
    private static let firstStream: UInt64 = 1_000

    /// Connects a writer, listeners and observers to an empty database.
    ///
    /// - Throws: `RulesError`, which cannot happen, and `SimulationFault`.
    package init(seed: UInt64) throws {
        self.seed = seed
        workload = Workload(seed: seed, rules: .open)
        var policy = EnginePolicy(
            databases: [SimulatedServer.database],
            createsDatabases: false,
            defaultRules: try SimulatedRules.open.ruleset(),
        )
        policy.bounds.childrenIndexedAtOnce = 2
        policy.bounds.nodesHashedAtOnce = 12
        policy.bounds.childrenSelectedAtOnce = 3
        engine = DatabaseEngine(policy)
        model.connect(Self.writer, session: "writer", replacing: nil, now: now)
        for connection in Self.listeners + [Self.plainListener] + Self.observers {
            let handshake = Handshake(
                dialect: Self.observers.contains(connection) ? .events : .wire,
                database: SimulatedServer.database,
                host: "db",
                session: SessionID("s\(connection)"),
            )
            try input(.connected(ConnectionID(connection), handshake))
        }
    }

    // MARK: - Steps

    /// Lets the next thing happen.
    ///
    /// - Throws: `SimulationFault` when the engine breaks a promise.
    package func step() throws(SimulationFault) {
        counts.steps += 1
        now += Int64(workload.number(below: 20))
        switch workload.pick(weights: [40, 8, 5, 30, 8, 8, 1]) {
        case 0: try write()
        case 1: try watch()
        case 2: try stopWatching()
        case 3: try flush()
        case 4: try work()
        case 5: try turn()
        default:
            // Long enough for unused indexes to be dropped.
            if workload.happens(oneIn: 4) { now += 10 * 60 * 1_000 }
            try input(.tick)
        }
    }

    /// Does all that is left to do, and compares once more.
    ///
    /// - Throws: `SimulationFault` when the engine breaks a promise.
    package func settle() throws(SimulationFault) {
        while !works.isEmpty || engine.hasWork || durable < appended {
            try work()
            try turn()
            try flush()
        }
        if let number = requests.values.flatMap({ $0.keys }).min() {
            throw SimulationFault("request \(number) is never answered")
        }
        let confirmed = watchers.filter(\.isConfirmed).count
        if confirmed < watchers.count { throw SimulationFault("a watcher never receives its data") }
        try check()
    }

    /// Mostly single children of the watched lists, so that children come, go and move.
    private func write() throws(SimulationFault) {
        let request: SimulatedRequest
        switch workload.number(below: 20) {
        case 0, 1:
            let (base, writes) = workload.merge()
            request = .merge(base: base, writes)
        case 2:
            let write = workload.write(at: workload.target())
            request = .put(write.target, write.node, hash: nil)
        default:
            let write = workload.childWrite()
            request = .put(write.target, write.node, hash: nil)
        }
        let number = nextNumber()
        note(request.text)
        let message: ClientMessage
        do throws(MessageError) {
            message = try request.message(number: number)
        } catch {
            throw SimulationFault("the server cannot read \(request): \(error)")
        }
        if engine.isWaiting(ConnectionID(Self.writer)) {
            counts.parkedWrites += 1
            parked.append((number, request))
        } else {
            perform(request, number)
        }
        try input(.received(message, from: ConnectionID(Self.writer)))
    }

    func perform(_ write: SimulatedRequest, _ number: Int) {
        model.receive(write, number: number, from: Self.writer, now: now)
        model.expectations = []
    }

    /// Makes the writes that the engine has come to meanwhile, and compares the number of commits.
    func catchUp() throws(SimulationFault) {
        let left = engine.parkedCount(ConnectionID(Self.writer))
        for (number, write) in parked.prefix(parked.count - left) {
            if let write { perform(write, number) }
        }
        parked.removeFirst(parked.count - left)
        if appended != model.commit {
            throw SimulationFault("the engine is at commit \(appended), not \(model.commit)")
        }
        counts.commits = appended
    }

    private func watch() throws(SimulationFault) {
        if watchers.count >= Self.watcherCount { return try stopWatching() }
        if workload.happens(oneIn: 3) { return try watchStream() }
        let isListen = workload.happens(oneIn: 2)
        let isPlain = workload.happens(oneIn: 5)
        var connection = workload.pick(isListen ? Self.listeners : Self.observers)
        if isListen, isPlain { connection = Self.plainListener }
        let number = nextNumber()
        var kind = Watcher.Kind.listen
        if !isListen {
            let draw = workload.number(below: 4)
            kind = .observer(children: draw != 0, value: draw < 2)
        }
        var path = workload.listPath()
        var query = isPlain ? nil : workload.query()
        var having: NaiveNode?
        let known = kept.keys.filter { ($0.query == nil) == isPlain }
        if isListen, !known.isEmpty, !workload.happens(oneIn: 3) {
            let listen = workload.pick(known.sorted(by: NaiveListen.isBefore))
            (path, query, having) = (listen.path, listen.query, kept[listen])
        }
        let watcher = Watcher(
            connection: connection,
            number: number,
            kind: kind,
            path: path,
            query: query,
            having: having,
        )
        // An equal listen of the same connection would stand in for the first.
        let isThere = watchers.contains {
            isListen && $0.connection == connection
                && (isPlain || $0.path == watcher.path && $0.query == watcher.query)
        }
        if isThere { return }
        watchers.append(watcher)
        counts.watchers += 1
        requests[connection, default: [:]][number] = (number, false)
        try ask(watcher.request(number), of: connection)
    }

    private func watchStream() throws(SimulationFault) {
        let number = nextNumber()
        let isExport = workload.happens(oneIn: 2)
        let watcher = Watcher(
            connection: Self.firstStream + UInt64(number),
            number: number,
            kind: .stream(isExport: isExport),
            path: workload.listPath(),
            query: workload.happens(oneIn: 4) ? nil : workload.query(),
        )
        watchers.append(watcher)
        counts.watchers += 1
        try stream(watcher, isExport: isExport)
    }

    private func stopWatching() throws(SimulationFault) {
        let endable = watchers.indices.filter {
            watchers[$0].canEndAnyTime || watchers[$0].isConfirmed && !watchers[$0].isEnding
        }
        if endable.isEmpty { return }
        let index = workload.pick(endable)
        if watchers[index].canEndAnyTime { return try leave(watchers[index]) }
        watchers[index].isEnding = true
        let watcher = watchers[index]
        let id = nextNumber()
        requests[watcher.connection, default: [:]][id] = (watcher.number, true)
        try ask(watcher.endRequest(id), of: watcher.connection)
    }

    /// Works out one of the things that were asked for, in any order.
    private func work() throws(SimulationFault) {
        if works.isEmpty { return }
        let (inquiry, work) = works.remove(at: workload.number(below: works.count))
        let isRefused = workload.happens(oneIn: 12)
        counts.works += 1
        if isRefused { counts.refusedWorks += 1 }
        note(isRefused ? "long work is refused" : "long work is done")
        try input(.worked(inquiry, isRefused ? .refused : work.perform()))
    }

    /// Messages that have waited go on.
    private func turn() throws(SimulationFault) {
        if engine.hasWork { try input(.longWork(steps: 1)) }
    }

    /// The oldest commit becomes durable.
    private func flush() throws(SimulationFault) {
        if durable == appended { return }
        durable += 1
        note("commit \(durable) is durable")
        let number = CommitNumber(UInt64(durable))
        try input(.flushed(SimulatedServer.database, through: number))
        try check()
    }

    private func check() throws(SimulationFault) {
        let root = model.states[durable].root
        for watcher in watchers where watcher.isConfirmed {
            counts.checks += 1
            try watcher.check(root)
        }
    }

    private func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    func note(_ text: String) {
        if journal.count == 40 { journal.removeFirst() }
        journal.append("commit \(model.commit), \(durable) durable: \(text)")
    }
}
