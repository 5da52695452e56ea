/// What an archive says of itself before its data.
package struct ArchiveHeader: Sendable, Equatable {
    /// Seeds the checksums of the chunks, as the id of a data folder does.
    package let id: UInt64
    /// When its state was taken, milliseconds since 1970 UTC.
    package let time: Int64
    /// The last record of the source's log whose effect it holds; at least 1.
    package let position: LogPosition

    /// Puts a header together.
    package init(id: UInt64, time: Int64, position: LogPosition) {
        precondition(position > .start, "an archive is of a position in a log")
        self.id = id
        self.time = time
        self.position = position
    }

    static let byteCount = 40
    static let version: UInt32 = 1
    static let magic = Array("HEARTHBK".utf8)

    /// The checksum of a chunk begins from it.
    var salt: UInt32 { checksumSalt(folderID: id, position: position) }
}

/// One file that holds a checkpoint: what `hearth backup` writes.
///
///     offset size
///      0     8   "HEARTHBK"
///      8     4   version, 1
///     12     4   CRC-32C of bytes 16..<40
///     16     8   id, random
///     24     8   time, milliseconds since 1970 UTC
///     32     8   position
///     40         chunks, as in the data file of a checkpoint of this id and position
///           16   a chunk without payload: the end of the chunks
///                the manifest of that checkpoint, which is the trailer
///
/// With an intact trailer at its very end the archive is whole. Written from start to end, read from
/// start to end; nothing in it has to be sought.
package struct ArchiveWriter: Sendable {
    private let header: ArchiveHeader
    private let heads: [LogHead]
    private var chunkCount: UInt64 = 0
    private var chunksByteCount: UInt64 = 0

    /// Begins an archive of databases whose last commits are `heads`.
    ///
    /// Throws: `tooManyDatabases`.
    package init(_ header: ArchiveHeader, heads: [LogHead]) throws(LogError) {
        guard heads.count <= LogLimits.databaseCount else {
            throw .tooManyDatabases(count: heads.count)
        }
        self.header = header
        self.heads = heads.sorted { $0.database < $1.database }
    }

    /// Appends the bytes before the chunks.
    package func appendHeader(to bytes: inout [UInt8]) {
        let buffer = ByteBuffer(capacity: ArchiveHeader.byteCount)
        buffer.append(ArchiveHeader.magic)
        buffer.append(ArchiveHeader.version)
        buffer.append(UInt32(0))
        buffer.append(header.id)
        buffer.append(header.time)
        buffer.append(header.position.value)
        buffer.store(CRC32C.update(0, buffer.bytes(from: 16)), at: 12)
        buffer.withBytes { bytes.append(contentsOf: $0) }
    }

    /// Appends a chunk of 1 to `LogLimits.chunkByteCount` bytes; the reader returns it unchanged.
    package mutating func append(_ payload: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        precondition(!payload.isEmpty, "a chunk without payload is the end")
        precondition(payload.count <= LogLimits.chunkByteCount, "a chunk has a greatest size")
        let buffer = chunk(payload)
        chunkCount += 1
        chunksByteCount += UInt64(buffer.count)
        buffer.withBytes { bytes.append(contentsOf: $0) }
    }

    /// Appends the bytes after the chunks.
    package func appendTrailer(to bytes: inout [UInt8]) {
        chunk([]).withBytes { bytes.append(contentsOf: $0) }
        let info = CheckpointInfo(
            position: header.position,
            heads: heads,
            chunkCount: chunkCount,
            byteCount: chunksByteCount,
        )
        let manifest = CheckpointManifest.encode(info, folderID: header.id)
        manifest.withBytes { bytes.append(contentsOf: $0) }
    }

    private func chunk(_ payload: ArraySlice<UInt8>) -> ByteBuffer {
        let buffer = ByteBuffer(capacity: CheckpointChunk.byteCount(payload: payload.count))
        payload.withUnsafeBytes {
            CheckpointChunk.append($0, index: chunkCount, salt: header.salt, to: buffer)
        }
        return buffer
    }
}

/// Why bytes are not a whole archive.
package enum ArchiveError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file does not begin as an archive does.
    case notAnArchive
    case unknownVersion(found: UInt32)
    /// The bytes at this offset differ from what was written.
    case damaged(offset: UInt64, what: String)
    /// The bytes end at this offset, and there should be more.
    case cutShort(offset: UInt64)
    /// Bytes after the trailer are not part of the archive.
    case trailingBytes(offset: UInt64)

    /// The clause for people, as it follows the name of the file.
    package var description: String {
        switch self {
        case .notAnArchive: "is no backup: it does not begin with HEARTHBK"
        case .unknownVersion(let found):
            "has format \(found); this version reads format \(ArchiveHeader.version) only"
        case .damaged(let offset, let what): "is damaged at byte \(offset): \(what)"
        case .cutShort(let offset): "is cut short: it ends at byte \(offset), without a trailer"
        case .trailingBytes(let offset): "is damaged at byte \(offset): bytes follow its trailer"
        }
    }
}
