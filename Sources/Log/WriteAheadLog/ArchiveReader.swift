/// Reads an archive in pieces of any size, from start to end, and checks every byte of it.
///
/// Memory: one chunk, or the trailer.
package struct ArchiveReader {
    /// The parts of an archive, in this order: `header`, `chunk`..., `trailer`.
    package enum Event: Equatable {
        case header(ArchiveHeader)
        /// As written.
        case chunk([UInt8])
        /// Everything before was intact.
        case trailer(CheckpointInfo)
    }

    private enum State {
        case header
        case chunks(ArchiveHeader)
        case trailer(ArchiveHeader)
        case end
    }

    /// Bytes of the archive that were fed and consumed.
    package private(set) var offset: UInt64 = 0
    private var state = State.header
    private var pending: [UInt8] = []
    /// Consumed bytes of `pending`.
    private var start = 0
    private var chunkCount: UInt64 = 0
    private var chunksByteCount: UInt64 = 0

    /// Begins at the start of an archive.
    package init() {}

    /// Takes the next bytes and passes complete parts to `body`.
    package mutating func feed<Failure: Error>(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (Event) throws(Failure) -> Void
    ) throws(Failure) -> ArchiveError? {
        pending.append(contentsOf: bytes)
        while true {
            let event: Event?
            do throws(ArchiveError) { event = try next() } catch { return error }
            guard let event else { break }
            try body(event)
        }
        pending.removeFirst(start)
        start = 0
        return nil
    }

    /// What is wrong when there are no more bytes; nil for a whole archive.
    package func finish() -> ArchiveError? {
        switch state {
        case .end: nil
        case .header where !ArchiveHeader.magic.starts(with: pending.prefix(8)) || pending.isEmpty:
            .notAnArchive
        case .header, .chunks, .trailer: .cutShort(offset: offset + UInt64(pending.count))
        }
    }

    private var left: Int { pending.count - start }

    private mutating func next() throws(ArchiveError) -> Event? {
        switch state {
        case .header: return try nextHeader()
        case .chunks(let header):
            while case .chunks = state, try isChunkThere() {
                if let payload = try nextChunk(header) { return .chunk(payload) }
            }
            guard case .trailer = state else { return nil }
            return try nextTrailer(header)
        case .trailer(let header): return try nextTrailer(header)
        case .end:
            if left > 0 { throw .trailingBytes(offset: offset) }
            return nil
        }
    }

    private mutating func advance(_ count: Int) {
        start += count
        offset += UInt64(count)
    }

    /// Passes the next `count` bytes, which must be there.
    private func withNext<Result>(
        _ count: Int,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        pending[start..<start + count].withUnsafeBytes(body)
    }

    private mutating func nextHeader() throws(ArchiveError) -> Event? {
        let magic = ArchiveHeader.magic
        guard pending.prefix(magic.count).elementsEqual(magic.prefix(pending.count)) else {
            throw .notAnArchive
        }
        guard left >= ArchiveHeader.byteCount else { return nil }
        let (version, isIntact, header) = withNext(ArchiveHeader.byteCount) { bytes in
            (
                bytes.integer(UInt32.self, at: 8),
                bytes.integer(UInt32.self, at: 12)
                    == CRC32C.update(0, UnsafeRawBufferPointer(rebasing: bytes[16...])),
                (
                    id: bytes.integer(UInt64.self, at: 16),
                    time: bytes.integer(Int64.self, at: 24),
                    position: LogPosition(bytes.integer(UInt64.self, at: 32))
                )
            )
        }
        guard version == ArchiveHeader.version else { throw .unknownVersion(found: version) }
        guard isIntact, header.position > .start else {
            throw .damaged(offset: 0, what: "the header does not match its checksum")
        }
        let found = ArchiveHeader(id: header.id, time: header.time, position: header.position)
        state = .chunks(found)
        advance(ArchiveHeader.byteCount)
        return .header(found)
    }

    /// The byte count that a chunk's header, which must be there, says for its payload.
    private func nextPayloadByteCount() throws(ArchiveError) -> Int {
        let count = withNext(CheckpointChunk.headerByteCount) { $0.integer(UInt32.self, at: 4) }
        guard count <= LogLimits.chunkByteCount else {
            throw .damaged(offset: offset, what: "chunk \(chunkCount) has an impossible length")
        }
        return Int(count)
    }

    private func isChunkThere() throws(ArchiveError) -> Bool {
        guard left >= CheckpointChunk.headerByteCount else { return false }
        return left >= CheckpointChunk.byteCount(payload: try nextPayloadByteCount())
    }

    /// The payload of a whole chunk; nil for the one that ends the chunks.
    private mutating func nextChunk(_ header: ArchiveHeader) throws(ArchiveError) -> [UInt8]? {
        let payloadByteCount = try nextPayloadByteCount()
        let byteCount = CheckpointChunk.byteCount(payload: payloadByteCount)
        let salt = header.salt
        let number = chunkCount
        let payload = withNext(byteCount) { bytes -> [UInt8]? in
            let checked = UnsafeRawBufferPointer(rebasing: bytes[4...])
            guard bytes.integer(UInt32.self, at: 0) == CRC32C.update(salt, checked),
                bytes.integer(UInt64.self, at: 8) == number
            else { return nil }
            let first = CheckpointChunk.headerByteCount
            return Array(bytes[first..<first + payloadByteCount])
        }
        guard let payload else {
            throw .damaged(offset: offset, what: "chunk \(number) does not match its checksum")
        }
        advance(byteCount)
        if payload.isEmpty {
            state = .trailer(header)
            return nil
        }
        chunkCount += 1
        chunksByteCount += UInt64(byteCount)
        return payload
    }

    private mutating func nextTrailer(_ header: ArchiveHeader) throws(ArchiveError) -> Event? {
        guard left >= 16 else { return nil }
        let byteCount = Int(withNext(16) { $0.integer(UInt32.self, at: 12) })
        let damage = ArchiveError.damaged(
            offset: offset,
            what: "the trailer does not match its checksum"
        )
        guard (16...LogLimits.manifestByteCount).contains(byteCount) else { throw damage }
        guard left >= byteCount else { return nil }
        let info = withNext(byteCount) { bytes -> CheckpointInfo? in
            do throws(LogError) {
                return try CheckpointManifest.decode(
                    bytes,
                    file: "",
                    folderID: header.id,
                    position: header.position,
                )
            } catch {
                // The trailer is damaged.
                return nil
            }
        }
        guard let info else { throw damage }
        guard info.chunkCount == chunkCount, info.byteCount == chunksByteCount else {
            throw .damaged(offset: offset, what: "the trailer is of another archive")
        }
        advance(byteCount)
        state = .end
        return .trailer(info)
    }
}
