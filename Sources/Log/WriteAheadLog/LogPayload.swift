/// What a commit changes, on its way into the log.
package enum LogPayload: Sendable {
    /// It lies in memory.
    case bytes([UInt8])
    /// It is so large that it is made while it is written.
    case pieces(any PayloadPieces)

    /// Bytes of the payload.
    package var byteCount: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .pieces(let pieces): pieces.byteCount
        }
    }
}

/// A payload that is made piece by piece and never lies in memory as a whole.
///
/// A value: a copy makes the same pieces again.
package protocol PayloadPieces: Sendable {
    /// Bytes of all pieces together, known before the first is made.
    var byteCount: Int { get }

    /// Appends the next piece; returns whether there is more.
    mutating func next(into piece: inout [UInt8]) -> Bool
}

/// One record whose payload is made in pieces.
///
/// The bytes in the file are those of `RecordFormat.append`. Name and payload are written first, each piece as it is
/// made, and the fixed part with the checksums last, so that one pass makes, sums up and writes them. Until then the
/// record's start holds zeros or a seal, with data behind them: after a power cut a start finds a torn record, as after
/// any write that the disk did in that order. Memory: one piece.
struct RecordInPieces {
    let header: RecordHeader
    let name: [UInt8]
    let salt: UInt32

    /// Writes the record at an offset; nothing is synced.
    ///
    /// Throws: `disk`, after which any part of the record may have been written.
    func write(
        _ pieces: any PayloadPieces,
        to file: any LogFile,
        at start: UInt64
    ) throws(LogError) {
        let fixed = ByteBuffer(capacity: RecordHeader.byteCount)
        var checksum = RecordFormat.appendHeader(header, salt: salt, to: fixed)
        let end = start + UInt64(header.recordByteCount)
        var offset = start + UInt64(RecordHeader.byteCount)
        let payloadEnd = offset + UInt64(name.count + header.payloadByteCount)
        var pieces = pieces
        var piece = name
        var hasMore = true
        while hasMore {
            hasMore = pieces.next(into: &piece)
            let pieceEnd = offset + UInt64(piece.count)
            precondition(
                hasMore ? pieceEnd <= payloadEnd : pieceEnd == payloadEnd,
                "the pieces are as long as they say"
            )
            if !hasMore { piece.append(contentsOf: repeatElement(0, count: Int(end - pieceEnd))) }
            checksum = try piece.withUnsafeBufferPointer { bytes throws(LogError) in
                try file.write(UnsafeRawBufferPointer(bytes), at: offset)
                return CRC32C.update(checksum, UnsafeRawBufferPointer(bytes))
            }
            offset += UInt64(piece.count)
            piece.removeAll(keepingCapacity: true)
        }
        fixed.store(checksum, at: 4)
        try fixed.withBytes { bytes throws(LogError) in try file.write(bytes, at: start) }
    }
}
