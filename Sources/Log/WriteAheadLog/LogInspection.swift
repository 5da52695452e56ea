/// What a data folder holds, for people: read without changing it, also while a server runs.
package struct LogInspection: Sendable, CustomStringConvertible {
    /// One segment.
    package struct Segment: Sendable, Equatable {
        /// The file, relative to the data folder.
        package let file: String
        /// The position in its name.
        package let first: LogPosition
        /// Its last intact record; the position before `first` when it has none.
        package internal(set) var last: LogPosition
        /// Intact commits in it.
        package internal(set) var recordCount: UInt64 = 0
        /// Bytes of the file, preallocated ones included.
        package let byteCount: UInt64
        /// Where its intact records end.
        package internal(set) var usedByteCount: UInt64 = 0
        /// Server times of its first and last commit, milliseconds since 1970 UTC.
        package internal(set) var times: ClosedRange<Int64>?
    }

    /// One finished checkpoint.
    package enum Checkpoint: Sendable, Equatable {
        /// Its manifest is intact; the chunks were not read.
        case readable(CheckpointInfo)
        /// Its manifest is damaged.
        case damaged(LogDamage)
    }

    /// One commit of a listing.
    package struct Record: Sendable, CustomStringConvertible {
        /// The segment, relative to the data folder.
        package let file: String
        /// Bytes from the start of the segment.
        package let offset: UInt64
        /// The record's position in the log.
        package let position: LogPosition
        /// The database whose order the commit belongs to.
        package let database: LogDatabaseName
        /// The commit's number within that database.
        package let commit: UInt64
        /// Server time of the commit, milliseconds since 1970 UTC.
        package let time: Int64
        /// Bytes of the payload.
        package let payloadByteCount: Int

        /// One line.
        package var description: String {
            "\(position)  \(database) commit \(commit)  time \(time)  \(payloadByteCount) bytes"
                + "  \(file) at byte \(offset)"
        }
    }

    /// The random number made with the folder.
    package let folderID: UInt64
    /// Whether a process holds the folder now; its latest writes may then look torn.
    package let isInUse: Bool
    /// The finished checkpoints, ascending.
    package internal(set) var checkpoints: [Checkpoint] = []
    /// The segments that a checkpoint still needs, ascending.
    package internal(set) var segments: [Segment] = []
    /// The last commit of every database, by name.
    package internal(set) var heads: [LogHead] = []
    /// A torn end, which the next start cuts.
    package internal(set) var torn: TornTail?
    /// Damage found; `verify` reports more.
    package internal(set) var faultCount = 0

    /// Lists a data folder.
    ///
    /// `listRecord` is called for every intact commit, in order. Throws: `notADataFolder`,
    /// `unknownFormat`, `damage` when the folder's id is unreadable, `disk`.
    package static func run(
        _ storage: any LogStorage,
        readByteCount: Int = LogOptions().readByteCount,
        listRecord: ((Record) -> Void)? = nil
    ) throws(LogError) -> LogInspection {
        let (folder, damage) = try LogFolder.find(storage, readByteCount: readByteCount)
        var inspection = LogInspection(folderID: folder.id, isInUse: try folder.isInUse())
        inspection.faultCount = damage == nil ? 0 : 1
        var intact: [CheckpointInfo] = []
        let positions = try FolderLayout.checkpoints(in: storage)
        for position in positions {
            do throws(LogError) {
                let reader = try CheckpointReader(folder, position)
                inspection.checkpoints.append(.readable(reader.info))
                intact.append(reader.info)
            } catch .damage(let damage) {
                inspection.checkpoints.append(.damaged(damage))
                inspection.faultCount += 1
            }
        }
        let segments = try FolderLayout.segments(in: storage)
        let base = LogWalk.base(intact: intact, finishedCount: positions.count, segments: segments)
        var walk = LogWalk(folder, from: base, orFirst: segments.first)
        try walk.run(segments) { event throws(LogError) in
            inspection.take(event, listRecord)
        }
        inspection.heads = walk.heads.sorted
        return inspection
    }

    private mutating func take(_ event: LogWalk.Event, _ listRecord: ((Record) -> Void)?) {
        switch event {
        case .segmentBegan(let first, let file, let byteCount):
            let last = LogPosition(max(1, first.value) - 1)
            segments.append(Segment(file: file, first: first, last: last, byteCount: byteCount))
        case .commit(let view, let name, let file):
            let last = segments.count - 1
            segments[last].last = view.header.position
            segments[last].recordCount += 1
            let time = view.header.time
            let times = segments[last].times ?? time...time
            segments[last].times = min(times.lowerBound, time)...max(times.upperBound, time)
            listRecord?(
                Record(
                    file: file,
                    offset: view.offset,
                    position: view.header.position,
                    database: name,
                    commit: view.header.commit,
                    time: time,
                    payloadByteCount: view.header.payloadByteCount,
                )
            )
        case .segmentEnded(_, let end):
            segments[segments.count - 1].usedByteCount = end
        case .torn(let tail): torn = tail
        case .fault: faultCount += 1
        case .skip, .lostRecords, .lostCommits: break
        }
    }

    /// A table for people.
    package var description: String {
        var lines = ["data folder id \(String(folderID, radix: 16)), format \(FormatFile.version)"]
        if isInUse { lines.append("in use by a server: its last write may look torn") }
        for checkpoint in checkpoints {
            switch checkpoint {
            case .readable(let info):
                lines.append(
                    "checkpoint at position \(info.position): \(info.byteCount) bytes,"
                        + " \(info.chunkCount) chunks, \(info.heads.count) databases"
                )
            case .damaged(let damage): lines.append(damage.summary)
            }
        }
        for segment in segments {
            let times = segment.times.map { ", times \($0.lowerBound) to \($0.upperBound)" } ?? ""
            let range =
                segment.recordCount == 0 ? "" : ", positions \(segment.first) to \(segment.last)"
            lines.append(
                "\(segment.file): \(segment.recordCount) records\(range),"
                    + " \(segment.usedByteCount) of \(segment.byteCount) bytes used\(times)"
            )
        }
        lines += heads.map { "database '\($0.database)' is at commit \($0.commit)" }
        if let torn { lines.append(torn.description) }
        if faultCount > 0 { lines.append("\(faultCount) faults: run 'hearth log verify'") }
        return lines.joined(separator: "\n")
    }
}
