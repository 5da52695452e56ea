/// What a salvage copied, and what it lost.
package struct LogSalvage: Sendable, CustomStringConvertible {
    /// Records that are gone.
    package struct LostRecords: Sendable, Equatable {
        /// The first of them.
        package let from: LogPosition
        /// The last of them.
        package let through: LogPosition
    }

    /// Commits of one database that are gone.
    package struct LostCommits: Sendable, Equatable {
        /// The database.
        package let database: LogDatabaseName
        /// The number of the first of them.
        package let from: UInt64
        /// The number of the last of them.
        package let through: UInt64
    }

    /// The checkpoint that was copied; nil when none was intact.
    package private(set) var checkpoint: CheckpointInfo?
    /// Records copied after the checkpoint.
    package private(set) var copiedCount: UInt64 = 0
    /// The last record copied, or the checkpoint's position.
    package private(set) var position: LogPosition = .start
    /// All damage met; at most `LogLimits.listedFaultCount` of each kind of finding is listed.
    package private(set) var faults: [LogDamage] = []
    /// Records that no file holds any more.
    package private(set) var lostRecords: [LostRecords] = []
    /// Commits that no file holds any more, as far as a later commit of the database shows it.
    package private(set) var lostCommits: [LostCommits] = []
    /// How many records `lostRecords` would name if it named all.
    package private(set) var lostRecordCount: UInt64 = 0
    /// A torn end, left out as a start would.
    package private(set) var torn: TornTail?

    /// Whether every record that was ever acknowledged is in the new folder, but for what `torn` says of its own.
    ///
    /// Damage of a file that an intact checkpoint covers loses nothing.
    package var isComplete: Bool {
        lostRecordCount == 0 && lostCommits.isEmpty && !mayHaveLostEnd
    }

    /// Whether the end of the log is gone: how much there was after it is not known.
    package private(set) var mayHaveLostEnd = false

    /// Copies the newest checkpoint that `content` accepts, and every later record that it accepts,
    /// into a new or empty folder, which a server can then open. The damaged folder is read only.
    ///
    /// Positions and commit numbers stay; the new log says itself where something is left out. Throws: `inUse` when a
    /// server holds either folder; `notADataFolder`; `unknownFormat`; `disk`.
    package static func run(
        from source: any LogStorage,
        to destination: any LogStorage,
        content: RecoveryReader,
        options: LogOptions = LogOptions()
    ) throws(LogError) -> LogSalvage {
        let (from, damage) = try LogFolder.find(source, readByteCount: options.readByteCount)
        let sourceLock = try source.lock(.read)
        defer { sourceLock.release() }
        try destination.createFolder("")
        let destinationLock = try destination.lock(.own)
        defer { destinationLock.release() }
        let to = try DataFolder.create(destination)
        var salvage = LogSalvage()
        if let damage { salvage.add(damage) }
        try salvage.copyCheckpoint(from: from, to: to, content)
        var lenient = options
        lenient.syncPolicy = .onRequest
        lenient.reserveByteCount = 0
        let writer = try LogWriter(
            to,
            lenient,
            position: salvage.checkpoint?.position ?? .start,
            heads: HeadTable(salvage.checkpoint?.heads ?? []),
        )
        try salvage.copyRecords(from: from, to: writer, content)
        return salvage
    }

    private mutating func copyCheckpoint(
        from source: LogFolder,
        to destination: LogFolder,
        _ content: RecoveryReader
    ) throws(LogError) {
        for position in try FolderLayout.checkpoints(in: source.storage).reversed() {
            var writer: CheckpointWriter?
            do throws(LogError) {
                let reader = try CheckpointReader(source, position)
                let heads = reader.info.heads
                let copy = try CheckpointWriter(destination, position, heads: heads)
                writer = copy
                try reader.readChunks { chunk, _ throws(LogError) in try copy.write(chunk) }
                let receipt = try copy.commit(appendedThrough: position, readBackBy: content)
                checkpoint = receipt.info
                self.position = position
                return
            } catch {
                guard let damage = error.checkpointDamage else { throw error }
                add(damage.moved(to: FolderLayout.checkpoint(position)))
                try writer?.abandon()
            }
        }
    }

    private mutating func copyRecords(
        from source: LogFolder,
        to writer: LogWriter,
        _ content: RecoveryReader
    ) throws(LogError) {
        let base = checkpoint?.position ?? .start
        var walk = LogWalk(source, from: checkpoint, takesAnyOrder: true)
        try writer.beginFirstSegment()
        let segments = try FolderLayout.segments(in: source.storage)
        try walk.run(segments) { event throws(LogError) in
            switch event {
            case .fault(let damage): add(damage)
            case .lostRecords(let from, let through): loseRecords(from, through, base)
            case .lostCommits(let database, let from, let through):
                loseCommits(LostCommits(database: database, from: from, through: through))
            case .torn(let tail): torn = tail
            case .commit(let view, let name, let file):
                guard view.header.position > base else { return }
                if try isDecodable(view, name, file, content) {
                    try writer.copy(view, of: name)
                    copiedCount += 1
                }
            case .segmentBegan, .skip, .segmentEnded: break
            }
        }
        let newest = try FolderLayout.checkpoints(in: source.storage).last ?? .start
        mayHaveLostEnd = walk.isInHole || walk.expected <= newest
        if walk.expected <= newest { loseRecords(walk.expected, newest, base) }
        position = writer.position
        try writer.close()
    }

    /// Whether a record's content can be read; one whose content cannot is noted as lost.
    private mutating func isDecodable(
        _ view: RecordView,
        _ name: LogDatabaseName,
        _ file: String,
        _ content: RecoveryReader
    ) throws(LogError) -> Bool {
        do throws(LogError) {
            let step = RecoveryStep.record(RecoveredRecord(view, of: name))
            try step.give(to: content, file, view.offset)
            return true
        } catch {
            add(try error.asDamage())
            let (position, commit) = (view.header.position, view.header.commit)
            loseRecords(position, position, .start)
            loseCommits(LostCommits(database: name, from: commit, through: commit))
            return false
        }
    }

    private mutating func loseCommits(_ lost: LostCommits) {
        if lostCommits.count < LogLimits.listedFaultCount { lostCommits.append(lost) }
    }

    /// Notes lost records; those that the copied checkpoint covers are not lost.
    private mutating func loseRecords(
        _ from: LogPosition,
        _ through: LogPosition,
        _ base: LogPosition
    ) {
        guard through > base else { return }
        let first = max(from, base.next)
        lostRecordCount += through.value - first.value + 1
        guard lostRecords.count < LogLimits.listedFaultCount else { return }
        lostRecords.append(LostRecords(from: first, through: through))
    }

    private mutating func add(_ damage: LogDamage) {
        if faults.count < LogLimits.listedFaultCount { faults.append(damage) }
    }

    /// The findings for people.
    package var description: String {
        var lines = faults.map(\.summary)
        if let checkpoint {
            lines.append("copied the checkpoint at position \(checkpoint.position)")
        } else {
            lines.append("no intact checkpoint; copied from the first readable record on")
        }
        lines.append("copied \(copiedCount) records, up to position \(position)")
        if let torn { lines.append(torn.description) }
        lines += lostRecords.map { "LOST: records \($0.from) through \($0.through)" }
        lines += lostCommits.map {
            "LOST: commits \($0.from) through \($0.through) of database '\($0.database)'"
        }
        if mayHaveLostEnd { lines.append("LOST: the end of the log; later commits are unknown") }
        let other = torn == nil ? "nothing" : "nothing else"
        if isComplete { lines.append("\(other) that was acknowledged is lost") }
        return lines.joined(separator: "\n")
    }
}
