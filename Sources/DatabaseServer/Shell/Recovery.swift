import DatabaseCore
import JSONTree
import WriteAheadLog

/// Brings an engine back to where the data folder left it.
struct Recovery {
    let engine: DatabaseEngine
    let writer: LogWriter
    let report: RecoveryReport

    /// Steps between two words that it goes on.
    private static let stepsPerWord = 1_024

    /// Reads the folder into a new engine.
    ///
    /// - Parameters:
    ///   - folder: What is read.
    ///   - policy: What the engine keeps to.
    ///   - goesOn: Called from time to time while it does.
    /// - Throws: `LogError`; a commit that makes no sense is refused with its place in the log.
    init(
        _ folder: DataFolder,
        _ policy: EnginePolicy,
        goesOn: () -> Void = {}
    ) throws(LogError) {
        var engine = DatabaseEngine(policy)
        // nil where there is no checkpoint.
        var decoder: CheckpointDecoder?
        var stepCount = 0
        let recovered = try folder.recover { step throws(RecoveryRefusal) in
            stepCount += 1
            if stepCount % Self.stepsPerWord == 0 { goesOn() }
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
                case .record(let record): try engine.apply(CommitRecord(record))
                }
            } catch {
                throw RecoveryRefusal(reason: "it does not fit the data before it: \(error)")
            }
        }
        self.engine = engine
        writer = recovered.writer
        report = recovered.report
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
