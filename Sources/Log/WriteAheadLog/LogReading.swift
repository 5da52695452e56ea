/// The half of a recovery that changes nothing: which checkpoint counts, and every record after it.
struct LogReading {
    private let folder: LogFolder
    private let needs: ChunkFilter?
    private(set) var report = RecoveryReport()
    /// The last commit of every database.
    private(set) var heads = HeadTable([])
    /// Where the last segment ends; nil without one.
    private(set) var end: LogEnd?

    init(_ folder: LogFolder, needs: ChunkFilter? = nil) {
        self.folder = folder
        self.needs = needs
    }

    private var storage: any LogStorage { folder.storage }

    /// Passes `reader` the newest checkpoint that it accepts and every record after it.
    ///
    /// Throws: as `DataFolder.recover`.
    mutating func run(_ reader: RecoveryReader) throws(LogError) {
        guard try storage.hasFolder(FolderLayout.log) else {
            throw .damage(LogDamage(file: FolderLayout.log, offset: 0, fault: .missing))
        }
        report.checkpoint = try readCheckpoint(reader)
        let segments = try FolderLayout.segments(in: storage)
        try readRecords(segments, reader)
        try checkEnd(segments)
    }

    /// Tries the checkpoints from the newest down.
    private mutating func readCheckpoint(
        _ reader: RecoveryReader
    ) throws(LogError) -> CheckpointInfo? {
        for position in try FolderLayout.checkpoints(in: storage).reversed() {
            do throws(LogError) {
                let checkpoint = try CheckpointReader(folder, position)
                try checkpoint.give(to: reader, needs: needs)
                return checkpoint.info
            } catch {
                guard let damage = error.checkpointDamage else { throw error }
                report.damagedCheckpoints.append(damage)
            }
        }
        let segments = try FolderLayout.segments(in: storage)
        if let newest = report.damagedCheckpoints.first, segments.first != LogPosition.start.next {
            throw .damage(newest)
        }
        try RecoveryStep.checkpointBegan(nil).give(to: reader, FolderLayout.checkpoints, 0)
        try RecoveryStep.checkpointEnded.give(to: reader, FolderLayout.checkpoints, 0)
        return nil
    }

    /// Gives all records after the base.
    private mutating func readRecords(
        _ segments: [LogPosition],
        _ reader: RecoveryReader
    ) throws(LogError) {
        let base = report.checkpoint?.position ?? .start
        var walk = LogWalk(folder, from: report.checkpoint)
        var torn: TornTail?
        var count: UInt64 = 0
        try walk.run(segments) { event throws(LogError) in
            switch event {
            case .fault(let damage): throw .damage(damage)
            case .torn(let tail): torn = tail
            case .skip(let view, let name, let file):
                guard view.header.position >= base else { return }
                let step = RecoveryStep.skip(name, commit: view.header.commit)
                try step.give(to: reader, file, view.offset)
            case .segmentBegan, .segmentEnded, .lostRecords, .lostCommits: break
            case .commit(let view, let name, let file):
                guard view.header.position > base else { return }
                count += 1
                let record = RecoveredRecord(view, of: name)
                try RecoveryStep.record(record).give(to: reader, file, view.offset)
            }
        }
        report.torn = torn
        report.recordCount = count
        report.position = LogPosition(walk.expected.value - 1)
        heads = walk.heads
        end = walk.end
    }

    /// Checks that the log reaches the newest checkpoint, also one that could not be read: when it got its name, its
    /// records were durable.
    private func checkEnd(_ segments: [LogPosition]) throws(LogError) {
        let known = try FolderLayout.checkpoints(in: storage).last ?? .start
        let last = report.position
        guard last < known else { return }
        let file = segments.last.map { FolderLayout.segment($0) } ?? FolderLayout.log
        throw .damage(LogDamage(file: file, offset: 0, fault: .endsEarly(last: last, known: known)))
    }
}

/// Looks into a data folder without holding it.
package enum LogLook {
    /// Passes `reader` what a recovery would, but only those chunks of a checkpoint that `needs` selects.
    ///
    /// Changes nothing and takes no lock. Beside a running server it gives a state of that moment, or throws because a
    /// file was removed. Memory: as `DataFolder.recover`. Throws: as that, and `notADataFolder`.
    package static func run(
        _ storage: any LogStorage,
        needs: @escaping ChunkFilter,
        _ reader: RecoveryReader
    ) throws(LogError) {
        let (folder, damage) = try LogFolder.find(storage)
        if let damage { throw .damage(damage) }
        var reading = LogReading(folder, needs: needs)
        try reading.run(reader)
    }
}
