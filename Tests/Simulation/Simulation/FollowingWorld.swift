import DatabaseCore
import JSONTree
package import SecurityRules
import SimulatedStorage
import WireProtocol

/// Some engines of one group: one owns, the others follow it, and clients of all of them read and write.
///
/// The log, the requests that go to the owner and its answers are channels of their own, each in order and each late by
/// as much as the seed draws. The owner dies now and then, with what is not durable; a follower becomes the owner, and
/// the dead one comes back as a follower.
///
///     owner ──► records ──► durable ──► entered, by each follower
///       ▲ └──► fromOwner, held back until the follower has entered what was durable
///     toOwner ◄── shadow of a session ◄── follower ◄── clients
package final class FollowingWorld {
    /// What a history can meet.
    package enum Moment: String, CaseIterable, Sendable {
        case commit, check
        /// Requests that wait for the owner's answer; several that the owner has at once; answers that came too early.
        case waitsForOwner, severalAtOwner, heldAnswer
        /// Credentials that the owner is shown with the first write, or later.
        case lateCredential, knownCredential, refusedCredential
        case staleTransaction, refusedWrite, eventWrite
        /// Sessions that lost the owner, at any time, and when their own engine became it.
        case lostShadow, endedByTakeOver, outlivedTakeOver, takeOver
        /// On-disconnect writes that ran when a client left, and when an engine became the owner.
        case ranAtEnd, ranAtTakeOver
        case endedByRules, endedByData
        /// Answers that came while listens awaited their decision, and what was sent ahead of them.
        case answeredWhileSuspended, decidedForAnswer
        case put, update, observerEvent, streamEvent, enteredTwice
        /// Long work of a follower.
        case work
    }

    /// What one commit left.
    struct State {
        let root: Node
        let naive: NaiveNode
        let rules: SimulatedRules
    }

    /// One engine of the group.
    struct Member {
        let engine: DatabaseEngine
        /// The newest commit that its clients may know.
        var shown = 0
        /// Credentials that it wants to be checked.
        var inquiries: [(inquiry: InquiryID, token: String)] = []
        /// What is to be worked out elsewhere.
        var works: [(inquiry: InquiryID, work: LongWork)] = []
    }

    /// What the owner has of a session of a follower.
    struct Shadow {
        /// Its connection at the owner.
        let connection: UInt64
        var isOpen = false
        /// Whom the credentials are of that the owner is shown.
        var identity = SimulatedIdentity.nobody
        /// Its client has left.
        var isEnding = false
        /// Nothing arrives at the owner any more.
        var isLost = false
        var toOwner: [[UInt8]] = []
        /// What the owner says, and the commit that was the newest durable one then.
        var fromOwner: [(after: Int, message: OwnerMessage)] = []

        /// Whether the owner is to get something of it.
        var isForOwner: Bool { isEnding || !toOwner.isEmpty }
    }

    package let seed: UInt64
    package internal(set) var counts: [Moment: Int] = [:]
    /// The last things that happened, for the text of a fault.
    package private(set) var journal: [String] = []
    static let database = SimulatedServer.database
    /// Whether one connection has more listens than a commit decides at once.
    let isCrowded: Bool
    var workload: Workload
    var now: Int64 = 1_000
    var members: [Member] = []
    var owner = 0
    /// All commits that were made, and what each left; state 0 is the empty database.
    var records: [CommitRecord] = []
    var states: [State]
    /// The newest commit that survives the owner.
    var durable = 0
    /// Applies each commit as it is made.
    var ledger: DatabaseEngine
    let rulesets: [(rules: SimulatedRules, ruleset: Ruleset)]
    var clients: [UInt64: FollowingClient] = [:]
    /// By the connection of their client.
    var shadows: [UInt64: Shadow] = [:]
    var crowd: Set<UInt64> = []
    /// Connections that are over.
    var left: Set<UInt64> = []
    /// Counts the keys of pushes.
    var lastKey = 0
    var lastConnection: UInt64 = 0

    /// Begins with an owner and one or two followers.
    ///
    /// - Throws: `RulesError`, which is a mistake in `SimulatedRules`.
    package init(seed: UInt64) throws(RulesError) {
        self.seed = seed
        workload = Workload(seed: seed, rules: .rooms)
        isCrowded = seed % 4 == 0
        var rulesets: [(SimulatedRules, Ruleset)] = []
        for rules in [SimulatedRules.rooms, .closed, .open] {
            rulesets.append((rules, try rules.ruleset()))
        }
        self.rulesets = rulesets
        states = [State(root: .absent, naive: .absent, rules: .rooms)]
        ledger = Self.engine(rulesets[0].1)
        for index in 0..<(isCrowded ? 2 : 2 + workload.number(below: 2)) {
            let engine = Self.engine(rulesets[0].1)
            if index != owner { engine.beginFollowing() }
            members.append(Member(engine: engine))
        }
    }

    static func engine(_ rules: Ruleset) -> DatabaseEngine {
        var policy = EnginePolicy(
            databases: [database],
            createsDatabases: false,
            defaultRules: rules
        )
        policy.bounds.childrenIndexedAtOnce = 3
        policy.bounds.nodesHashedAtOnce = 6
        return DatabaseEngine(policy)
    }

    /// The indexes of the engines that follow.
    var followers: [Int] { members.indices.filter { $0 != owner } }

    // MARK: - Steps

    /// Plays a whole history.
    ///
    /// - Throws: `SimulationFault` when an engine breaks a promise.
    package func play() throws(SimulationFault) {
        try begin()
        // The crowd belongs to one follower.
        for _ in 0..<(isCrowded ? 1 : 3) {
            for _ in 0..<(isCrowded ? 400 : 200) { try step() }
            try takeOver()
        }
        for _ in 0..<60 { try step() }
        try settle()
    }

    /// Makes users members of the rooms, and lets a crowd listen to one where there is a crowd.
    private func begin() throws(SimulationFault) {
        for room in ["r1", "r2"] {
            for user in Workload.users {
                try put(
                    NaiveTarget(path: ["rooms", room, "members", user]),
                    NaiveNode(.boolean(true))
                )
            }
        }
        if isCrowded { try gather() }
    }

    /// Lets the next thing happen.
    private func step() throws(SimulationFault) {
        now += Int64(workload.number(below: 20))
        let isBehind = followers.contains { members[$0].shown < durable }
        let isAsking = members.contains { !$0.inquiries.isEmpty }
        let weights = [
            30, 4, 1, durable < records.count ? 26 : 0, isBehind ? 30 : 0,
            shadows.values.contains(where: \.isForOwner) ? 40 : 0,
            shadows.values.contains { !$0.fromOwner.isEmpty } ? 40 : 0, isAsking ? 20 : 0,
            isCrowded ? 14 : 7, 1,
            members.contains(where: \.engine.hasWork) ? 2 : 0,
            members.contains { !$0.works.isEmpty } ? 20 : 0,
        ]
        switch workload.pick(weights: weights) {
        case 0: try ask()
        case 1: try connect()
        case 2: try leave()
        case 3: try flush()
        case 4: try enter()
        case 5: try bringToOwner()
        case 6: try bringFromOwner()
        case 7: try verify()
        case 8: try administer()
        case 9: try loseShadow()
        case 10: try tick()
        default: try work()
        }
    }

    /// Lets all that is under way arrive, and compares once more.
    private func settle() throws(SimulationFault) {
        while isBusy {
            try flush()
            try enter()
            try bringToOwner()
            try bringFromOwner()
            try verify()
            try tick()
            try work()
        }
        for index in members.indices {
            guard members[index].engine.root(of: Self.database) == states[durable].root else {
                throw fault("member \(index) has another tree in the end")
            }
        }
        for connection in clients.keys.sorted() {
            try check(connection)
            if let request = clients[connection]?.requests.first {
                throw fault("\(connection) never gets the answer to \(request.number)")
            }
            if clients[connection]?.listens.contains(where: { !$0.watcher.isConfirmed }) ?? false {
                throw fault("\(connection) has a listen that never begins")
            }
        }
    }

    private var isBusy: Bool {
        durable < records.count
            || members.contains {
                $0.shown < durable || !$0.inquiries.isEmpty || $0.engine.hasWork
                    || !$0.works.isEmpty
            }
            || shadows.values.contains {
                $0.isForOwner || !$0.fromOwner.isEmpty
            }
    }

    /// The oldest commit that is not durable becomes so.
    func flush() throws(SimulationFault) {
        if durable == records.count { return }
        durable += 1
        members[owner].shown = durable
        note("commit \(durable) is durable")
        try input(.flushed(Self.database, through: CommitNumber(UInt64(durable))), at: owner)
        try checkAll(at: owner)
    }

    /// A follower enters the next commit.
    func enter() throws(SimulationFault) {
        let behind = followers.filter { members[$0].shown < durable }
        if !behind.isEmpty { try enter(at: workload.pick(behind)) }
    }

    func enter(at index: Int) throws(SimulationFault) {
        let record = records[members[index].shown]
        members[index].shown += 1
        note("\(index) enters \(record.number.value)")
        try perform(entered(record, at: index), at: index)
        let state = states[members[index].shown]
        guard members[index].engine.root(of: Self.database) == state.root else {
            throw fault("member \(index) has another tree at commit \(record.number.value)")
        }
        try checkAll(at: index)
        if workload.happens(oneIn: 12) {
            count(.enteredTwice)
            if try !entered(record, at: index).isEmpty {
                throw fault("commit \(record.number.value) has effects again")
            }
        }
    }

    private func entered(
        _ record: CommitRecord,
        at index: Int
    ) throws(SimulationFault) -> [Effect] {
        var effects: [Effect] = []
        do throws(CommitDecodingError) {
            try members[index].engine.enter(record, effects: &effects)
        } catch {
            throw fault("member \(index) cannot enter \(record.number.value): \(error)")
        }
        return effects
    }

    /// Something that was to be worked out is.
    private func work() throws(SimulationFault) {
        let busy = members.indices.filter { !members[$0].works.isEmpty }
        if busy.isEmpty { return }
        let index = workload.pick(busy)
        let choice = workload.number(below: members[index].works.count)
        let (inquiry, work) = members[index].works.remove(at: choice)
        if index != owner { count(.work) }
        note("long work of \(index) is done")
        try input(.worked(inquiry, work.perform()), at: index)
    }

    /// An engine goes on with what has waited.
    private func tick() throws(SimulationFault) {
        let busy = members.indices.filter { members[$0].engine.hasWork }
        if busy.isEmpty { return }
        let steps = workload.number(below: 3_000)
        try input(.longWork(steps: steps), at: workload.pick(busy))
    }

    // MARK: - For people

    func count(_ moment: Moment) { counts[moment, default: 0] += 1 }

    func note(_ text: @autoclosure () -> String) {
        if journal.count == 60 { journal.removeFirst() }
        journal.append("commit \(records.count), \(durable) durable: \(text())")
    }

    func fault(_ text: String) -> SimulationFault { SimulationFault(text) }
}
