package import DatabaseCore
package import JSONTree
import StateRecovery
package import WriteAheadLog

/// One engine on a simulated disk: the server without threads, sockets and clocks.
///
/// Whoever drives it decides when commits are appended, made durable and checkpointed, so any
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
    private var checkpoint: Checkpoint?
    /// How many commits the last batch had, and whether the payload of one was written in pieces.
    package private(set) var lastBatch = (count: 0, isInPieces: false)
    /// What the last checkpoint that became whole left; nil before the first.
    package private(set) var lastCheckpoint: CheckpointReceipt?

    /// How far one database is.
    struct Progress {
        /// The newest commit that the engine made.
        var made = CommitNumber.zero
        /// The newest commit in the log.
        var appended = CommitNumber.zero
        /// The newest commit that the engine was told to be durable.
        var durable = CommitNumber.zero
    }

    /// A checkpoint that is being written.
    private struct Checkpoint {
        let writer: CheckpointWriter
        var encoder: CheckpointEncoder
        var isEncoded = false
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

    /// The newest one that the engine was told to be durable.
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

    /// A large commit as the log writes it.
    private struct Pieces: PayloadPieces {
        var pieces: CommitPieces
        var byteCount: Int { pieces.byteCount }

        mutating func next(into piece: inout [UInt8]) -> Bool { pieces.next(into: &piece) }
    }

    /// Appends the oldest waiting commits as one batch.
    ///
    /// - Throws: `LogError` when the power fails.
    package func append(atMost count: Int) throws(LogError) {
        let batch = waiting.prefix(count)
        lastBatch = (0, false)
        if batch.isEmpty { return }
        lastBatch = (batch.count, batch.contains { $0.pieces != nil })
        var records: [LogRecord] = []
        for commit in batch {
            records.append(
                LogRecord(
                    database: try LogDatabaseName(commit.database.name),
                    commit: commit.number.value,
                    time: commit.time.milliseconds,
                    payload: commit.pieces.map { .pieces(Pieces(pieces: $0)) }
                        ?? .bytes(commit.payload),
                )
            )
        }
        let outcome = try log.append(records)
        guard case .appended = outcome else {
            preconditionFailure("nobody else appends: \(outcome)")
        }
        for commit in batch { progress[commit.database]?.appended = commit.number }
        waiting.removeFirst(batch.count)
    }

    /// Makes what is appended durable; the engine is to be told by `flushed`.
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
            let writer = try folder.beginCheckpoint(at: log.position, heads: log.logHeads)
            checkpoint = Checkpoint(
                writer: writer,
                encoder: CheckpointEncoder(engine.snapshots())
            )
        } catch .checkpointNotNewer {
            // Nothing was committed since the last one.
        }
    }

    /// Writes the next chunk of the checkpoint under way, or ends it.
    ///
    /// - Throws: `LogError` when the power fails.
    package func advanceCheckpoint(byteCount: Int) throws(LogError) {
        guard var under = checkpoint else { return }
        var bytes: [UInt8] = []
        while !under.isEncoded, bytes.count < byteCount {
            under.isEncoded = !under.encoder.next(into: &bytes, atLeast: byteCount)
        }
        if !bytes.isEmpty {
            try bytes.withUnsafeBufferPointer { chunk throws(LogError) in
                try under.writer.write(chunk)
            }
        }
        checkpoint = under
        if under.isEncoded {
            lastCheckpoint = try under.writer.commit(
                appendedThrough: log.position,
                readBackBy: StateChecker().take,
            )
            checkpoint = nil
        }
    }
}
