package import DatabaseCore
import JSONTree
package import WriteAheadLog

/// Commits that go to the log together.
package struct CommitBatch {
    /// What the log appends.
    package private(set) var records: [LogRecord] = []
    /// The last commit of each run of commits of one database, in order.
    package private(set) var newest: [(database: DatabaseID, through: CommitNumber)] = []

    /// Begins without a commit.
    package init() {}

    /// Adds the next commit.
    ///
    /// - Throws: `LogError` for a database that the log cannot name, which no engine has.
    package mutating func append(_ commit: CommitRecord) throws(LogError) {
        let name: LogDatabaseName
        if let run = newest.last, run.database == commit.database, let last = records.last {
            name = last.database
            newest[newest.count - 1].through = commit.number
        } else {
            name = try LogDatabaseName(commit.database.name)
            newest.append((commit.database, commit.number))
        }
        records.append(
            LogRecord(
                database: name,
                commit: commit.number.value,
                time: commit.time.milliseconds,
                payload: commit.pieces.map { .pieces($0) } ?? .bytes(commit.payload),
            )
        )
    }
}

extension LogWriter {
    /// Appends a batch, and empties it.
    ///
    /// - Returns: the last commit of each run of commits of one database, in order.
    /// - Throws: as `append`.
    package func appendBatch(
        _ batch: inout CommitBatch
    ) throws(LogError) -> [(database: DatabaseID, through: CommitNumber)] {
        if batch.records.isEmpty { return [] }
        let outcome = try append(batch.records)
        guard case .appended = outcome else {
            preconditionFailure("a local log has one writer: \(outcome)")
        }
        let newest = batch.newest
        batch = CommitBatch()
        return newest
    }
}

extension CommitPieces: PayloadPieces {}
