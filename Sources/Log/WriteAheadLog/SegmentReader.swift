/// A window over a file that moves forward with its reader.
///
/// Memory: `chunk` bytes, or the longest single request. Pointers are valid until the next call, at
/// most until `close`, which every owner calls by `defer`: that also keeps the reader alive.
final class WindowReader {
    /// Bytes of the file when it was opened.
    let byteCount: UInt64
    private let file: any LogFile
    private let chunk: Int
    private let buffer = ByteBuffer(capacity: 64)
    private var start: UInt64 = 0

    init(_ file: any LogFile, chunk: Int) throws(LogError) {
        self.file = file
        self.chunk = chunk
        byteCount = try file.byteCount()
    }

    func close() {
        file.close()
    }

    /// `count` bytes at an offset, fewer only where the file ends.
    func bytes(at offset: UInt64, count: Int) throws(LogError) -> UnsafeRawBufferPointer {
        let end = min(byteCount, offset + UInt64(count))
        guard offset < end else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        if offset < start || end > start + UInt64(buffer.count) {
            let wanted = min(byteCount - offset, UInt64(max(count, chunk)))
            let room = buffer.resize(to: Int(wanted))
            start = offset
            let found = try file.read(into: room, at: offset)
            _ = buffer.resize(to: found)
        }
        let available = buffer.bytes(from: Int(offset - start))
        return UnsafeRawBufferPointer(rebasing: available.prefix(Int(end - offset)))
    }
}

/// One whole, intact record in a segment. The pointers are valid until the reader's next call.
struct RecordView {
    let header: RecordHeader
    let offset: UInt64
    let name: UnsafeRawBufferPointer
    let payload: UnsafeRawBufferPointer

    var end: UInt64 { offset + UInt64(header.recordByteCount) }
}

/// Reads the records of one segment.
final class SegmentReader {
    /// The content at an offset.
    enum Item {
        case record(RecordView)
        /// The file ends here, or has zeros instead of a header.
        case nothing
        case broken(LogDamage.Fault)
    }

    /// What follows an offset without an intact record.
    enum Rest {
        /// Zeros, or nothing: the segment was written up to here.
        case empty
        /// Bytes of the last batch, which nothing proves durable. The count is up to the last byte that is not zero.
        case torn(byteCount: UInt64)
        /// The record expected here was durable once. `next` is where an intact record follows.
        case damaged(next: UInt64?)
    }

    let window: WindowReader
    private let salt: UInt32

    init(window: WindowReader, salt: UInt32) {
        self.window = window
        self.salt = salt
    }

    /// Reads the content at an offset, where the record `expected` belongs.
    func read(at offset: UInt64, expected: LogPosition) throws(LogError) -> Item {
        let start = try window.bytes(at: offset, count: RecordHeader.byteCount)
        if start.isAllZero { return .nothing }
        guard start.count == RecordHeader.byteCount else {
            return .broken(.recordHeader(expected: expected))
        }
        let header: RecordHeader
        switch RecordFormat.readHeader(start, salt: salt) {
        case .broken: return .broken(.recordHeader(expected: expected))
        case .impossible: return .broken(.impossibleRecord(expected: expected))
        case .header(let found): header = found
        }
        let record = try window.bytes(at: offset, count: header.recordByteCount)
        guard record.count == header.recordByteCount else {
            return .broken(.recordCutShort(position: header.position))
        }
        guard RecordFormat.isBodyIntact(record) else {
            return .broken(.recordBody(position: header.position, commit: header.commit))
        }
        let nameEnd = RecordHeader.byteCount + header.nameByteCount
        return .record(
            RecordView(
                header: header,
                offset: offset,
                name: UnsafeRawBufferPointer(rebasing: record[RecordHeader.byteCount..<nameEnd]),
                payload: UnsafeRawBufferPointer(
                    rebasing: record[nameEnd..<nameEnd + header.payloadByteCount]
                ),
            )
        )
    }

    /// Decides what follows an offset without the record `expected`, by looking for intact records
    /// at every multiple of 8 up to the end of the file.
    ///
    /// Where a write may be torn, in the last segment of a log that was not closed, the record was durable exactly if a
    /// later intact one was written after a sync that covered it. Every other segment was synced whole. Cost: one look
    /// at each 8 bytes; a record's checksums are computed only where its fixed bytes make sense.
    func examine(
        from offset: UInt64,
        expected: LogPosition,
        mayBeTorn: Bool
    ) throws(LogError) -> Rest {
        var candidate = offset
        var next: UInt64?
        var usedEnd = offset
        while candidate < window.byteCount {
            let bytes = try window.bytes(at: candidate, count: RecordHeader.byteCount)
            guard !bytes.isEmpty else { break }
            if bytes.count < 8 || bytes.integer(UInt64.self, at: 0) != 0 {
                if !bytes.prefix(8).allSatisfy({ $0 == 0 }) { usedEnd = candidate + 8 }
            }
            if candidate > offset, Self.mayBeHeader(bytes),
                case .record(let view) = try read(at: candidate, expected: expected)
            {
                next = next ?? candidate
                if !mayBeTorn || view.header.durableThrough >= expected {
                    return .damaged(next: next)
                }
                candidate = view.end
                usedEnd = candidate
            } else {
                candidate += UInt64(RecordHeader.alignment)
            }
        }
        if usedEnd == offset { return .empty }
        if !mayBeTorn { return .damaged(next: nil) }
        return .torn(byteCount: min(usedEnd, window.byteCount) - offset)
    }

    /// An intact record that stands anywhere in the segment.
    struct Found {
        let offset: UInt64
        /// Its position; of a seal or a skip, the one of the next record.
        let position: LogPosition
        let durableThrough: LogPosition
    }

    /// Finds all intact records, at every multiple of 8, in the order in which they stand. Memory: 24 bytes for each.
    func findAll() throws(LogError) -> [Found] {
        var found: [Found] = []
        var offset = UInt64(SegmentHeader.byteCount)
        while offset < window.byteCount {
            let bytes = try window.bytes(at: offset, count: RecordHeader.byteCount)
            if Self.mayBeHeader(bytes),
                case .record(let view) = try read(at: offset, expected: .start)
            {
                let header = view.header
                found.append(
                    Found(
                        offset: offset,
                        position: header.kind == .commit ? header.position : header.position.next,
                        durableThrough: header.durableThrough,
                    )
                )
                offset = view.end
            } else {
                offset += UInt64(RecordHeader.alignment)
            }
        }
        return found
    }

    private static func mayBeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == RecordHeader.byteCount else { return false }
        return bytes[44] != 0 && bytes[44] <= RecordKind.skip.rawValue
            && bytes.integer(UInt16.self, at: 46) == 0
    }
}
