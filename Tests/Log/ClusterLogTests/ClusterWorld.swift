import SimulatedStorage
import WriteAheadLog

@testable import ClusterLog

/// Three nodes over a replicated log that does what real ones do on bad days, and clients that write to each node
/// that takes itself for the owner.
///
/// Each node keeps a naive replica, a list of commits, and a disk with marks. Outside of them stands a ledger. Everything
/// follows from the seed.
final class ClusterWorld {
    static let nodeCount = 3
    private static let second = 1_000_000

    let seed: UInt64
    let time = SimulatedTime()
    let log: SimulatedReplicatedLog
    private(set) var random: SplitMix64
    private(set) var nodes = [ClusterNode](repeating: ClusterNode(), count: nodeCount)
    private(set) var ledger = ClusterLedger()
    private(set) var counts = ClusterCounts()
    private var lastID: UInt64 = 0
    /// Whether things go wrong, beyond what the log does by itself.
    private var hasTroubles = true
    /// Whether processes are started again by themselves.
    private var restarts = true
    /// No node may own the group with less, whatever the log says.
    private var leastToServe = 0
    /// The epoch that a log which went back has lost, and later ones.
    private var lostEpoch: UInt64 = 0
    let databases: [LogDatabaseName]
    let options: ClusterOptions

    /// A line for each input that is no tick, and for what it led to.
    private(set) var journal: [String] = []
    private let keepsJournal: Bool
    /// The promise that did not hold.
    var fault: ClusterFault?

    init(seed: UInt64, keepsJournal: Bool = false) throws {
        self.seed = seed
        self.keepsJournal = keepsJournal
        random = SplitMix64(state: seed)
        log = SimulatedReplicatedLog(time: time, seed: random.next())
        databases = try ["a", "b", "c"].map { try LogDatabaseName($0) }
        var options = ClusterOptions()
        (options.batchByteCount, options.batchCommitCount) = (512, 8)
        options.entryByteCount = 1124
        options.keptByteCount = 4096
        options.nodeMemory = .seconds(15)
        options.trimInterval = .seconds(3)
        self.options = options
        var faults = SimulatedReplicatedLog.Faults()
        faults.checksConditions = below(3) > 0
        faults.lostAnswers = below(2) * below(100)
        faults.lateAppends = below(2) * below(60)
        faults.copies = below(2) * below(100)
        faults.overtaking = below(3) == 0 ? below(100) : 0
        faults.lostBeats = below(3) == 0 ? below(600) : below(50)
        if below(3) == 0 { faults.latency = 200..<200_000 }
        log.faults = faults
        for number in nodes.indices { start(number) }
        planTrouble()
    }

    func below(_ bound: Int) -> Int { Int(random.next(below: bound)) }

    // MARK: - Runs

    /// Lets a world go wrong for so many seconds.
    func run(seconds: Int) throws { try run(milliseconds: seconds * 1_000) }

    private func run(milliseconds: Int) throws {
        try time.run(until: time.now + milliseconds * 1_000)
    }

    /// Ends all faults; then there must be an owner soon, and all nodes must have the same, with all that was
    /// acknowledged, and take a commit more.
    func settle() throws {
        hasTroubles = false
        log.faults = SimulatedReplicatedLog.Faults()
        log.hearAll()
        for number in nodes.indices where nodes[number].process == nil { start(number) }
        // Until what was late is there, and elections are over.
        try run(seconds: 12)
        let before = ledger.acknowledgedCount
        let end = time.now + 30 * Self.second
        while time.now < end, ledger.acknowledgedCount == before { try run(seconds: 1) }
        guard ledger.acknowledgedCount > before else {
            throw ClusterFault("no commit is acknowledged 42 s after the last fault: \(summary)")
        }
        let target = ledger.history.count
        try run(seconds: 5)
        for (number, node) in nodes.enumerated() where node.commits.count < target {
            throw ClusterFault("node \(number) has \(node.commits.count) of \(target): \(summary)")
        }
        let owners = nodes.filter { $0.process?.isOwner == true }
        guard owners.count == 1 else { throw ClusterFault("\(owners.count) owners: \(summary)") }
        try ledger.check(log: log.entries)
    }

    /// The log loses its newest entries. When a node that runs knows more than is left, all must stop, and none may
    /// serve from less.
    func goBack() throws {
        // No node forgets what it knows: none ends.
        hasTroubles = false
        restarts = false
        log.faults.lostBeats = 0
        log.hearAll()
        // A node that is behind knows nothing of what is lost, an owner too.
        switch below(3) {
        case 0: nodes[below(Self.nodeCount)].process?.link.cut(for: (2 + below(8)) * Self.second)
        case 1: nodes[ownerNumber ?? 0].process?.link.slowDown(for: 3 * Self.second)
        default: break
        }
        try run(milliseconds: below(3_000))
        let running = nodes.compactMap(\.process).filter { $0.stopped == nil && !$0.isLeaving }
        let lowest = Int(log.first) - 1
        let most = Int(log.last) - lowest
        let last = Int(log.last) - (below(2) == 0 ? below(most + 1) : below(min(most, 6) + 1))
        let left = progress(through: last)
        guard let known = running.map(\.member.mark.progress).max(), known > left else {
            // What no process knows is lost without a trace.
            hasTroubles = true
            restarts = true
            return try settle()
        }
        counts.note(.wentBack)
        if Int(left.commit) < ledger.acknowledgedCount { counts.note(.wentBackBeyondAcknowledged) }
        leastToServe = ledger.acknowledgedCount
        lostEpoch = known.epoch
        ledger.forgetPositions()
        log.goBack(to: UInt64(last))
        try run(seconds: 60)
        try checkStops(known)
    }

    /// All have stopped, unless an owner that had not read so far has written the same once more.
    private func checkStops(_ known: LogProgress) throws {
        let isHealed = progress(through: Int(log.last)) >= known
        if isHealed { counts.note(.healed) }
        for (number, node) in nodes.enumerated() {
            switch node.process?.stopped {
            case .wentBack: counts.note(.stoppedShort)
            case .otherLog: counts.note(.stoppedOtherLog)
            case nil where !isHealed && node.process != nil:
                throw ClusterFault("node \(number) runs on: \(known) was known; \(summary)")
            default: break
            }
        }
    }

    /// How far a node comes that reads the log up to an entry, or to one that stops it.
    private func progress(through last: Int) -> LogProgress {
        var replay = LogReplay()
        for (index, entry) in log.entries.prefix(last).enumerated() {
            if case .stop = replay.read(entry, at: UInt64(index + 1)) { break }
        }
        return replay.last.progress
    }

    var summary: String {
        let states = nodes.map { node in
            let member = node.process?.member
            let state = member.map { "\($0.role) \($0.mark.progress)" } ?? "ended"
            return "\(state), \(node.commits.count) commits"
        }
        return "log \(log.first)...\(log.last); \(states.joined(separator: "; "))"
    }

    // MARK: - Processes

    private func start(_ number: Int) {
        nodes[number].life += 1
        let life = nodes[number].life
        let saved = chooseSaved(number)
        nodes[number].applied = saved
        nodes[number].commits.removeSubrange(saved.commitCount...)
        let link = log.connect(node: number) { [unowned self] news in
            try give(.news(news), to: number, life)
        }
        let member = ClusterMember(
            Incarnation(node: NodeID(UInt64(number)), number: random.next()),
            from: saved.mark,
            details: Beat.Details(clientAddress: "", nodeAddress: "", rulesDigest: 0),
            options: options,
            random: SplitMix64(state: random.next()),
            at: .microseconds(time.now)
        )
        nodes[number].process = ClusterNode.Process(member: member, link: link)
        tick(number, life)
    }

    /// What a start finds: the newest that is on the disk, or an older mark.
    private func chooseSaved(_ number: Int) -> ClusterNode.Saved {
        let saved = nodes[number].saved
        let index = below(2) == 0 ? saved.count - 1 : below(saved.count)
        if index < saved.count - 1 { counts.note(.olderMark) }
        nodes[number].saved.removeSubrange((index + 1)...)
        return saved[index]
    }

    private func tick(_ number: Int, _ life: Int) {
        time.after(20_000 + below(60_000)) { [unowned self] in
            guard nodes[number].life == life, nodes[number].process != nil else { return }
            write(number, life)
            try give(.tick, to: number, life)
            save(number)
            tick(number, life)
        }
    }

    /// Ends a process at once.
    private func end(_ number: Int) {
        guard let process = nodes[number].process else { return }
        log.disconnect(process.link)
        nodes[number].process = nil
        nodes[number].life += 1
        guard restarts else { return }
        let life = nodes[number].life
        let isLong = hasTroubles && below(8) == 0
        time.after(isLong ? 25_000_000 : 100_000 + below(3_000_000)) { [unowned self] in
            if nodes[number].life == life { start(number) }
        }
    }

    /// Writes the newest mark to the disk, and now and then a checkpoint.
    private func save(_ number: Int) {
        guard below(4) == 0, let mark = nodes[number].saved.last?.mark else { return }
        if mark != nodes[number].applied.mark {
            nodes[number].saved.append(nodes[number].applied)
        }
        guard below(10) == 0, let newest = nodes[number].saved.last else { return }
        nodes[number].saved = [newest]
        _ = nodes[number].process?.member.step(
            .checkpointed(through: newest.mark.sequence),
            at: .microseconds(time.now)
        )
    }

    // MARK: - Inputs and effects

    private func give(_ input: MemberInput, to number: Int, _ life: Int) throws {
        guard nodes[number].life == life, nodes[number].process != nil else { return }
        if case .news(.refused) = input { counts.note(.refused) }
        if case .news(.unknown) = input { counts.note(.unknown) }
        let effects = nodes[number].process?.member.step(input, at: .microseconds(time.now)) ?? []
        if keepsJournal { note(input, effects, number) }
        for effect in effects where nodes[number].life == life { try perform(effect, of: number) }
    }

    private func note(_ input: MemberInput, _ effects: [MemberEffect], _ number: Int) {
        let led = effects.compactMap { $0.line }
        guard let line = input.line ?? (led.isEmpty ? nil : "tick") else { return }
        let moment = "\(time.now / 1000) ms, node \(number): \(line)"
        journal.append(led.isEmpty ? moment : "\(moment) -> \(led.joined(separator: ", "))")
    }

    private func perform(_ effect: MemberEffect, of number: Int) throws {
        guard let link = nodes[number].process?.link else { return }
        switch effect {
        case .append(let bytes, let tried, let last):
            if bytes.count > options.entryByteCount { throw ClusterFault("an entry is too long") }
            link.append(bytes, number: tried, expecting: last)
        case .tail(let sequence): link.tail(from: sequence)
        case .purge(let sequence):
            counts.note(.trimmed)
            link.purge(through: sequence)
        case .beat(let bytes): link.beat(bytes)
        case .committed(let records, let mark):
            if nodes[number].process?.hasDiverged == false { try apply(records, mark, number) }
        case .owned(let mark): try own(mark, number)
        case .deposed:
            counts.note(.deposed)
            if nodes[number].process?.decided.isEmpty == false { counts.note(.lostCommit) }
            end(number)
        case .left:
            counts.note(.left)
            end(number)
        case .stalled(let isStalled): if isStalled { counts.note(.stalled) }
        case .stopped(let fault): stop(fault, number)
        }
    }

    private func apply(_ records: [LogRecord], _ mark: LogMark, _ number: Int) throws {
        for record in records {
            let count = nodes[number].commits.count
            let id = ledger.id(of: record)
            if mark.epoch < lostEpoch, ledger.isOther(id, behind: count) { return diverge(number) }
            try ledger.apply(record, behind: count)
            nodes[number].commits.append(id)
            nodes[number].applied.newest[record.database] = record.commit
            if nodes[number].process?.decided.first == id {
                nodes[number].process?.decided.removeFirst()
                ledger.acknowledge(behind: count, epoch: mark.epoch)
                counts.acknowledged += 1
            } else if nodes[number].process?.isOwner == true {
                throw ClusterFault("an owner is given commit \(id), which is not its next one")
            }
        }
        nodes[number].applied.mark = mark
        nodes[number].applied.commitCount = nodes[number].commits.count
        try ledger.check(mark, behind: nodes[number].commits.count)
    }

    /// An owner that was replaced, and had not read so when the log lost the claim, may write on until it receives a
    /// beat of the later epoch. No node reads both histories: the ledger keeps the one that was longer.
    private func diverge(_ number: Int) {
        counts.note(.diverged)
        nodes[number].process?.hasDiverged = true
    }

    private func own(_ mark: LogMark, _ number: Int) throws {
        let least = max(leastToServe, ledger.acknowledgedCount(before: mark.epoch))
        guard nodes[number].commits.count >= least else {
            throw ClusterFault("node \(number) serves from less than was acknowledged: \(summary)")
        }
        counts.note(.owned)
        if nodes.contains(where: { $0.process?.isOwner == true }) { counts.note(.twoOwners) }
        if nodes.contains(where: { $0.process?.isLeaving == true }) { counts.note(.handedOver) }
        nodes[number].process?.isOwner = true
        let newest = nodes[number].applied.newest
        nodes[number].process?.newest = newest
    }

    private func stop(_ fault: LogFault, _ number: Int) {
        nodes[number].process?.stopped = fault
        nodes[number].process?.isOwner = false
        switch fault {
        case .badEntry:
            counts.note(.damaged)
            end(number)
        case .gap:
            counts.note(.gap)
            join(number)
        case .badCommits, .openTooLong, .otherLog, .wentBack: break
        }
    }

    /// A node that misses entries takes over what another one has on its disk.
    private func join(_ number: Int) {
        let others = nodes.indices.filter { $0 != number }
        let other = others[below(others.count)]
        end(number)
        guard let saved = nodes[other].saved.last else { return }
        nodes[number].commits = Array(nodes[other].commits.prefix(saved.commitCount))
        nodes[number].saved = [saved]
        counts.note(.joined)
    }

    // MARK: - Clients

    private func write(_ number: Int, _ life: Int) {
        guard let process = nodes[number].process else { return }
        guard process.isOwner, !process.isLeaving else { return }
        // Clients are slowed down while too much waits.
        guard process.member.waitingByteCount < 10_000, below(2) > 0 else { return }
        var records: [LogRecord] = []
        for _ in 0...below(hasTroubles ? 12 : 3) { records.append(decide(number)) }
        time.after(0) { [unowned self] in
            guard nodes[number].process?.isLeaving == false else { return }
            try give(.commits(records), to: number, life)
        }
    }

    private func decide(_ number: Int) -> LogRecord {
        lastID += 1
        let database = databases[below(databases.count)]
        let commit = (nodes[number].process?.newest[database] ?? 0) + 1
        nodes[number].process?.newest[database] = commit
        nodes[number].process?.decided.append(lastID)
        var payload: [UInt8] = (0..<8).map { UInt8(truncatingIfNeeded: lastID >> (8 * $0)) }
        let isLarge = below(100) == 0
        payload += [UInt8](repeating: 7, count: isLarge ? 900 + below(4000) : below(60))
        if isLarge { counts.note(.largeCommit) }
        return LogRecord(
            database: database,
            commit: commit,
            time: Int64(time.now / 1000),
            payload: isLarge && below(2) == 0 ? .pieces(Pieces(payload)) : .bytes(payload)
        )
    }

    // MARK: - Troubles

    private func planTrouble() {
        time.after(below(3 * Self.second)) { [unowned self] in
            guard hasTroubles else { return }
            makeTrouble()
            planTrouble()
        }
    }

    private func makeTrouble() {
        let number = below(Self.nodeCount)
        switch below(9) {
        case 0, 1: kill(below(2) == 0 ? number : ownerNumber ?? number)
        case 2:
            nodes[number].process?.link.cut(for: 50_000 + below(4 * Self.second))
            counts.note(.linkCut)
        case 3:
            log.elect(for: 500_000 + below(8 * Self.second))
            counts.note(.election)
        case 4:
            for other in nodes.indices where other != number && below(3) > 0 {
                log.silence(from: number, to: other)
            }
            counts.note(.beatsLost)
        case 5: log.hearAll()
        case 6:
            nodes[number].process?.link.slowDown(for: below(4 * Self.second))
            counts.note(.slowTail)
        case 7: if below(3) == 0 { nodes[number].process?.link.damagesNext = true }
        default: leave(ownerNumber ?? number)
        }
    }

    private var ownerNumber: Int? { nodes.firstIndex { $0.process?.isOwner == true } }

    private func leave(_ number: Int) {
        guard let process = nodes[number].process, process.stopped == nil else { return }
        if process.isLeaving { return }
        nodes[number].process?.isLeaving = true
        let life = nodes[number].life
        time.after(0) { [unowned self] in try give(.leave, to: number, life) }
    }

    /// Ends a process by force, and notes how far it was with what it had under way.
    private func kill(_ number: Int) {
        guard let process = nodes[number].process else { return }
        let sequence = Int(process.member.sequence)
        let unread = log.entries.dropFirst(sequence).compactMap { try? LogEntry(decoding: $0) }
        let ownUnread = unread.filter { $0.writer == process.member.incarnation }
        if process.isOwner {
            if process.member.waitingByteCount == 0 { counts.note(.killedIdle) }
            if process.link.onTheWayCount > 0 { counts.note(.killedOnTheWay) }
            if ownUnread.contains(where: { $0.kind == .batch }) { counts.note(.killedStored) }
            if process.member.pipeline.hasUnsent { counts.note(.killedQueued) }
            if process.member.replay.last != process.member.replay.mark {
                counts.note(.killedBetweenParts)
            }
            if !process.decided.isEmpty { counts.note(.commitInDoubt) }
        } else if process.member.claim != nil {
            counts.note(.killedClaiming)
        } else {
            counts.note(.killedFollower)
        }
        end(number)
    }

    /// Adds what members counted.
    func noteMembers() {
        for node in nodes {
            guard let member = node.process?.member else { continue }
            if member.counts.voidEntries > 0 { counts.note(.void) }
            if member.counts.sentAgain > 0 { counts.note(.sentAgain) }
        }
    }
}

/// A payload that is made piece by piece, of seven bytes each.
private struct Pieces: PayloadPieces {
    private var rest: ArraySlice<UInt8>
    let byteCount: Int

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
        byteCount = bytes.count
    }

    mutating func next(into piece: inout [UInt8]) -> Bool {
        piece += rest.prefix(7)
        rest = rest.dropFirst(7)
        return !rest.isEmpty
    }
}
