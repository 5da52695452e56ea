import DatabaseCore
import JSONTree
import SimulatedStorage
import WireProtocol
import WriteAheadLog

@testable import Simulation

/// A server on a simulated disk under the writes that applications make, and a plain twin of its tree.
///
/// Lists grow and shrink in every order of keys and every size of values, up to three levels of
/// branches; meanwhile the process is ended, killed, checkpointed, backed up and restored, and its log
/// damaged and salvaged. Each time a tree comes back from the disk it is compared with the twin, whole. `table` says which structures
/// were made, and which of them came back by which way.
final class StorageWorld {
    /// How much happened.
    struct Counts: Sendable {
        var operations = 0
        var commits = 0
        var ends = 0
        var powerCuts = 0
        var checkpoints = 0
        var recoveredCheckpoints = 0
        var restores = 0
        var salvages = 0

        init() {}

        /// Adds another world's.
        mutating func add(_ other: Counts) {
            operations += other.operations
            commits += other.commits
            ends += other.ends
            powerCuts += other.powerCuts
            checkpoints += other.checkpoints
            recoveredCheckpoints += other.recoveredCheckpoints
            restores += other.restores
            salvages += other.salvages
        }
    }

    let seed: UInt64
    var counts = Counts()
    var table = StateTable()
    /// The last things that happened, for the text of a fault.
    private(set) var journal: [String] = []
    var storage: SimulatedLogStorage
    var server: SimulatedServer
    let options: LogOptions
    private(set) var policy: EnginePolicy
    var random: SplitMix64
    var twin = NaiveNode()
    /// How to take back the commits that are not known to be durable.
    var undo: [(commit: UInt64, changes: [NaiveUndo])] = []
    /// What commits did to the tree since it last came back from the disk.
    var unproven: [(commit: UInt64, states: Set<TreeState>)] = []
    /// What was done to it since the last backup.
    var notBackedUp: Set<TreeState> = []
    var lists: [StorageList] = []
    var side: SideDatabases
    /// What was written since the tree was `historyStart`, from which a salvage leaves commits out.
    var history: [(commit: UInt64, writes: [NaiveWrite])] = []
    var historyStart = NaiveNode()
    /// Where the log was salvaged, as long as a start reads what it says of commits that are left out.
    var skipPosition: LogPosition?
    private var segments: [String] = []
    private var lastRequest: UInt64 = 0
    private var now: Int64 = 1_000

    /// Makes an empty disk and starts a server on it. `table` is what other worlds have reached, which is added to.
    ///
    /// - Throws: `LogError`, `RulesError`: neither can happen on a new disk.
    init(seed: UInt64, after table: StateTable = StateTable()) throws {
        self.seed = seed
        self.table = table
        random = SplitMix64(state: seed ^ 0x57_0A6E)
        storage = SimulatedLogStorage(seed: seed)
        options = LogOptions(
            segmentByteCount: 16_384 << random.next(below: 4),
            reserveByteCount: 0,
            syncPolicy: random.next(below: 2) == 0 ? .always : .onRequest,
            readByteCount: 4_096,
        )
        side = SideDatabases(seed % 3 == 0 ? 40 : 2, &random)
        policy = EnginePolicy(
            databases: [SimulatedServer.database] + side.databases,
            createsDatabases: false,
            defaultRules: try SimulatedRules.open.ruleset(),
        )
        // No work is done elsewhere here.
        policy.bounds.nodesDecidedAtOnce = .max
        server = try SimulatedServer(storage, options, policy)
        // One list gets through all its height; several meet in batches and checkpoints.
        for index in 0..<(seed % 2 == 0 ? 3 : 1) { lists.append(newList(index)) }
    }

    func number(below bound: Int) -> Int { Int(random.next(below: bound)) }

    func happens(oneIn count: Int) -> Bool { number(below: count) == 0 }

    func note(_ text: String) {
        if journal.count == 30 { journal.removeFirst() }
        journal.append("commit \(server.made.value): \(text)")
    }

    // MARK: - Steps

    /// Lets so many things happen.
    ///
    /// - Throws: `SimulationFault` when what comes back from the disk is not what was written.
    func run(operations: Int) throws(SimulationFault) {
        for _ in 0..<operations { try step() }
    }

    private func step() throws(SimulationFault) {
        counts.operations += 1
        try write()
        if happens(oneIn: 3) { try writeBeside() }
        let draw = number(below: 1_000)
        do throws(LogError) {
            switch draw {
            case 0..<420: try append(atMost: 1 + number(below: 6))
            case 420..<520: try flush()
            case 520..<560 where !server.isCheckpointing: try beginCheckpoint()
            case 560..<700: try advanceCheckpoint()
            case 700..<710: try server.maintain()
            case 710..<714: storage.cutPower(afterCalls: 1 + number(below: 40))
            default: break
            }
        } catch {
            return try crashed(by: error)
        }
        // What never came through is sent through soon.
        let new = unproven.suffix(20).reduce(into: Set()) { $0.formUnion($1.states) }
        switch draw {
        case 714..<718: try cutPower()
        case 718..<720: try end()
        case 720..<722: try backUp()
        case 722..<760 where table.lacks(notBackedUp, through: .backup): try backUp()
        case 760..<780 where table.lacks(new, through: .log): try end()
        case 780..<860 where table.lacks(new, through: .checkpoint): try endAtCheckpoint()
        case 860..<862: try salvage()
        case 862..<890 where table.lacks(.skippedCommits): try salvage()
        case 890..<950 where skipPosition != nil && table.lacks(.cutBehindSkip): try cutPower()
        default: break
        }
    }

    /// Ends the process behind a checkpoint of all there is.
    private func endAtCheckpoint() throws(SimulationFault) {
        do throws(LogError) {
            while server.isCheckpointing { try advanceCheckpoint() }
            try beginCheckpoint()
            while server.isCheckpointing { try advanceCheckpoint() }
        } catch {
            return try crashed(by: error)
        }
        try end()
    }

    /// Makes everything durable, ends the process, starts another and backs up: all that was made came back.
    ///
    /// - Throws: `SimulationFault` when what comes back from the disk is not what was written.
    func settle() throws(SimulationFault) {
        try end()
        try backUp()
    }

    /// Asks the engine for something; true when it made a commit of it.
    func ask(
        _ operation: Request.Operation,
        of database: DatabaseID = SimulatedServer.database
    ) throws(SimulationFault) -> Bool {
        lastRequest += 1
        now += Int64(number(below: 5))
        let before = server[database].made
        let request = Request(
            database: database,
            credential: .admin(override: nil),
            operation: operation,
        )
        let time = Timestamp(milliseconds: now)
        _ = server.step(.requested(request, id: RequestID(lastRequest)), now: time)
        while server.engine.hasWork { _ = server.step(.longWork(steps: 100), now: time) }
        if server[database].made == before { return false }
        counts.commits += 1
        return true
    }

    /// The tree as the engine has it.
    var root: Node { server.snapshot?.root ?? .absent }

    /// The time of the newest commit.
    var commitTime: Int64 { server.snapshot?.time.milliseconds ?? 0 }

    // MARK: - The log

    func append(atMost count: Int) throws(LogError) {
        try server.append(atMost: count)
        if server.lastBatch.count == 0 { return }
        let isCheckpointing = server.isCheckpointing
        let isOne = server.lastBatch.count == 1
        table.note(isOne ? .batchOfOne : .batchOfMany)
        if isCheckpointing {
            table.note(isOne ? .batchOfOneDuringCheckpoint : .batchOfManyDuringCheckpoint)
        }
        if server.lastBatch.isInPieces {
            table.note(isCheckpointing ? .payloadInPiecesDuringCheckpoint : .payloadInPieces)
        }
        let found = storage.files.filter { $0.hasPrefix("log/") && $0.hasSuffix(".log") }
        if !segments.isEmpty, let last = found.last, last != segments.last {
            table.note(isCheckpointing ? .segmentTurnDuringCheckpoint : .segmentTurn)
        }
        segments = found
        if options.syncPolicy == .always { settled() }
    }

    func flush() throws(LogError) {
        try append(atMost: .max)
        if options.syncPolicy == .onRequest { try server.sync() }
        settled()
    }

    /// What is appended is durable: the engine is notified of it, and nothing of it is taken back any more.
    private func settled() {
        server.flushedAll(now: Timestamp(milliseconds: now))
        let durable = server.durable.value
        undo.removeFirst(undo.prefix { $0.commit <= durable }.count)
    }

    private func beginCheckpoint() throws(LogError) {
        try append(atMost: .max)
        try server.beginCheckpoint()
    }

    func advanceCheckpoint() throws(LogError) {
        guard server.isCheckpointing else { return }
        try server.advanceCheckpoint(byteCount: 1_000 << number(below: 9))
        guard !server.isCheckpointing, let receipt = server.lastCheckpoint else { return }
        counts.checkpoints += 1
        if receipt.droppedSegmentCount > 0 { table.note(.droppedSegments) }
        let manifests = storage.files.filter {
            $0.hasPrefix("checkpoints/") && $0.hasSuffix("/manifest")
        }
        if manifests.count == 2 { table.note(.twoCheckpoints) }
    }
}
