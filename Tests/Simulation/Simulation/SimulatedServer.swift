package import DatabaseCore
package import JSONTree
package import SimulatedStorage
import StateRecovery
package import WriteAheadLog

/// One engine on a simulated disk: the server without threads, sockets and clocks.
///
/// Its caller decides when commits are appended, made durable and checkpointed, so any
/// interleaving is a sequence of calls. After a call has thrown, the process counts as dead: restart
/// the disk and recover another one from it.
package final class SimulatedServer {
    /// The database that worlds are about; there may be others beside it.
    package static let database = DatabaseID("world")

    package let engine: DatabaseEngine
    /// What recovery found.
    package let report: RecoveryReport
    /// How far each database is that has a commit.
    private(set) var progress: [DatabaseID: Progress] = [:]
    private let folder: DataFolder
    private let log: LogWriter
    /// Commits that were made and not appended.
    private var waiting: [CommitRecord] = []
    private var checkpoint: StateCheckpoint?
    /// How many commits the last batch had, and whether the payload of one was written in pieces.
    package private(set) var lastBatch = (count: 0, isInPieces: false)
    /// What the last checkpoint that became whole left; nil before the first.
    package private(set) var lastCheckpoint: CheckpointReceipt?
    /// Checkpoints for which there was no room.
    package private(set) var abandonedCheckpointCount = 0
    /// What the engine knows of the room on the disk.
    private var knownSpace = SpaceState.ok

    /// How far one database is.
    struct Progress {
        /// The newest commit that the engine made.
        var made = CommitNumber.zero
        /// The newest commit in the log.
        var appended = CommitNumber.zero
        /// The newest commit that the engine knows to be durable.
        var durable = CommitNumber.zero
    }

    /// Starts a process on what is on the disk, up to the end of recovery; on-disconnect writes of
    /// dead sessions have not run yet.
    ///
    /// - Throws: `LogError` when the power fails meanwhile, or the log is found damaged.
    package init(
        _ storage: SimulatedLogStorage,
        _ options: LogOptions,
        _ policy: EnginePolicy
    ) throws(LogError) {
        folder = try DataFolder.open(storage, options: options)
        let state = try folder.recoverState(policy)
        engine = state.engine
        log = state.writer
        report = state.report
        for snapshot in engine.snapshots() {
            let number = snapshot.number
            progress[snapshot.database] = Progress(made: number, appended: number, durable: number)
        }
    }

    /// How far a database is.
    subscript(database: DatabaseID) -> Progress { progress[database] ?? Progress() }

    /// The newest commit of `database` that the engine made.
    package var made: CommitNumber { self[SimulatedServer.database].made }

    /// The newest one in the log.
    package var appended: CommitNumber { self[SimulatedServer.database].appended }

    /// The newest one that the engine knows to be durable.
    package var durable: CommitNumber { self[SimulatedServer.database].durable }

    /// `database` as it is now; nil without a commit.
    package var snapshot: DatabaseSnapshot? {
        engine.snapshots().first { $0.database == SimulatedServer.database }
    }

    /// Whether commits wait to become durable.
    package var isBehind: Bool { durable < made }

    /// Whether a checkpoint is being written.
    package var isCheckpointing: Bool { checkpoint != nil }

    /// Ends recovery: on-disconnect writes of dead sessions run.
    package func recovered(now: Timestamp) -> [Effect] {
        var effects: [Effect] = []
        engine.recovered(now: now, effects: &effects)
        return performed(effects)
    }

    /// One step of the engine; its commits wait to be appended, its other effects are returned.
    package func step(_ input: Input, now: Timestamp) -> [Effect] {
        var effects: [Effect] = []
        engine.step(input, now: now, effects: &effects)
        return performed(effects)
    }

    /// Says that commits up to `number` are durable, and returns what waited for them.
    package func flushed(through number: CommitNumber, now: Timestamp) -> [Effect] {
        precondition(number <= appended, "only what is in the log can be durable")
        progress[SimulatedServer.database]?.durable = number
        return step(.flushed(SimulatedServer.database, through: number), now: now)
    }

    /// Says that all that is in the log is durable.
    func flushedAll(now: Timestamp) {
        for database in progress.keys.sorted() {
            let appended = self[database].appended
            guard self[database].durable < appended else { continue }
            progress[database]?.durable = appended
            _ = step(.flushed(database, through: appended), now: now)
        }
    }

    private func performed(_ effects: [Effect]) -> [Effect] {
        effects.filter { effect in
            guard case .append(let record) = effect else { return true }
            let next = self[record.database].made.next
            precondition(record.number == next, "commits are numbered without holes")
            progress[record.database, default: Progress()].made = record.number
            waiting.append(record)
            return false
        }
    }

    // MARK: - The log

    /// Appends the oldest waiting commits as one batch.
    ///
    /// - Throws: `LogError` when the power fails.
    package func append(atMost count: Int) throws(LogError) {
        let batch = waiting.prefix(count)
        lastBatch = (0, false)
        if batch.isEmpty { return }
        lastBatch = (batch.count, batch.contains { $0.pieces != nil })
        var records = CommitBatch()
        for commit in batch { try records.append(commit) }
        _ = try log.appendBatch(&records)
        for commit in batch { progress[commit.database]?.appended = commit.number }
        waiting.removeFirst(batch.count)
        // As the log thread does behind each batch.
        if !log.hasSpare { try log.maintain() }
    }

    /// How much room the disk has, if the engine does not know it yet.
    func takeSpace() -> SpaceState? {
        if log.spaceState == knownSpace { return nil }
        knownSpace = log.spaceState
        return knownSpace
    }

    /// Makes what is appended durable; the engine learns it by `flushed`.
    ///
    /// - Throws: `LogError` when the power fails.
    package func sync() throws(LogError) {
        try log.sync()
        try log.seal()
    }

    /// Prepares the next segment.
    ///
    /// - Throws: `LogError` when the power fails.
    package func maintain() throws(LogError) { try log.maintain() }

    /// Ends the process in good order.
    ///
    /// - Throws: `LogError` when the power fails.
    package func close() throws(LogError) {
        try append(atMost: waiting.count)
        try log.close()
        folder.close()
    }

    // MARK: - Checkpoints

    /// Begins a checkpoint of the present state, unless one is under way or nothing is new.
    ///
    /// - Throws: `LogError` when the power fails.
    package func beginCheckpoint() throws(LogError) {
        if checkpoint != nil { return }
        try append(atMost: waiting.count)
        do throws(LogError) {
            checkpoint = try StateCheckpoint(
                of: engine.snapshots(),
                at: log.position,
                heads: log.logHeads,
                in: folder
            )
        } catch .checkpointNotNewer {
            // Nothing was committed since the last one.
        } catch  where error.isOutOfSpace {
            abandonedCheckpointCount += 1
        }
    }

    /// Writes the next chunk of the checkpoint under way, or ends it.
    ///
    /// - Throws: `LogError` when the power fails.
    package func advanceCheckpoint(byteCount: Int) throws(LogError) {
        do throws(LogError) {
            guard try checkpoint?.advance(atLeast: byteCount) == false else { return }
            lastCheckpoint = try checkpoint?.finish()
            checkpoint = nil
        } catch  where error.isOutOfSpace {
            try checkpoint?.abandon()
            checkpoint = nil
            abandonedCheckpointCount += 1
        }
    }
}
