/// Everything that is wrong with a data folder; nothing is changed.
package struct LogVerification: Sendable, CustomStringConvertible {
    /// Damage, in the order of the files; at most `LogLimits.listedFaultCount`.
    package private(set) var faults: [LogDamage] = []
    /// All damage, listed or not.
    package private(set) var faultCount = 0
    /// What the next start sets right by itself.
    package private(set) var notes: [String] = []
    /// Intact records read and decoded.
    package private(set) var recordCount: UInt64 = 0
    /// Finished checkpoints that are intact and were decoded to their last node.
    package private(set) var intactCheckpoints: [LogPosition] = []
    /// The last record of a log that was closed cleanly; nil after a crash, or while it runs.
    package private(set) var closedAt: LogPosition?

    /// Whether a start would accept the folder, with either of its checkpoints.
    package var isSound: Bool { faultCount == 0 }

    /// For the command line: 0 when sound, 1 otherwise.
    package var exitStatus: Int32 { isSound ? 0 : 1 }

    /// Reads every checkpoint and every record that one of them still needs, and passes them to
    /// `content`, which decodes them.
    ///
    /// Throws: `notADataFolder`, `unknownFormat`, `disk`; `damage` only when the folder's id is unreadable.
    package static func run(
        _ storage: any LogStorage,
        content: RecoveryReader,
        readByteCount: Int = LogOptions().readByteCount
    ) throws(LogError) -> LogVerification {
        var found = LogVerification()
        let (folder, damage) = try LogFolder.find(storage, readByteCount: readByteCount)
        if let damage { found.add(damage) }
        if try folder.isInUse() {
            found.notes.append("a server holds the folder: its last write may look torn")
        }
        for name in try storage.list(FolderLayout.checkpoints) where name.contains(".") {
            found.notes.append("\(FolderLayout.checkpoints)/\(name) is a leftover and is not used")
        }
        var intact: [CheckpointInfo] = []
        let positions = try FolderLayout.checkpoints(in: storage)
        for position in positions {
            do throws(LogError) {
                let reader = try CheckpointReader(folder, position)
                try reader.give(to: content)
                found.intactCheckpoints.append(position)
                intact.append(reader.info)
            } catch {
                found.add(try error.asDamage())
            }
        }
        let segments = try FolderLayout.segments(in: storage)
        let base = LogWalk.base(intact: intact, finishedCount: positions.count, segments: segments)
        try found.walk(folder, base, positions.last ?? .start, segments, content)
        return found
    }

    private mutating func walk(
        _ folder: LogFolder,
        _ base: CheckpointInfo?,
        _ newest: LogPosition,
        _ segments: [LogPosition],
        _ content: RecoveryReader
    ) throws(LogError) {
        var walk = LogWalk(folder, from: base)
        try walk.run(segments) { event throws(LogError) in
            switch event {
            case .fault(let damage): add(damage)
            case .torn(let tail): notes.append(tail.description)
            case .commit(let view, let name, let file):
                recordCount += 1
                let record = RecoveredRecord(view, of: name)
                do throws(LogError) {
                    try RecoveryStep.record(record).give(to: content, file, view.offset)
                } catch {
                    add(try error.asDamage())
                }
            case .lostRecords(let from, let through):
                notes.append("records \(from) through \(through) are lost")
            case .skip(let view, let name, _):
                notes.append(
                    "an earlier salvage left out what precedes commit \(view.header.commit + 1)"
                        + " of database '\(name)'"
                )
            case .segmentBegan, .segmentEnded, .lostCommits: break
            }
        }
        if let closed = walk.closed, closed.segment == walk.end?.segment {
            closedAt = closed.position
        }
        let last = LogPosition(walk.expected.value - 1)
        if last < newest, base?.position != newest {
            let file = segments.last.map { FolderLayout.segment($0) } ?? FolderLayout.log
            add(LogDamage(file: file, offset: 0, fault: .endsEarly(last: last, known: newest)))
        }
    }

    private mutating func add(_ damage: LogDamage) {
        faultCount += 1
        if faults.count < LogLimits.listedFaultCount { faults.append(damage) }
    }

    /// The findings for people, the conclusion last.
    package var description: String {
        var lines = faults.map(\.summary)
        if faultCount > faults.count { lines.append("... \(faultCount - faults.count) more") }
        lines += notes.map { "note: \($0)" }
        let checkpoints = intactCheckpoints.map(\.description).joined(separator: ", ")
        lines.append("\(recordCount) intact records; intact checkpoints at: [\(checkpoints)]")
        let closing = closedAt.map { "the log was closed in good order at record \($0)" }
        lines.append(
            closing
                ?? "the log was not closed in good order: what a crash tore of the last batch and what"
                + " was damaged later cannot be distinguished"
        )
        lines.append(
            isSound
                ? "no damage found"
                : "\(faultCount) faults. 'hearth log salvage' copies what is readable into a new folder"
        )
        return lines.joined(separator: "\n")
    }
}
