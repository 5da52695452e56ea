/// What a checkpoint covers.
package struct CheckpointInfo: Sendable, Equatable {
    /// The last record whose effect it holds.
    package let position: LogPosition
    /// The last commit of every database at that position, by name.
    package let heads: [LogHead]
    /// Chunks that its writer was given.
    package let chunkCount: UInt64
    /// Bytes of its data file.
    package let byteCount: UInt64
}

/// The manifest of a checkpoint, written last: with it the checkpoint is whole.
///
///     offset size
///      0     8   "HEARTHCK"
///      8     4   version, 1
///     12     4   byte count of the manifest
///     16     8   id of the data folder
///     24     8   position
///     32     8   chunk count
///     40     8   byte count of `data`
///     48     4   database count
///     52     4   zero
///     56         per database, by name: 8 commit, 1 name byte count, name
///     end-4  4   CRC-32C of everything before
enum CheckpointManifest {
    static let version: UInt32 = 1
    private static let magic = Array("HEARTHCK".utf8)
    private static let fixedByteCount = 56

    static func encode(_ info: CheckpointInfo, folderID: UInt64) -> ByteBuffer {
        let buffer = ByteBuffer()
        buffer.append(magic)
        buffer.append(version)
        buffer.append(UInt32(0))
        buffer.append(folderID)
        buffer.append(info.position.value)
        buffer.append(info.chunkCount)
        buffer.append(info.byteCount)
        buffer.append(UInt32(info.heads.count))
        buffer.append(UInt32(0))
        for head in info.heads {
            buffer.append(head.commit)
            buffer.append(UInt8(head.database.utf8.count))
            buffer.append(head.database.utf8)
        }
        buffer.store(UInt32(buffer.count + 4), at: 12)
        buffer.append(CRC32C.update(0, buffer.bytes))
        return buffer
    }

    /// Reads a manifest.
    ///
    /// Throws: `damage`, or `unknownFormat` for an intact manifest of another version.
    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        file: String,
        folderID: UInt64,
        position: LogPosition
    ) throws(LogError) -> CheckpointInfo {
        let unreadable = LogError.damage(LogDamage(file: file, offset: 0, fault: .unreadableHeader))
        guard bytes.count >= fixedByteCount + 4, bytes.starts(with: magic) else { throw unreadable }
        let body = UnsafeRawBufferPointer(rebasing: bytes.dropLast(4))
        guard bytes.integer(UInt32.self, at: body.count) == CRC32C.update(0, body) else {
            throw unreadable
        }
        let found = bytes.integer(UInt32.self, at: 8)
        guard found == version else {
            throw .unknownFormat(file: file, found: found, known: version)
        }
        guard bytes.integer(UInt32.self, at: 12) == bytes.count else { throw unreadable }
        guard bytes.integer(UInt64.self, at: 16) == folderID,
            bytes.integer(UInt64.self, at: 24) == position.value
        else { throw .damage(LogDamage(file: file, offset: 0, fault: .foreign)) }
        let count = Int(bytes.integer(UInt32.self, at: 48))
        guard let heads = try decodeHeads(body, count: count) else { throw unreadable }
        return CheckpointInfo(
            position: position,
            heads: heads,
            chunkCount: bytes.integer(UInt64.self, at: 32),
            byteCount: bytes.integer(UInt64.self, at: 40),
        )
    }

    /// The table of databases, which must fill the body exactly; nil when it does not.
    private static func decodeHeads(
        _ body: UnsafeRawBufferPointer,
        count: Int
    ) throws(LogError) -> [LogHead]? {
        var offset = fixedByteCount
        var heads: [LogHead] = []
        for _ in 0..<count {
            guard offset + 9 <= body.count else { return nil }
            let commit = body.integer(UInt64.self, at: offset)
            let end = offset + 9 + Int(body[offset + 8])
            guard end <= body.count, commit <= UInt64(Int64.max) else { return nil }
            let name = try LogDatabaseName(utf8: Array(body[offset + 9..<end]))
            heads.append(LogHead(database: name, commit: commit))
            offset = end
        }
        return offset == body.count ? heads : nil
    }
}

/// The data file of a checkpoint: chunks one after the other.
///
///     offset size
///      0     4   CRC-32C of bytes 4..<end, padding included, started from the checkpoint's salt
///      4     4   payload byte count
///      8     8   number of the chunk, from 0
///     16     n   payload
///            0-7 zeros up to a multiple of 8
enum CheckpointChunk {
    static let headerByteCount = 16
    /// First bytes of a chunk, which decide whether it is needed.
    static let peekByteCount = 4

    static func byteCount(payload: Int) -> Int { (headerByteCount + payload + 7) & ~7 }

    static func append(
        _ payload: UnsafeRawBufferPointer,
        index: UInt64,
        salt: UInt32,
        to buffer: ByteBuffer
    ) {
        let start = buffer.count
        buffer.append(UInt32(0))
        buffer.append(UInt32(payload.count))
        buffer.append(index)
        buffer.append(payload)
        buffer.appendZeros(start + byteCount(payload: payload.count) - buffer.count)
        let rest = UnsafeRawBufferPointer(rebasing: buffer.bytes(from: start)[4...])
        buffer.store(CRC32C.update(salt, rest), at: start)
    }
}

/// Says of the chunk that is next, by its first bytes, at most `CheckpointChunk.peekByteCount`, and its
/// byte count, whether a reader needs it.
package typealias ChunkFilter = (UnsafeRawBufferPointer, Int) -> Bool

/// Gives the chunks of one finished checkpoint back, in order, holding one in memory.
struct CheckpointReader {
    /// What the manifest says.
    let info: CheckpointInfo
    private let folder: LogFolder
    private let path: String
    private let salt: UInt32

    /// Reads the manifest; `suffix` ends the name of the checkpoint's folder.
    ///
    /// Throws: `damage` when it is missing or broken.
    init(_ folder: LogFolder, _ position: LogPosition, suffix: String = "") throws(LogError) {
        path = FolderLayout.checkpoint(position, suffix)
        let name = FolderLayout.manifest(in: path)
        guard let file = try folder.storage.open(name) else {
            throw .damage(LogDamage(file: name, offset: 0, fault: .missing))
        }
        let window = try WindowReader(file, chunk: folder.readByteCount)
        defer { window.close() }
        let limit = UInt64(LogLimits.manifestByteCount)
        let bytes = try window.bytes(at: 0, count: Int(min(window.byteCount, limit)))
        info = try CheckpointManifest.decode(
            bytes,
            file: name,
            folderID: folder.id,
            position: position,
        )
        self.folder = folder
        salt = checksumSalt(folderID: folder.id, position: position)
    }

    /// Passes the checkpoint to a reader of its content: all of it, or the chunks that `needs` selects.
    ///
    /// Throws: `refused`, with the position of the chunk that the reader refuses; `damage`; `disk`.
    func give(to reader: RecoveryReader, needs: ChunkFilter? = nil) throws(LogError) {
        let file = FolderLayout.data(in: path)
        try RecoveryStep.checkpointBegan(info).give(to: reader, file, 0)
        try readChunks(needs: needs) { chunk, offset throws(LogError) in
            try RecoveryStep.chunk(chunk).give(to: reader, file, offset)
        }
        try RecoveryStep.checkpointEnded.give(to: reader, file, info.byteCount)
    }

    /// Calls `body` with every chunk and its offset in the file, each checked before. Chunks that `needs` does not
    /// select are neither read nor checked.
    ///
    /// Throws: `damage` at the first chunk that is not what was written; chunks given before stay
    /// right, but the checkpoint as a whole must not be used.
    func readChunks(
        needs: ChunkFilter? = nil,
        _ body: (UnsafeBufferPointer<UInt8>, _ offset: UInt64) throws(LogError) -> Void
    ) throws(LogError) {
        let name = FolderLayout.data(in: path)
        guard let file = try folder.storage.open(name) else {
            throw .damage(LogDamage(file: name, offset: 0, fault: .missing))
        }
        // Reading ahead would read skipped chunks.
        let window = try WindowReader(file, chunk: needs == nil ? folder.readByteCount : 64)
        defer { window.close() }
        var offset: UInt64 = 0
        for index in 0..<info.chunkCount {
            let (payload, byteCount) = try chunk(index, at: offset, window, name, needs)
            if let payload { try body(payload.bindMemory(to: UInt8.self), offset) }
            offset += UInt64(byteCount)
        }
        guard offset == info.byteCount, offset == window.byteCount else {
            throw .damage(LogDamage(file: name, offset: offset, fault: .trailingBytes))
        }
    }

    /// The payload of a chunk, nil where it is not needed, and the bytes that the chunk takes.
    private func chunk(
        _ index: UInt64,
        at offset: UInt64,
        _ window: WindowReader,
        _ name: String,
        _ needs: ChunkFilter?
    ) throws(LogError) -> (payload: UnsafeRawBufferPointer?, byteCount: Int) {
        let damage = LogError.damage(
            LogDamage(file: name, offset: offset, fault: .chunk(index: index))
        )
        let start = CheckpointChunk.headerByteCount
        let peek = try window.bytes(at: offset, count: start + CheckpointChunk.peekByteCount)
        guard peek.count >= start else { throw damage }
        let payloadByteCount = Int(peek.integer(UInt32.self, at: 4))
        guard payloadByteCount <= LogLimits.chunkByteCount,
            peek.integer(UInt64.self, at: 8) == index
        else { throw damage }
        let wanted = CheckpointChunk.byteCount(payload: payloadByteCount)
        let first = UnsafeRawBufferPointer(rebasing: peek[start...].prefix(payloadByteCount))
        if let needs, !needs(first, payloadByteCount) { return (nil, wanted) }
        let whole = try window.bytes(at: offset, count: wanted)
        guard whole.count == wanted else { throw damage }
        let checked = UnsafeRawBufferPointer(rebasing: whole[4...])
        guard whole.integer(UInt32.self, at: 0) == CRC32C.update(salt, checked) else {
            throw damage
        }
        let payload = whole[start..<start + payloadByteCount]
        return (UnsafeRawBufferPointer(rebasing: payload), wanted)
    }
}
