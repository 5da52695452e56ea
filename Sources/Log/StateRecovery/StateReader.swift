package import DatabaseCore
import JSONTree
package import WriteAheadLog

/// Builds an engine from a data folder: the only code that turns a log into a state.
package final class StateReader {
    /// The state after the steps so far.
    package private(set) var engine: DatabaseEngine
    private let policy: EnginePolicy
    /// nil without a checkpoint.
    private var decoder: CheckpointDecoder?

    /// Begins with an engine that holds nothing.
    package init(_ policy: EnginePolicy) {
        self.policy = policy
        engine = DatabaseEngine(policy)
    }

    /// Takes one step of a recovery; a commit that makes no sense is refused.
    package func take(_ step: RecoveryStep) throws(RecoveryRefusal) {
        do throws(CommitDecodingError) {
            switch step {
            case .checkpointBegan(let info):
                engine = DatabaseEngine(policy)
                decoder = info == nil ? nil : CheckpointDecoder()
            case .chunk(let chunk):
                try decoder?.feed(Array(chunk)) { snapshot throws(CommitDecodingError) in
                    try engine.restore(snapshot)
                }
            case .checkpointEnded: try decoder?.finish()
            case .skip(let database, let commit):
                engine.skip(DatabaseID(database.description), through: CommitNumber(commit))
            case .record(let record): try engine.apply(CommitRecord(record))
            }
        } catch {
            throw RecoveryRefusal(error)
        }
    }
}

/// An engine and the log that it continues.
package struct RecoveredState {
    package let engine: DatabaseEngine
    /// Continues after the last commit in the engine.
    package let writer: LogWriter
    package let report: RecoveryReport
}

extension DataFolder {
    /// Reads the folder into a new engine; see `recover`. `step` is called after each step.
    package func recoverState(
        _ policy: EnginePolicy,
        after step: () -> Void = {}
    ) throws(LogError) -> RecoveredState {
        let state = StateReader(policy)
        let recovered = try recover { found throws(RecoveryRefusal) in
            try state.take(found)
            step()
        }
        return RecoveredState(
            engine: state.engine,
            writer: recovered.writer,
            report: recovered.report,
        )
    }
}

extension CommitRecord {
    fileprivate init(_ record: RecoveredRecord) {
        self.init(
            database: DatabaseID(record.database.description),
            number: CommitNumber(record.commit),
            time: Timestamp(milliseconds: record.time),
            payload: Array(record.payload),
        )
    }
}

extension RecoveryRefusal {
    init(_ error: CommitDecodingError) {
        self.init(reason: error.description, isOfAnotherVersion: error.isOfAnotherVersion)
    }
}
