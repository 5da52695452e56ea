/// The last commit of each database, and whether a hole in the log excuses a jump.
///
/// Most records follow one of the same database, so the place of the last name asked for is kept:
/// asking again costs a comparison of the name instead of its hash.
struct HeadTable {
    private struct Head {
        let database: LogDatabaseName
        var commit: UInt64
        /// Holes that the log had before this commit was seen.
        var holeCount: Int
    }

    private var heads: [Head] = []
    /// Where each name stands in `heads`.
    private var places: [LogDatabaseName: Int] = [:]
    private var lastPlace = 0

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
        place(database).map { heads[$0].commit } ?? 0
    }

    mutating func set(_ database: LogDatabaseName, to commit: UInt64, holeCount: Int = 0) {
        if let place = place(database) {
            heads[place].commit = commit
            heads[place].holeCount = holeCount
        } else if commit > 0 {
            lastPlace = heads.count
            places[database] = lastPlace
            heads.append(Head(database: database, commit: commit, holeCount: holeCount))
        }
    }

    /// Whether the log had a hole since the database's last commit.
    mutating func hasHole(_ database: LogDatabaseName, holeCount: Int) -> Bool {
        (place(database).map { heads[$0].holeCount } ?? 0) < holeCount
    }

    /// The name with these bytes; the last one asked for again costs a comparison instead of an
    /// allocation.
    func name(_ bytes: UnsafeRawBufferPointer) -> LogDatabaseName {
        if lastPlace < heads.count {
            let last = heads[lastPlace].database
            if last.utf8.elementsEqual(bytes) { return last }
        }
        return LogDatabaseName(measured: bytes)
    }

    private mutating func place(_ database: LogDatabaseName) -> Int? {
        if lastPlace < heads.count, heads[lastPlace].database == database { return lastPlace }
        guard let place = places[database] else { return nil }
        lastPlace = place
        return place
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

/// One pass over the segments in order: the only place that knows what may follow what.
///
/// Goes on after damage, so that verification sees all of it and salvage gets past it; a recovery
/// stops it by throwing from its visitor.
struct LogWalk {
    /// What the pass meets. Pointers are valid until the visitor returns.
    enum Event {
        case segmentBegan(LogPosition, file: String, byteCount: UInt64)
        /// An intact commit in its place. Those the base covers are not checked against heads.
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

    private let storage: any LogStorage
    private let folderID: UInt64
    private let base: LogPosition
    private let chunk: Int
    /// Whether a database that the base does not know may begin at any commit: for listing a log
    /// whose beginning was dropped, without its checkpoint.
    private let takesUnknownHeads: Bool
    private var holeCount = 0
    /// Whether damage was met and no intact record since; at the end of the pass: whether the end of
    /// the log is gone.
    private(set) var isInHole = false
    /// The heads after the last record; up to the base, those of the base.
    private(set) var heads: HeadTable
    /// The position that belongs to the next record.
    private(set) var expected: LogPosition
    /// Where the last segment ends; nil before the pass, or without a segment.
    private(set) var end: LogEnd?
    /// Where the log ended when it was closed in good order; nil when it was not.
    private(set) var closed: ClosedEnd?
    /// Whether the record met last is a seal.
    private var isSealed = false

    /// Begins at what a checkpoint at `base` left; `LogPosition.start` and no heads without one.
    init(
        storage: any LogStorage,
        folderID: UInt64,
        base: LogPosition,
        heads: [LogHead],
        chunk: Int,
        takesUnknownHeads: Bool = false
    ) {
        self.storage = storage
        self.folderID = folderID
        self.base = base
        self.takesUnknownHeads = takesUnknownHeads
        self.heads = HeadTable(heads)
        self.chunk = chunk
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
        guard let file = try storage.open(path) else {
            return try fault(path, 0, .missing, visitor)
        }
        let window = try WindowReader(file, chunk: chunk)
        defer { window.close() }
        try visitor(.segmentBegan(first, file: path, byteCount: window.byteCount))
        let bytes = try window.bytes(at: 0, count: SegmentHeader.byteCount)
        let header = try SegmentHeader.read(bytes, file: path)
        if let header, header.folderID != folderID || header.first != first {
            return try fault(path, 0, .foreign, visitor)
        }
        if header == nil { try fault(path, 0, .unreadableHeader, visitor) }
        try meet(first, path, 0, visitor)
        isInHole = header == nil
        isSealed = false
        let preallocated = header?.preallocatedByteCount ?? 0
        let isShort =
            isLast && window.byteCount < preallocated ? try isStillLast(first) : false
        // Read after the file was measured: a server that closes the log meanwhile writes it first.
        if isLast { try readClosed(visitor) }
        let isClosed = closed?.segment == first
        let salt = checksumSalt(folderID: folderID, position: first)
        let reader = SegmentReader(window: window, salt: salt)
        let mayBeTorn = isLast && !isShort && !isClosed
        let offset = try walkRecords(reader, path, mayBeTorn: mayBeTorn, visitor)
        end = LogEnd(
            segment: first,
            offset: offset,
            isSealed: isSealed,
            preallocatedByteCount: preallocated,
        )
        if let closed, isClosed {
            try checkEnd(offset, closed, path, visitor)
        } else if isShort, !isSealed, !isInHole {
            let reason = LogDamage.Fault.cutShort(
                byteCount: window.byteCount,
                known: preallocated,
            )
            try fault(path, offset, reason, visitor)
        }
    }

    // MARK: - The end of the log

    /// Whether no later segment came to be while a server runs beside the pass.
    private func isStillLast(_ first: LogPosition) throws(LogError) -> Bool {
        try FolderLayout.segments(in: storage).last == first
    }

    private mutating func readClosed(_ visitor: Visitor) throws(LogError) {
        do throws(LogError) {
            closed = try ClosedEnd.read(storage, folderID: folderID)
        } catch .damage(let damage) {
            try fault(damage.file, damage.offset, damage.fault, visitor)
        }
    }

    /// Compares the end of a closed log with what was written down when it was closed.
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

    /// Counts what is missing up to a known end.
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
            expected = header.position.next
            isInHole = false
            if header.position >= base {
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

    /// Compares a position that stands in the log with the expected one.
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
