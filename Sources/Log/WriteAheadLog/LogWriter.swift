import Glibc

/// The outcome of an append.
package enum AppendOutcome: Sendable, Equatable {
    /// The batch is in the log; `position` is that of its last record.
    case appended(position: LogPosition)
    /// Nothing was written: the first commit of a database in the batch does not follow its last commit in the log,
    /// which is `actual` (0: none). Only a log that others append to as well answers this in a server without bugs.
    case conflict(database: LogDatabaseName, actual: UInt64)
}

/// Whether there is room for more commits.
package enum SpaceState: Sendable, Equatable {
    /// Write on.
    case ok
    /// Refuse writes before they become commits; commits already decided, and small ones that remove data,
    /// still fit: the next segment has its room.
    case low
    /// Refuse all writes: the next segment has no room.
    case full
}

/// Appends to the log of one data folder.
///
/// Used by one thread at a time, the server's log thread; it owns no thread, and never waits but for
/// the disk. A batch is one write and, under `.always`, one sync. After a failed append or sync
/// every call throws `stopped`: memory and disk may disagree, and only a new recovery settles that.
///
/// Group commit: the batch is what arrived while the sync before it ran, so a slow disk makes larger batches, not a
/// longer queue, and one sync serves all commits of a batch.
///
///     time         ──────────────────────────────────────────────────────────►
///     commits      A B       C        D E F             G
///     log thread     [ write A B, sync ][ write C D E F, sync ][ write G, sync ]
///     answered                          A B                   C D E F         G
package final class LogWriter {
    /// The last record written; with a sync policy other than `.always` not yet durable.
    package private(set) var position: LogPosition
    /// The last record known to be durable.
    package private(set) var durableThrough: LogPosition
    /// As of the last `maintain`.
    package private(set) var spaceState: SpaceState = .ok

    private let folder: LogFolder
    private let options: LogOptions
    private var heads: HeadTable
    /// The segment being written; nil until the first append, so that a start writes nothing.
    private var segment: OpenSegment?
    /// A preallocated file that becomes the next segment: its room is what keeps commits that were
    /// already decided when the disk ran full from failing.
    private var spare: (any LogFile)?
    /// The end of a log without appends since its start; nil without a segment.
    private var settledEnd: ClosedEnd?
    private var failure: LogError?
    private let buffer = ByteBuffer(capacity: 256 * 1024)

    private struct OpenSegment {
        let file: any LogFile
        let first: LogPosition
        let salt: UInt32
        /// The offset of the next record.
        var end: UInt64
        /// Whether a seal is there.
        var isSealed = false
    }

    /// Memory that the batch buffer keeps between batches.
    private static let keptBufferByteCount = 4 * 1024 * 1024

    /// Continues after `position`, up to which everything is durable; `end` says where that is.
    init(
        _ folder: LogFolder,
        _ options: LogOptions,
        position: LogPosition,
        heads: HeadTable,
        end: ClosedEnd? = nil
    ) throws(LogError) {
        self.folder = folder
        self.options = options
        self.position = position
        self.heads = heads
        settledEnd = end
        durableThrough = position
        try folder.storage.remove(FolderLayout.spare)
        try maintain()
    }

    private var storage: any LogStorage { folder.storage }

    /// Whether the next segment has its room already; without one, `maintain` is due.
    package var hasSpare: Bool { spare != nil }

    /// The last commit of every database in the log, by name.
    package var logHeads: [LogHead] { heads.sorted }

    /// Appends a batch as one unit of work: all of it or, on a conflict, nothing.
    ///
    /// Each record's commit number must be one above the last of its database. Returns after the
    /// batch is durable under `.always`, else after it is written. Throws: `payloadTooLarge`, with
    /// nothing written and the writer usable; `disk`, after which the writer is stopped.
    package func append(_ records: [LogRecord]) throws(LogError) -> AppendOutcome {
        try checkRunning()
        var byteCount = 0
        for record in records {
            let payloadByteCount = record.payload.byteCount
            guard payloadByteCount <= LogLimits.payloadByteCount else {
                throw .payloadTooLarge(byteCount: payloadByteCount)
            }
            byteCount += RecordHeader.recordByteCount(
                name: record.database.utf8.count,
                payload: payloadByteCount,
            )
        }
        if let conflict = advanceHeads(records) { return conflict }
        guard !records.isEmpty else { return .appended(position: position) }
        try stoppingOnFailure { () throws(LogError) in
            try writeBatch(records, to: try segment(for: byteCount))
            // The copy of a large batch is not kept until the next one.
            buffer.removeAll(keepingAtMost: Self.keptBufferByteCount)
            position.value += UInt64(records.count)
            if options.syncPolicy == .always { try syncSegment() }
        }
        return .appended(position: position)
    }

    /// Makes everything appended so far durable.
    ///
    /// Throws: `disk`, after which the writer is stopped. A sync is never tried twice: after a
    /// failed one the system may have dropped the data that it could not write.
    package func sync() throws(LogError) {
        try checkRunning()
        guard durableThrough < position else { return }
        try stoppingOnFailure { () throws(LogError) in try syncSegment() }
    }

    /// Writes a seal behind the last record, which says that all records are durable; does nothing if it is there or if
    /// they are not durable.
    ///
    /// To be called when no batch waits: a batch says by itself that those before it are durable, and overwrites the
    /// seal. One small write and no sync: it survives the end of the process at once, and a power cut as soon as the
    /// system has written it back. If a batch fills its segment, the preallocated next segment serves as the seal.
    package func seal() throws(LogError) {
        try checkRunning()
        guard let open = segment, !open.isSealed, durableThrough == position else { return }
        guard open.end > UInt64(SegmentHeader.byteCount) else { return }
        try stoppingOnFailure { () throws(LogError) in
            if fits(0, in: open) {
                try writeSeal(to: open)
            } else if spare != nil {
                _ = try rotateSegment(open)
            }
        }
    }

    /// Prepares the next segment and looks at the room left on the disk; returns the space state.
    ///
    /// To be called after a batch that used up the spare segment, and every second or so, so that
    /// service resumes without a write. Costs one system call while a spare segment is there. In the state
    /// `ok` at least the spare segment's room is reserved beside the rest of the current one.
    /// Throws: `disk` for anything but a lack of room, after which the writer is stopped.
    @discardableResult
    package func maintain() throws(LogError) -> SpaceState {
        try checkRunning()
        try stoppingOnFailure { () throws(LogError) in
            if spare == nil { try prepareSpare() }
            let free = try storage.freeByteCount()
            let limit =
                spaceState == .ok ? options.reserveByteCount : options.resumeByteCount
            spaceState = spare == nil ? .full : free >= limit ? .ok : .low
        }
        return spaceState
    }

    /// Closes the log cleanly: seals and syncs it, writes its end to `log/closed`, and gives preallocated room back.
    ///
    /// Any damage of such a log is noticed. Nothing may be called afterwards.
    package func close() throws(LogError) {
        try checkRunning()
        try stoppingOnFailure { () throws(LogError) in
            // First, for the file that says where the log ends needs room too.
            spare?.close()
            spare = nil
            try storage.remove(FolderLayout.spare)
            if let open = segment {
                try writeSeal(to: open)
                try open.file.sync()
                durableThrough = position
                let byteCount = open.end + UInt64(RecordHeader.byteCount)
                let end = ClosedEnd(segment: open.first, byteCount: byteCount, position: position)
                try end.write(to: folder)
                try open.file.truncate(to: byteCount)
                try open.file.sync()
                open.file.close()
            } else {
                try settledEnd?.write(to: folder)
            }
            segment = nil
        }
    }

    // MARK: - Salvage

    /// Appends a record of another log under its own position and commit number, with a record before it that says
    /// which ones are left out.
    func copy(_ view: RecordView, of database: LogDatabaseName) throws(LogError) {
        try checkRunning()
        let header = view.header
        precondition(header.position > position, "a salvage copies in order")
        precondition(header.commit > 0, "commits count from 1")
        let previous = LogPosition(header.position.value - 1)
        let isNext = previous == position && header.commit == heads.commit(database) + 1
        let byteCount = header.recordByteCount + (isNext ? 0 : RecordHeader.byteCount + 64)
        try stoppingOnFailure { () throws(LogError) in
            var segment = try segment(for: byteCount)
            buffer.removeAll(keepingAtMost: Self.keptBufferByteCount)
            if !isNext {
                appendRecord(
                    .skip,
                    position: previous,
                    commit: header.commit - 1,
                    time: 0,
                    name: database.utf8,
                    salt: segment.salt,
                )
            }
            appendRecord(
                .commit,
                position: header.position,
                commit: header.commit,
                time: header.time,
                name: database.utf8,
                payload: view.payload,
                salt: segment.salt,
            )
            try flush(to: &segment)
        }
        position = header.position
        heads.set(database, to: header.commit)
    }

    /// Begins the first segment although nothing is appended yet: a log beside a checkpoint is never without one.
    func beginFirstSegment() throws(LogError) {
        try stoppingOnFailure { () throws(LogError) in _ = try segment(for: 0) }
    }

    // MARK: - One batch

    /// Moves the heads over the batch, or leaves them unchanged and returns the conflict.
    private func advanceHeads(_ records: [LogRecord]) -> AppendOutcome? {
        for (index, record) in records.enumerated() {
            let actual = heads.commit(record.database)
            guard record.commit == actual + 1 else {
                for done in records[..<index].reversed() {
                    heads.set(done.database, to: done.commit - 1)
                }
                return .conflict(database: record.database, actual: heads.commit(record.database))
            }
            heads.set(record.database, to: record.commit)
        }
        return nil
    }

    /// Writes a batch: one write, but for payloads in pieces, which end it and are written on their own.
    private func writeBatch(_ records: [LogRecord], to open: OpenSegment) throws(LogError) {
        buffer.removeAll(keepingAtMost: Self.keptBufferByteCount)
        var open = open
        var next = position
        for record in records {
            next = next.next
            switch record.payload {
            case .bytes(let payload):
                payload.withUnsafeBytes { payload in
                    appendRecord(
                        .commit,
                        position: next,
                        commit: record.commit,
                        time: record.time,
                        name: record.database.utf8,
                        payload: payload,
                        salt: open.salt,
                    )
                }
            case .pieces(let pieces):
                try flush(to: &open)
                buffer.removeAll(keepingAtMost: Self.keptBufferByteCount)
                try writePieces(pieces, of: record, at: next, to: &open)
            }
        }
        try flush(to: &open)
    }

    private func writePieces(
        _ pieces: any PayloadPieces,
        of record: LogRecord,
        at position: LogPosition,
        to open: inout OpenSegment
    ) throws(LogError) {
        let name = record.database.utf8
        let header = RecordHeader(
            kind: .commit,
            position: position,
            durableThrough: durableThrough,
            commit: record.commit,
            time: record.time,
            nameByteCount: name.count,
            payloadByteCount: pieces.byteCount,
        )
        let run = RecordInPieces(header: header, name: name, salt: open.salt)
        open.isSealed = false
        try run.write(pieces, to: open.file, at: open.end)
        open.end += UInt64(header.recordByteCount)
        segment = open
    }

    private func appendRecord(
        _ kind: RecordKind,
        position: LogPosition,
        commit: UInt64,
        time: Int64,
        name: [UInt8] = [],
        payload: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        salt: UInt32
    ) {
        let header = RecordHeader(
            kind: kind,
            position: position,
            durableThrough: durableThrough,
            commit: commit,
            time: time,
            nameByteCount: name.count,
            payloadByteCount: payload.count,
        )
        RecordFormat.append(header, name: name, payload: payload, salt: salt, to: buffer)
    }

    /// Writes what the buffer holds.
    private func flush(to open: inout OpenSegment) throws(LogError) {
        if buffer.count == 0 { return }
        open.isSealed = false
        try open.file.write(buffer.bytes, at: open.end)
        open.end += UInt64(buffer.count)
        segment = open
    }

    /// Writes a seal behind the last record, at the offset of the next one.
    private func writeSeal(to open: OpenSegment) throws(LogError) {
        buffer.removeAll(keepingAtMost: Self.keptBufferByteCount)
        appendRecord(.seal, position: position, commit: 0, time: 0, salt: open.salt)
        try open.file.write(buffer.bytes, at: open.end)
        segment?.isSealed = true
    }

    private func syncSegment() throws(LogError) {
        try segment?.file.sync()
        durableThrough = position
    }

    // MARK: - Segments

    /// The segment for a batch of `byteCount` bytes: the current one, or a new one when the batch would not fit.
    private func segment(for byteCount: Int) throws(LogError) -> OpenSegment {
        guard let open = segment else { return try beginSegment() }
        let isFresh = open.end == UInt64(SegmentHeader.byteCount)
        return isFresh || fits(byteCount, in: open) ? open : try rotateSegment(open)
    }

    /// Whether there is room for `byteCount` bytes and a seal.
    private func fits(_ byteCount: Int, in open: OpenSegment) -> Bool {
        open.end + UInt64(byteCount + RecordHeader.byteCount) <= UInt64(options.segmentByteCount)
    }

    /// Ends a segment, durable whatever the sync policy, and begins the next one. Only the last
    /// segment of a log can therefore hold bytes that were never synced.
    ///
    /// The ended one is cut to its length once the next has its name: a last segment is never short
    /// without a seal, so one that is has lost its end.
    private func rotateSegment(_ open: OpenSegment) throws(LogError) -> OpenSegment {
        try open.file.sync()
        durableThrough = position
        let next = try beginSegment()
        try open.file.truncate(to: open.end)
        open.file.close()
        return next
    }

    /// Makes the spare file the segment that begins after `position`: the header is durable
    /// before the name is, and the name before the first record.
    private func beginSegment() throws(LogError) -> OpenSegment {
        if spare == nil { try prepareSpare() }
        guard let file = spare else {
            let path = "\(storage.path)/\(FolderLayout.spare)"
            throw .disk(DiskFailure(.preallocate, path, errorNumber: ENOSPC))
        }
        let header = SegmentHeader(
            folderID: folder.id,
            first: position.next,
            preallocatedByteCount: UInt64(options.segmentByteCount),
        )
        let bytes = ByteBuffer(capacity: SegmentHeader.byteCount)
        header.append(to: bytes)
        try bytes.withBytes { bytes throws(LogError) in try file.write(bytes, at: 0) }
        try file.sync()
        let path = FolderLayout.segment(header.first)
        if settledEnd?.segment == header.first {
            // The last segment has no record and gives its name to this one, so no later name would
            // invalidate the recorded end of the log.
            try storage.remove(FolderLayout.closed)
            try storage.syncFolder(FolderLayout.log)
        }
        try storage.rename(FolderLayout.spare, to: path)
        file.isRenamed(to: path)
        try storage.syncFolder(FolderLayout.log)
        spare = nil
        if settledEnd != nil {
            // The new name has taken it back already. Not synced: a file that is left says nothing.
            settledEnd = nil
            try storage.remove(FolderLayout.closed)
        }
        let open = OpenSegment(
            file: file,
            first: header.first,
            salt: header.salt,
            end: UInt64(bytes.count),
        )
        segment = open
        return open
    }

    /// Makes the spare file; leaves it missing when there is no room.
    private func prepareSpare() throws(LogError) {
        guard try storage.freeByteCount() >= UInt64(options.segmentByteCount) else { return }
        do throws(LogError) {
            let file = try storage.create(FolderLayout.spare)
            // Not synced: it is synced with its header, and a start makes a new one anyway.
            try file.preallocate(UInt64(options.segmentByteCount))
            spare = file
        } catch  where error.isOutOfSpace {
            try storage.remove(FolderLayout.spare)
        }
    }

    // MARK: - Failure

    private func checkRunning() throws(LogError) {
        if let failure { throw .stopped(by: failure) }
    }

    private func stoppingOnFailure(_ work: () throws(LogError) -> Void) throws(LogError) {
        do throws(LogError) {
            try work()
        } catch {
            failure = error
            throw error
        }
    }
}
