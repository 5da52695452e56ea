/// The steps that a recovery passes to its reader, in this order: `checkpointBegan`, `chunk`..., `checkpointEnded`,
/// then `record` and `skip` as they come. Pointers are valid until the reader returns.
package enum RecoveryStep {
    /// A checkpoint begins, or with nil an empty state. The reader drops everything from before:
    /// this step is repeated when a checkpoint is damaged and an older one is used.
    case checkpointBegan(CheckpointInfo?)
    /// The next chunk, as written; its checksum is correct.
    case chunk(UnsafeBufferPointer<UInt8>)
    /// The checkpoint was intact to its end.
    case checkpointEnded
    /// A commit after the checkpoint, in order and without gaps.
    case record(RecoveredRecord)
    /// A salvage left out what the log held here: the database's next commit is the one after this.
    case skip(LogDatabaseName, commit: UInt64)

    /// Passes the step to `reader`; throws its refusal with the position.
    func give(to reader: RecoveryReader, _ file: String, _ offset: UInt64) throws(LogError) {
        do throws(RecoveryRefusal) {
            try reader(self)
        } catch {
            throw .refused(error, file: file, offset: offset)
        }
    }
}

/// Decodes the content of checkpoints and records, which the log treats as bytes.
///
/// A recovery passes it what a start uses; verification, salvage and the check of a new checkpoint
/// pass it what a start would read.
package typealias RecoveryReader = (RecoveryStep) throws(RecoveryRefusal) -> Void

/// One commit in the log.
package struct RecoveredRecord {
    /// The database whose order the commit belongs to.
    package let database: LogDatabaseName
    /// The commit's number within that database.
    package let commit: UInt64
    /// Server time of the commit, milliseconds since 1970 UTC.
    package let time: Int64
    /// The record's position in the log.
    package let position: LogPosition
    /// The payload; valid until the reader returns.
    package let payload: UnsafeBufferPointer<UInt8>

    init(_ view: RecordView, of database: LogDatabaseName) {
        self.database = database
        commit = view.header.commit
        time = view.header.time
        position = view.header.position
        payload = view.payload.bindMemory(to: UInt8.self)
    }
}

/// What a recovery found and did, for the server's log.
package struct RecoveryReport: Sendable, Equatable, CustomStringConvertible {
    /// The checkpoint that was used; nil when there was none.
    package var checkpoint: CheckpointInfo?
    /// Commits given after the checkpoint.
    package var recordCount: UInt64 = 0
    /// The last record of the log.
    package var position: LogPosition = .start
    /// The torn end that was cut.
    package var torn: TornTail?
    /// Unreadable checkpoints that were renamed.
    package var damagedCheckpoints: [LogDamage] = []
    /// What crashes had left half written or half removed and is now gone.
    package var removedLeftovers: [String] = []

    /// One line for each thing worth saying.
    package var lines: [String] {
        let from = checkpoint.map { "checkpoint at position \($0.position)" } ?? "no checkpoint"
        var lines = ["recovered \(from) and \(recordCount) records, up to position \(position)"]
        if let torn { lines.append(torn.description) }
        lines += damagedCheckpoints.map {
            "\($0.summary); it is put aside and the checkpoint before it is used"
        }
        lines += removedLeftovers.map { "removed unfinished \($0)" }
        return lines
    }

    /// The lines as one text.
    package var description: String { lines.joined(separator: "\n") }
}

/// A log ready to be written, with what was found in it.
package struct RecoveredLog {
    /// Continues after the last record.
    package let writer: LogWriter
    /// What was found.
    package let report: RecoveryReport
}

extension DataFolder {
    /// Reads the newest checkpoint that `reader` accepts and every record after it, cuts a torn tail, and returns the
    /// writer that continues there.
    ///
    /// Memory: one chunk, or one record. Throws: `damage` for anything that was durable and is not there any more; then
    /// nothing was changed. `refused` when `reader` throws at a record, or at a checkpoint that another version may
    /// have written. `unknownFormat`, `disk`.
    package func recover(_ reader: RecoveryReader) throws(LogError) -> RecoveredLog {
        try forgetUnwritten()
        var reading = LogReading(files)
        try reading.run(reader)
        var report = reading.report
        report.removedLeftovers = try CheckpointFolders.removeLeftovers(in: storage)
        let end = try reading.end?.settle(at: report.position, in: files)
        try setAside(report.damagedCheckpoints)
        let writer = try LogWriter(
            files,
            options,
            position: report.position,
            heads: reading.heads,
            end: end,
        )
        return RecoveredLog(writer: writer, report: report)
    }

    /// Lets the last segment be read as it will be after a power cut: all others were synced before it was made.
    ///
    /// A run before this one may have met a failed sync. What that lost stays readable until the system forgets it, and
    /// commits behind it would be damage later.
    private func forgetUnwritten() throws(LogError) {
        guard let last = try FolderLayout.segments(in: storage).last else { return }
        guard let file = try storage.open(FolderLayout.segment(last)) else { return }
        defer { file.close() }
        try file.sync()
        try file.forgetCached()
    }

    /// Renames checkpoints that could not be read, so that they are not among the two that are kept.
    private func setAside(_ damaged: [LogDamage]) throws(LogError) {
        guard !damaged.isEmpty else { return }
        for damage in damaged {
            let folder = damage.file.split(separator: "/").prefix(2).joined(separator: "/")
            let target = folder + FolderLayout.damagedSuffix
            try CheckpointFolders.remove(target, in: storage)
            try storage.rename(folder, to: target)
        }
        try storage.syncFolder(FolderLayout.checkpoints)
    }
}
