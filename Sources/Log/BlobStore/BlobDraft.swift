import FileProtocol
import WriteAheadLog

/// The bytes of an upload while they come, in `files/uploads/ID.part`.
///
///     append ──► sync ──► append ──► seal ──► Blobs.adopt
///        └─► cut ──┘
///
/// A sealed file may be a blob too, so it is never written again: an append or cut after `seal` goes on with a copy.
/// After a failure the draft is as it was before the call, unless a sync failed: then the whole store has stopped.
///
/// Every call blocks: call it on a worker. `@unchecked Sendable`: the request of the upload that runs owns it, and there
/// is one at a time.
package final class BlobDraft: @unchecked Sendable {
    package let id: UploadID
    /// Bytes that it has.
    package var byteCount: Int64 { sums.byteCount }
    /// The sums of all its bytes, once they are durable and nothing was appended since.
    package private(set) var sealed: BlobSums?

    private let storage: any BlobStorage
    private let gate: WriteGate
    private var file: (any LogFile)?
    private var sums = RunningSums()
    /// The sums at the last sync and at the last whole unit: where uploads are cut to.
    private var marks: (synced: RunningSums?, unit: RunningSums?)
    /// Whether the file may have bytes behind those that count.
    private var isRagged = false
    /// Whether the file may be read-only, and a blob: then it is never written again.
    private var mayBeProtected = false

    /// A draft whose file is new, or is opened when it is needed.
    init(_ id: UploadID, _ storage: any BlobStorage, _ gate: WriteGate, _ file: (any LogFile)?) {
        self.id = id
        self.storage = storage
        self.gate = gate
        self.file = file
    }

    var path: String { UploadFolder.bytes(id) }

    private var draftPath: String { path + UploadFolder.draftSuffix }

    // MARK: - Writing

    /// Appends bytes. They are durable after `sync` or `seal`.
    ///
    /// - Throws: `disk`, `stopped`, `missing` when its file is gone.
    package func append(_ bytes: ArraySlice<UInt8>) throws(BlobError) {
        try prepareToWrite()
        let file = try opened()
        try bytes.withUnsafeBufferPointer { bytes throws(BlobError) in
            let bytes = UnsafeRawBufferPointer(bytes)
            isRagged = true
            try gate.run { () throws(LogError) in
                try file.write(bytes, at: UInt64(byteCount))
            }
            isRagged = false
            let begin = byteCount - byteCount % BlobLimits.writingByteCount
            count(bytes)
            let end = byteCount - byteCount % BlobLimits.writingByteCount
            if end > begin { file.beginWriting(UInt64(begin)..<UInt64(end)) }
        }
    }

    /// Adds what is written to the sums, and keeps those at the last whole unit.
    private func count(_ bytes: UnsafeRawBufferPointer) {
        let unit = FileProtocolLimits.granularity
        let end = byteCount + Int64(bytes.count)
        let lastUnit = end - end % unit
        guard lastUnit > byteCount else { return sums.append(bytes) }
        let head = Int(lastUnit - byteCount)
        sums.append(UnsafeRawBufferPointer(rebasing: bytes[..<head]))
        marks.unit = sums.copy()
        sums.append(UnsafeRawBufferPointer(rebasing: bytes[head...]))
    }

    /// Forgets all bytes behind the first `count`. Costs nothing at the last sync and at the last whole unit of 262,144
    /// bytes; elsewhere it reads the bytes before again.
    ///
    /// - Throws: `disk`, `stopped`, `missing`, `cutShort`.
    package func cut(to count: Int64) throws(BlobError) {
        precondition((0...byteCount).contains(count), "a cut makes a draft shorter")
        if count == byteCount { return }
        if mayBeProtected { return try copy(count) }
        if count == 0 {
            sums = RunningSums()
        } else if let mark = [marks.synced, marks.unit].first(where: { $0?.byteCount == count }),
            let mark
        {
            sums = mark.copy()
        } else {
            sums = try sumsOfFile(count)
        }
        if let synced = marks.synced, synced.byteCount > count { marks.synced = nil }
        if let unit = marks.unit, unit.byteCount > count { marks.unit = nil }
        isRagged = true
        try prepareToWrite()
    }

    /// Makes all bytes so far durable; the name of the file is once `UploadFolder.store` has run.
    ///
    /// - Throws: `disk`, `stopped`, `missing`.
    package func sync() throws(BlobError) {
        if sealed != nil { return }
        try prepareToWrite()
        let file = try opened()
        try gate.run { () throws(LogError) in try file.sync() }
        marks.synced = sums.copy()
    }

    /// Makes all bytes durable and the file read-only, and gives the sums. A second call gives them again.
    ///
    /// - Throws: `disk`, `stopped`, `missing`.
    package func seal() throws(BlobError) -> BlobSums {
        if let sealed { return sealed }
        try sync()
        mayBeProtected = true
        try gate.run { () throws(LogError) in try storage.protect(path) }
        let sums = sums.sums
        sealed = sums
        return sums
    }

    /// Gives the descriptor back until the next call, as an upload that waits for its client should.
    package func rest() {
        file?.close()
        file = nil
    }

    // MARK: - Reading

    /// Reads bytes from `offset` on: `count` of them, fewer at the end.
    ///
    /// - Throws: `disk`, `missing`.
    package func read(at offset: Int64, count: Int) throws(BlobError) -> [UInt8] {
        let file = try opened()
        let end = min(Int64(count), byteCount - offset)
        return try reading { () throws(LogError) in
            try file.piece(at: offset, count: max(0, Int(end)))
        }
    }

    // MARK: - After a restart

    /// Takes the first `count` bytes of the file, which were durable, and cuts off all others.
    func restore(_ count: Int64) throws(BlobError) {
        let found = try reading { () throws(LogError) in try storage.status(path) }
        guard let found else { throw .missing(path: storage.shown(path)) }
        guard found.kind == .file else { throw .notAFile(path: storage.shown(path)) }
        if found.isProtected { return try copy(count) }
        sums = try sumsOfFile(count)
        marks.synced = sums.copy()
        isRagged = found.byteCount > count
        try prepareToWrite()
    }

    // MARK: - The file

    private func opened() throws(BlobError) -> any LogFile {
        if let file { return file }
        let isSealed = sealed != nil
        let found = try reading { () throws(LogError) in
            isSealed ? try storage.openToRead(path) : try storage.open(path)
        }
        guard let found else { throw .missing(path: storage.shown(path)) }
        file = found
        return found
    }

    /// Makes the file writable, and as long as its bytes.
    private func prepareToWrite() throws(BlobError) {
        if mayBeProtected { try copy(byteCount) }
        guard isRagged else { return }
        let file = try opened()
        try gate.run { () throws(LogError) in try file.truncate(to: UInt64(byteCount)) }
        isRagged = false
    }

    /// Goes on with a new file that has the first `count` bytes. Until a sync of the folder, which `UploadFolder.store`
    /// makes, a power cut may bring the old one back: it has these bytes too.
    private func copy(_ count: Int64) throws(BlobError) {
        rest()
        guard let old = try reading({ () throws(LogError) in try storage.openToRead(path) }) else {
            throw .missing(path: storage.shown(path))
        }
        defer { old.close() }
        try gate.run { () throws(LogError) in try storage.remove(draftPath) }
        let new = try gate.run { () throws(LogError) in try storage.createNew(draftPath) }
        let copied = RunningSums()
        try pass(count, of: old) { bytes throws(BlobError) in
            try gate.run { () throws(LogError) in
                try new.write(bytes, at: UInt64(copied.byteCount))
            }
            copied.append(bytes)
        }
        try gate.run { () throws(LogError) in
            try new.sync()
            try storage.rename(draftPath, to: path)
            new.isRenamed(to: path)
        }
        (file, sums, sealed) = (new, copied, nil)
        (isRagged, mayBeProtected) = (false, false)
        marks = (synced: copied.copy(), unit: nil)
    }

    private func sumsOfFile(_ count: Int64) throws(BlobError) -> RunningSums {
        let sums = RunningSums()
        try pass(count, of: try opened()) { sums.append($0) }
        return sums
    }

    /// Gives the first `count` bytes of a file in pieces.
    private func pass(
        _ count: Int64,
        of file: any LogFile,
        to take: (UnsafeRawBufferPointer) throws(BlobError) -> Void
    ) throws(BlobError) {
        var offset: Int64 = 0
        while offset < count {
            let piece = try reading { () throws(LogError) in
                let wanted = min(Int64(BlobLimits.pieceByteCount), count - offset)
                return try file.piece(at: offset, count: Int(wanted))
            }
            guard !piece.isEmpty else {
                throw .cutShort(path: storage.shown(path), byteCount: offset, expected: count)
            }
            try piece.withUnsafeBufferPointer { bytes throws(BlobError) in
                try take(UnsafeRawBufferPointer(bytes))
            }
            offset += Int64(piece.count)
        }
    }
}
