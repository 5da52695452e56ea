/// What a record is for. Zero is not a kind, so that preallocated zeros never look like a record.
enum RecordKind: UInt8 {
    /// One commit of one database; takes the next position.
    case commit = 1
    /// All records before it are durable; it has no position and no payload. It ends a log that was
    /// closed or settled; until then the next batch overwrites it.
    case seal = 2
    /// Written by a salvage: positions up to this one are lost, and the database's next commit is
    /// the one after this record's. Takes the position of the last lost record.
    case skip = 3
}

/// The fixed part of a record.
///
///     offset size
///      0     4   CRC-32C of bytes 8..<48, started from the segment's salt
///      4     4   CRC-32C continued from the one above over bytes 48..<end, padding included
///      8     8   position
///     16     8   position known to be durable when this record was written
///     24     8   commit number within the database
///     32     8   server time, milliseconds since 1970 UTC, signed
///     40     4   payload byte count
///     44     1   kind
///     45     1   name byte count
///     46     2   zero
///     48     n   name of the database
///     48+n   m   payload
///            0-7 zeros up to a multiple of 8
///
/// Little-endian. Records begin at multiples of 8. The third number separates a torn tail from damage: with it, an
/// intact record behind a broken one proves whether the broken one was ever acknowledged.
struct RecordHeader: Equatable {
    static let byteCount = 48
    static let alignment = 8

    var kind: RecordKind
    var position: LogPosition
    var durableThrough: LogPosition
    var commit: UInt64
    var time: Int64
    var nameByteCount: Int
    var payloadByteCount: Int

    /// Bytes of the whole record, padding included.
    var recordByteCount: Int {
        Self.recordByteCount(name: nameByteCount, payload: payloadByteCount)
    }

    static func recordByteCount(name: Int, payload: Int) -> Int {
        let exact = byteCount + name + payload
        return (exact + alignment - 1) & ~(alignment - 1)
    }
}

/// Where every checksum of one segment or checkpoint starts: bound to the folder and the position,
/// so that a block of another file, or of an earlier life of this one, never checks out.
func checksumSalt(folderID: UInt64, position: LogPosition) -> UInt32 {
    withUnsafeBytes(of: (folderID.littleEndian, position.value.littleEndian)) {
        CRC32C.update(0, $0)
    }
}

enum RecordFormat {
    /// Appends one whole record.
    static func append(
        _ header: RecordHeader,
        name: [UInt8],
        payload: UnsafeRawBufferPointer,
        salt: UInt32,
        to buffer: ByteBuffer
    ) {
        precondition(header.nameByteCount == name.count, "the header counts the name")
        precondition(header.payloadByteCount == payload.count, "the header counts the payload")
        let start = buffer.count
        // In one step: growing only for the padding would copy a large payload.
        buffer.reserve(header.recordByteCount)
        appendFields(header, to: buffer)
        buffer.append(name)
        buffer.append(payload)
        buffer.appendZeros(start + header.recordByteCount - buffer.count)
        let record = buffer.bytes(from: start)
        let headerChecksum = headerChecksum(record, salt: salt)
        let checksum = bodyChecksum(record, headerChecksum: headerChecksum)
        buffer.store(headerChecksum, at: start)
        buffer.store(checksum, at: start + 4)
    }

    /// Appends the fixed part of a record whose rest follows later; returns its checksum, which the
    /// checksum of the rest continues.
    static func appendHeader(
        _ header: RecordHeader,
        salt: UInt32,
        to buffer: ByteBuffer
    ) -> UInt32 {
        let start = buffer.count
        appendFields(header, to: buffer)
        let checksum = headerChecksum(buffer.bytes(from: start), salt: salt)
        buffer.store(checksum, at: start)
        return checksum
    }

    /// Appends the fixed part with zeros for its checksums.
    private static func appendFields(_ header: RecordHeader, to buffer: ByteBuffer) {
        buffer.append(UInt64(0))
        buffer.append(header.position.value)
        buffer.append(header.durableThrough.value)
        buffer.append(header.commit)
        buffer.append(header.time)
        buffer.append(UInt32(header.payloadByteCount))
        buffer.append(header.kind.rawValue)
        buffer.append(UInt8(header.nameByteCount))
        buffer.append(UInt16(0))
    }

    /// What one look at 48 bytes says.
    enum HeaderReading: Equatable {
        /// The checksum does not fit.
        case broken
        /// The checksum fits, the content does not: another version, or a bug.
        case impossible
        case header(RecordHeader)
    }

    /// Reads the fixed part from the first 48 of `bytes`.
    static func readHeader(_ bytes: UnsafeRawBufferPointer, salt: UInt32) -> HeaderReading {
        precondition(bytes.count >= RecordHeader.byteCount, "a header has 48 bytes")
        guard bytes.integer(UInt32.self, at: 0) == headerChecksum(bytes, salt: salt) else {
            return .broken
        }
        guard let kind = RecordKind(rawValue: bytes[44]) else { return .impossible }
        let header = RecordHeader(
            kind: kind,
            position: LogPosition(bytes.integer(UInt64.self, at: 8)),
            durableThrough: LogPosition(bytes.integer(UInt64.self, at: 16)),
            commit: bytes.integer(UInt64.self, at: 24),
            time: bytes.integer(Int64.self, at: 32),
            nameByteCount: Int(bytes[45]),
            payloadByteCount: Int(bytes.integer(UInt32.self, at: 40)),
        )
        guard bytes.integer(UInt16.self, at: 46) == 0 else { return .impossible }
        guard header.payloadByteCount <= LogLimits.payloadByteCount else { return .impossible }
        guard header.position.value < UInt64.max else { return .impossible }
        let names = kind == .seal ? 0...0 : 1...LogLimits.databaseNameByteCount
        guard names.contains(header.nameByteCount) else { return .impossible }
        guard kind == .commit || header.payloadByteCount == 0 else { return .impossible }
        guard kind != .commit || header.commit > 0 else { return .impossible }
        guard header.commit <= UInt64(Int64.max) else { return .impossible }
        guard kind != .commit || header.position > .start else { return .impossible }
        return .header(header)
    }

    /// Whether the rest of a whole record matches its checksum.
    static func isBodyIntact(_ record: UnsafeRawBufferPointer) -> Bool {
        let headerChecksum = record.integer(UInt32.self, at: 0)
        let found = bodyChecksum(record, headerChecksum: headerChecksum)
        return found == record.integer(UInt32.self, at: 4)
    }

    private static func headerChecksum(_ record: UnsafeRawBufferPointer, salt: UInt32) -> UInt32 {
        let fields = UnsafeRawBufferPointer(rebasing: record[8..<RecordHeader.byteCount])
        return CRC32C.update(salt, fields)
    }

    private static func bodyChecksum(
        _ record: UnsafeRawBufferPointer,
        headerChecksum: UInt32
    ) -> UInt32 {
        let body = UnsafeRawBufferPointer(rebasing: record[RecordHeader.byteCount...])
        return CRC32C.update(headerChecksum, body)
    }
}

/// The first 64 bytes of a segment.
///
///     offset size
///      0     8   "HEARTHWL"
///      8     4   version, 1
///     12     4   byte count of this header, 64
///     16     8   id of the data folder
///     24     8   position of the first record
///     32     8   bytes of the file before its first record; zero in segments of older servers
///     40    20   zero
///     60     4   CRC-32C of bytes 0..<60
///
/// The file is that long durably before it has its name, and is cut to its length only when its end is proven
/// otherwise: by a seal, by `log/closed` or by a later segment. A last segment that is shorter than that without such a
/// proof has lost its end.
///
/// Any later version keeps the checksum at its offset, so that an old reader can distinguish a newer
/// file from a damaged one.
struct SegmentHeader: Equatable {
    static let byteCount = 64
    static let version: UInt32 = 1
    private static let magic = Array("HEARTHWL".utf8)

    var folderID: UInt64
    var first: LogPosition
    /// Bytes of the file before its first record; 0 when an older server made it.
    var preallocatedByteCount: UInt64 = 0

    var salt: UInt32 { checksumSalt(folderID: folderID, position: first) }

    func append(to buffer: ByteBuffer) {
        let start = buffer.count
        buffer.append(Self.magic)
        buffer.append(Self.version)
        buffer.append(UInt32(Self.byteCount))
        buffer.append(folderID)
        buffer.append(first.value)
        buffer.append(preallocatedByteCount)
        buffer.appendZeros(20)
        buffer.append(CRC32C.update(0, buffer.bytes(from: start)))
    }

    /// Reads a header.
    ///
    /// Returns nil when it is damaged. Throws: `unknownFormat` for an intact one of another version.
    static func read(_ bytes: UnsafeRawBufferPointer, file: String) throws(LogError)
        -> SegmentHeader?
    {
        guard bytes.count >= byteCount, bytes.starts(with: magic) else { return nil }
        let fields = UnsafeRawBufferPointer(rebasing: bytes[..<60])
        guard bytes.integer(UInt32.self, at: 60) == CRC32C.update(0, fields) else { return nil }
        let found = bytes.integer(UInt32.self, at: 8)
        guard found == version else {
            throw .unknownFormat(file: file, found: found, known: version)
        }
        return SegmentHeader(
            folderID: bytes.integer(UInt64.self, at: 16),
            first: LogPosition(bytes.integer(UInt64.self, at: 24)),
            preallocatedByteCount: bytes.integer(UInt64.self, at: 32),
        )
    }
}
