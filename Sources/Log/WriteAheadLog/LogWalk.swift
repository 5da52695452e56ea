/// The last commit of each database, and whether a hole in the log excuses a jump.
///
/// Most records follow one of the same database, so the index of the last name is kept: asking
/// again costs a comparison of the name instead of its hash.
struct HeadTable {
    private struct Head {
        let database: LogDatabaseName
        var commit: UInt64
        /// Holes that the log had before this commit was seen.
        var holeCount: Int
    }

    private var heads: [Head] = []
    /// The index of each name in `heads`.
    private var indexes: [LogDatabaseName: Int] = [:]
    private var lastIndex = 0

    init(_ heads: [LogHead]) {
        for head in heads { set(head.database, to: head.commit) }
    }

    /// The heads by name; databases without a commit are left out.
    var sorted: [LogHead] {
        heads.filter { $0.commit > 0 }
            .map { LogHead(database: $0.database, commit: $0.commit) }
            .sorted { $0.database < $1.database }
    }

    /// The last commit of a database, 0 when it has none.
    mutating func commit(_ database: LogDatabaseName) -> UInt64 {
        index(database).map { heads[$0].commit } ?? 0
    }

    mutating func set(_ database: LogDatabaseName, to commit: UInt64, holeCount: Int = 0) {
        if let index = index(database) {
            heads[index].commit = commit
            heads[index].holeCount = holeCount
        } else if commit > 0 {
            lastIndex = heads.count
            indexes[database] = lastIndex
            heads.append(Head(database: database, commit: commit, holeCount: holeCount))
        }
    }

    /// Whether the log had a hole since the database's last commit.
    mutating func hasHole(_ database: LogDatabaseName, holeCount: Int) -> Bool {
        (index(database).map { heads[$0].holeCount } ?? 0) < holeCount
    }

    /// The name with these bytes; the same name again costs a comparison instead of an allocation.
    func name(_ bytes: UnsafeRawBufferPointer) -> LogDatabaseName {
        if lastIndex < heads.count {
            let last = heads[lastIndex].database
            if last.utf8.elementsEqual(bytes) { return last }
        }
        return LogDatabaseName(measured: bytes)
    }

    private mutating func index(_ database: LogDatabaseName) -> Int? {
        if lastIndex < heads.count, heads[lastIndex].database == database { return lastIndex }
        guard let index = indexes[database] else { return nil }
        lastIndex = index
        return index
    }
}

/// The end of the last segment that a crash left half written.
package struct TornTail: Sendable, Equatable, CustomStringConvertible {
    /// The segment, relative to the data folder.
    package let file: String
    /// Where the intact records end.
    package let offset: UInt64
    /// Bytes behind that, up to the last one that is not zero.
    package let byteCount: UInt64
    /// The first record that they may have held.
    package let from: LogPosition

    /// The sentence for the server's log.
    package var description: String {
        "\(file): the last batch is broken at byte \(offset); \(byteCount) bytes are cut. Record \(from)"
            + " and any after it are lost: if a crash tore them, they were not durable yet; if something"
            + " else damaged them, they may have been acknowledged"
    }
}

/// One pass over the segments in order: the only code that knows the valid orders of records.
///
/// Continues after damage, so that verification sees all of it and salvage gets past it; a recovery
/// stops it by throwing from its visitor.
struct LogWalk {
    /// What the pass meets. Pointers are valid until the visitor returns.
    enum Event {
        case segmentBegan(LogPosition, file: String, byteCount: UInt64)
        /// An intact commit in order. Those the base covers are not checked against heads.
        case commit(RecordView, LogDatabaseName, file: String)
        /// A salvage left this out before.
        case skip(RecordView, LogDatabaseName, file: String)
        case fault(LogDamage)
        /// Records that are gone; follows its fault.
        case lostRecords(from: LogPosition, through: LogPosition)
        /// Commits that are gone; follows its fault, when the next commit of the database is met.
        case lostCommits(LogDatabaseName, from: UInt64, through: UInt64)
        case torn(TornTail)
        /// `end` is where the intact records end.
        case segmentEnded(file: String, end: UInt64)
    }

    typealias Visitor = (Event) throws(LogError) -> Void

    private let folder: LogFolder
    private let base: LogPosition
    /// Whether a database that the base does not know may begin at any commit: for listing a log
    /// whose beginning was dropped, without its checkpoint.
    private let takesUnknownHeads: Bool
    /// Whether records are also taken where others belong, and from a segment whose header is of another one: for a
    /// salvage. A disk that wrote a block to a wrong address leaves such segments.
    private let takesAnyOrder: Bool
    private var holeCount = 0
    /// Whether damage was met and no intact record since; at the end of the pass: whether the end of the log is gone.
    private(set) var isInHole = false
    /// The heads after the last record; up to the base, those of the base.
    private(set) var heads: HeadTable
    /// The position that belongs to the next record.
    private(set) var expected: LogPosition
    /// Where the last segment ends; nil before the pass, or without a segment.
    private(set) var end: LogEnd?
    /// The end of the log if it was closed cleanly, else nil.
    private(set) var closed: ClosedEnd?
    /// Whether the record met last is a seal.
    private var isSealed = false

    /// Begins at what a checkpoint left. Without one it begins at the start of the log, or where a first
    /// segment begins of which nothing before is known.
    init(
        _ folder: LogFolder,
        from checkpoint: CheckpointInfo?,
        orFirst first: LogPosition? = nil,
        takesAnyOrder: Bool = false
    ) {
        self.folder = folder
        self.takesAnyOrder = takesAnyOrder
        takesUnknownHeads = checkpoint == nil && first != nil
        let before = first.map { LogPosition(max(1, $0.value) - 1) } ?? .start
        base = checkpoint?.position ?? before
        heads = HeadTable(checkpoint?.heads ?? [])
        expected = base.next
    }

    /// The checkpoint from which a folder must be readable: the oldest intact one; nil, for the log's
    /// beginning, as long as nothing was ever dropped.
    ///
    /// Once there are two checkpoints, crashes may have left any of the segments below the older one
    /// behind. They are not read.
    static func base(
        intact: [CheckpointInfo],
        finishedCount: Int,
        segments: [LogPosition]
    ) -> CheckpointInfo? {
        let mayHaveDropped = finishedCount >= LogLimits.checkpointCount
        return segments.first == LogPosition.start.next && !mayHaveDropped ? nil : intact.first
    }

    /// Walks every segment that holds records after the base.
    mutating func run(_ segments: [LogPosition], _ visitor: Visitor) throws(LogError) {
        let firstNeeded = segments.lastIndex { $0 <= base.next } ?? 0
        let needed = segments[firstNeeded...]
        if let first = needed.first, first <= base.next { expected = first }
        for first in needed {
            try walk(first, isLast: first == needed.last, visitor)
        }
        if needed.isEmpty { try readClosed(visitor) }
        try missSegment(after: needed.last, visitor)
        if needed.isEmpty, base > .start {
            let reason = LogDamage.Fault.endsEarly(last: .start, known: base)
            return try fault(FolderLayout.log, 0, reason, visitor)
        }
        if expected <= base {
            let file = needed.last.map { FolderLayout.segment($0) } ?? FolderLayout.log
            let last = LogPosition(expected.value - 1)
            try fault(file, 0, .endsEarly(last: last, known: base), visitor)
        }
    }

    private mutating func walk(
        _ first: LogPosition,
        isLast: Bool,
        _ visitor: Visitor
    ) throws(LogError) {
        let path = FolderLayout.segment(first)
        guard let file = try folder.storage.open(path) else {
            return try fault(path, 0, .missing, visitor)
        }
        let window = try WindowReader(file, chunk: folder.readByteCount)
        defer { window.close() }
        try visitor(.segmentBegan(first, file: path, byteCount: window.byteCount))
        let bytes = try window.bytes(at: 0, count: SegmentHeader.byteCount)
        let header = try SegmentHeader.read(bytes, file: path)
        let salt = checksumSalt(folderID: folder.id, position: first)
        let reader = SegmentReader(window: window, salt: salt)
        let found = takesAnyOrder ? try reader.findAll() : []
        let isForeign = header.map { $0.folderID != folder.id || $0.first != first } ?? false
        if isForeign {
            try fault(path, 0, .foreign, visitor)
            if found.isEmpty { return }
        }
        if header == nil { try fault(path, 0, .unreadableHeader, visitor) }
        try meet(first, path, 0, visitor)
        isInHole = header == nil || isForeign
        isSealed = false
        let preallocated = isForeign ? 0 : header?.preallocatedByteCount ?? 0
        let isShort =
            isLast && window.byteCount < preallocated ? try isStillLast(first) : false
        // Read after the file was measured: a server that closes the log writes it first.
        if isLast { try readClosed(visitor) }
        let isClosed = closed?.segment == first
        let mayBeTorn = isLast && !isShort && !isClosed
        let isInOrder = zip(found, found.dropFirst()).allSatisfy { $0.position <= $1.position }
        let offset =
            isInOrder
            ? try walkRecords(reader, path, mayBeTorn: mayBeTorn, visitor)
            : try walkSorted(found, reader, path, mayBeTorn: mayBeTorn, visitor)
        end = LogEnd(
            segment: first,
            offset: offset,
            isSealed: isSealed,
            preallocatedByteCount: preallocated,
        )
        if let closed, isClosed {
            try checkEnd(offset, closed, path, visitor)
        } else if isShort, !isSealed, !isInHole {
            let reason = LogDamage.Fault.cutShort(byteCount: window.byteCount, known: preallocated)
            try fault(path, offset, reason, visitor)
        }
    }

    // MARK: - The end of the log

    /// Whether a running server made no later segment during the pass.
    private func isStillLast(_ first: LogPosition) throws(LogError) -> Bool {
        try FolderLayout.segments(in: folder.storage).last == first
    }

    private mutating func readClosed(_ visitor: Visitor) throws(LogError) {
        do throws(LogError) {
            closed = try ClosedEnd.read(folder)
        } catch .damage(let damage) {
            try fault(damage.file, damage.offset, damage.fault, visitor)
        }
    }

    /// Compares the end of a closed log with the one in `log/closed`.
    private mutating func checkEnd(
        _ offset: UInt64,
        _ closed: ClosedEnd,
        _ path: String,
        _ visitor: Visitor
    ) throws(LogError) {
        if offset == closed.byteCount, expected == closed.position.next { return }
        if !isInHole {
            let reason = LogDamage.Fault.cutShort(byteCount: offset, known: closed.byteCount)
            try fault(path, offset, reason, visitor)
        }
        try loseThrough(closed.position, visitor)
    }

    /// A closed log whose last segment is gone.
    private mutating func missSegment(
        after last: LogPosition?,
        _ visitor: Visitor
    ) throws(LogError) {
        guard let closed, closed.segment > last ?? .start else { return }
        try fault(FolderLayout.segment(closed.segment), 0, .missing, visitor)
        try loseThrough(closed.position, visitor)
    }

    /// Counts the missing records up to a known end.
    private mutating func loseThrough(
        _ position: LogPosition,
        _ visitor: Visitor
    ) throws(LogError) {
        isInHole = false
        guard position >= expected else { return }
        try visitor(.lostRecords(from: expected, through: position))
        expected = position.next
    }

    // MARK: - Records

    /// Walks the records of a segment; returns where they end.
    private mutating func walkRecords(
        _ reader: SegmentReader,
        _ path: String,
        mayBeTorn: Bool,
        _ visitor: Visitor
    ) throws(LogError) -> UInt64 {
        var offset = UInt64(SegmentHeader.byteCount)
        while true {
            var found = LogDamage.Fault.recordHeader(expected: expected)
            switch try reader.read(at: offset, expected: expected) {
            case .record(let view):
                try take(view, path, visitor)
                offset = view.end
                continue
            case .nothing: break
            case .broken(let reason): found = reason
            }
            let rest = try reader.examine(from: offset, expected: expected, mayBeTorn: mayBeTorn)
            switch rest {
            case .empty:
                try visitor(.segmentEnded(file: path, end: offset))
                return offset
            case .torn(let byteCount):
                let tail = TornTail(
                    file: path,
                    offset: offset,
                    byteCount: byteCount,
                    from: expected,
                )
                try visitor(.torn(tail))
                try visitor(.segmentEnded(file: path, end: offset))
                return offset
            case .damaged(let next):
                try fault(path, offset, found, visitor)
                guard let next else {
                    try visitor(.segmentEnded(file: path, end: offset))
                    return offset
                }
                offset = next
            }
        }
    }

    /// Walks the records of a segment in which some stand where others belong, by their positions; returns where the
    /// last of them ends.
    ///
    /// Every intact record of a segment was written into it. Of the last batch only what follows without a hole is
    /// taken, as anywhere else.
    private mutating func walkSorted(
        _ found: [SegmentReader.Found],
        _ reader: SegmentReader,
        _ path: String,
        mayBeTorn: Bool,
        _ visitor: Visitor
    ) throws(LogError) -> UInt64 {
        for (record, next) in zip(found, found.dropFirst()) where record.position > next.position {
            let reason = LogDamage.Fault.repeatedRecord(
                found: next.position,
                expected: record.position.next,
            )
            try fault(path, next.offset, reason, visitor)
            break
        }
        let proven = mayBeTorn ? found.map(\.durableThrough).max() ?? .start : LogPosition(.max)
        var end = UInt64(SegmentHeader.byteCount)
        for record in found.sorted(by: { ($0.position, $0.offset) < ($1.position, $1.offset) }) {
            guard case .record(let view) = try reader.read(at: record.offset, expected: expected)
            else { continue }
            if record.position < expected { continue }
            if record.position > expected, expected > proven {
                try fault(path, record.offset, .recordHeader(expected: expected), visitor)
                break
            }
            try take(view, path, visitor)
            end = max(end, view.end)
        }
        try visitor(.segmentEnded(file: path, end: end))
        return end
    }

    private mutating func take(
        _ view: RecordView,
        _ path: String,
        _ visitor: Visitor
    ) throws(LogError) {
        let header = view.header
        isSealed = header.kind == .seal
        switch header.kind {
        case .seal:
            try meet(header.position.next, path, view.offset, visitor)
        case .skip:
            let name = heads.name(view.name)
            guard header.position.next >= expected else {
                return try repeated(header, path, view.offset, visitor)
            }
            // It does not say where the part begins that it stands for: what damage took is in it too.
            if isInHole, header.position >= expected {
                try visitor(.lostRecords(from: expected, through: header.position))
            }
            expected = header.position.next
            isInHole = false
            if header.position >= base {
                let wanted = heads.commit(name) + 1
                if header.commit >= wanted, heads.hasHole(name, holeCount: holeCount) {
                    try visitor(.lostCommits(name, from: wanted, through: header.commit))
                }
                heads.set(name, to: header.commit, holeCount: holeCount)
            }
            try visitor(.skip(view, name, file: path))
        case .commit:
            guard header.position >= expected else {
                return try repeated(header, path, view.offset, visitor)
            }
            try meet(header.position, path, view.offset, visitor)
            let name = heads.name(view.name)
            if header.position > base {
                try follow(name, header.commit, path, view.offset, visitor)
            }
            expected = header.position.next
            try visitor(.commit(view, name, file: path))
        }
    }

    /// Compares a position in the log with the expected one.
    private mutating func meet(
        _ position: LogPosition,
        _ path: String,
        _ offset: UInt64,
        _ visitor: Visitor
    ) throws(LogError) {
        if position < expected {
            let reason = LogDamage.Fault.repeatedRecord(found: position, expected: expected)
            return try fault(path, offset, reason, visitor)
        }
        if position > expected {
            let last = LogPosition(position.value - 1)
            if !isInHole {
                let reason = LogDamage.Fault.missingRecords(from: expected, through: last)
                try fault(path, offset, reason, visitor)
            }
            try visitor(.lostRecords(from: expected, through: last))
            expected = position
        }
        isInHole = false
    }

    /// Compares a commit number with the head of its database, and makes it the head.
    private mutating func follow(
        _ name: LogDatabaseName,
        _ commit: UInt64,
        _ path: String,
        _ offset: UInt64,
        _ visitor: Visitor
    ) throws(LogError) {
        let wanted = heads.commit(name) + 1
        let isUnknown = takesUnknownHeads && wanted == 1
        if commit != wanted, !isUnknown {
            if commit > wanted, heads.hasHole(name, holeCount: holeCount) {
                try visitor(.lostCommits(name, from: wanted, through: commit - 1))
            } else {
                let reason = LogDamage.Fault.commitNumber(
                    database: name,
                    expected: wanted,
                    found: commit,
                )
                try fault(path, offset, reason, visitor)
            }
        }
        heads.set(name, to: commit, holeCount: holeCount)
    }

    private mutating func repeated(
        _ header: RecordHeader,
        _ path: String,
        _ offset: UInt64,
        _ visitor: Visitor
    ) throws(LogError) {
        let reason = LogDamage.Fault.repeatedRecord(found: header.position, expected: expected)
        try fault(path, offset, reason, visitor)
        isInHole = false
    }

    private mutating func fault(
        _ path: String,
        _ offset: UInt64,
        _ reason: LogDamage.Fault,
        _ visitor: Visitor
    ) throws(LogError) {
        holeCount += 1
        isInHole = true
        try visitor(.fault(LogDamage(file: path, offset: offset, fault: reason)))
    }
}
