import Testing
import WriteAheadLog

/// An archive with these chunks, written whole.
private func archive(_ chunks: [[UInt8]], at position: UInt64 = 7) throws -> [UInt8] {
    let heads = [
        LogHead(database: try LogDatabaseName("b"), commit: 5),
        LogHead(database: try LogDatabaseName("a"), commit: 300),
    ]
    let header = ArchiveHeader(id: 0x0123_4567_89ab_cdef, time: 99, position: LogPosition(position))
    var writer = try ArchiveWriter(header, heads: heads)
    var bytes: [UInt8] = []
    writer.appendHeader(to: &bytes)
    for chunk in chunks { writer.append(chunk[...], to: &bytes) }
    writer.appendTrailer(to: &bytes)
    return bytes
}

private let chunks: [[UInt8]] = [
    [1], Array(0...255), [UInt8](repeating: 7, count: 5000), [0, 0, 0, 0, 0, 0, 0, 0],
]

/// What reading gives, fed in pieces of the given sizes in turn.
private func read(
    _ bytes: [UInt8],
    pieces: [Int] = [.max]
) -> (events: [ArchiveReader.Event], fault: ArchiveError?) {
    var reader = ArchiveReader()
    var events: [ArchiveReader.Event] = []
    var start = 0
    var turn = 0
    while start < bytes.count {
        let count = min(pieces[turn % pieces.count], bytes.count - start)
        turn += 1
        let fault = bytes[start..<start + count].withUnsafeBytes { piece in
            reader.feed(piece) { events.append($0) }
        }
        if let fault { return (events, fault) }
        start += count
    }
    return (events, reader.finish())
}

private func payloads(_ events: [ArchiveReader.Event]) -> [[UInt8]] {
    events.compactMap { event in
        if case .chunk(let payload) = event { return payload }
        return nil
    }
}

@Suite("archives")
struct ArchiveTests {
    @Test(
        "an archive gives its chunks back as they were, however it comes",
        arguments: [[Int.max], [1], [7], [15, 17, 1], [40], [4096]]
    )
    func roundTrip(pieces: [Int]) throws {
        let (events, fault) = read(try archive(chunks), pieces: pieces)
        #expect(fault == nil)
        #expect(payloads(events) == chunks)
        guard case .header(let header) = events.first, case .trailer(let info) = events.last else {
            Issue.record("no header or no trailer")
            return
        }
        #expect(header.time == 99)
        #expect(info.position == LogPosition(7))
        #expect(info.heads.map { "\($0.database)\($0.commit)" } == ["a300", "b5"])
        #expect(info.chunkCount == 4)
    }

    @Test("an archive without chunks is whole")
    func empty() throws {
        let (events, fault) = read(try archive([]))
        #expect(fault == nil)
        #expect(payloads(events) == [])
        #expect(events.count == 2)
    }

    @Test("every changed byte is found, and no changed chunk is given")
    func everyByte() throws {
        let small = [[1, 2, 3], [UInt8](repeating: 9, count: 100)]
        let bytes = try archive(small)
        for offset in bytes.indices {
            var changed = bytes
            changed[offset] ^= 1 << UInt8(offset % 8)
            let (events, fault) = read(changed)
            #expect(fault != nil, "byte \(offset)")
            #expect(small.starts(with: payloads(events)), "byte \(offset)")
        }
    }

    @Test("every cut is found, and its place told")
    func everyCut() throws {
        let bytes = try archive([[1, 2, 3], [UInt8](repeating: 9, count: 100)])
        for kept in 1..<bytes.count {
            let (_, fault) = read(Array(bytes[..<kept]), pieces: [11])
            #expect(fault == .cutShort(offset: UInt64(kept)), "\(kept) bytes kept")
        }
        #expect(read([]).fault == .notAnArchive)
    }

    @Test("bytes behind the trailer are found")
    func trailing() throws {
        let bytes = try archive(chunks)
        let fault = ArchiveError.trailingBytes(offset: UInt64(bytes.count))
        #expect(read(bytes + [0]).fault == fault)
        #expect(read(bytes + bytes, pieces: [100]).fault == fault)
    }

    @Test("chunks of another archive, or in another order, are found")
    func foreign() throws {
        let one = try archive([[1], [2]], at: 7)
        let other = try archive([[1], [2]], at: 8)
        // Header 40 bytes, each chunk 24.
        #expect(read(Array(one[..<40] + other[40...])).fault != nil)
        #expect(read(Array(one[..<64] + other[64...])).fault != nil)
        #expect(read(Array(one[..<40] + one[64..<88] + one[40..<64] + one[88...])).fault != nil)
        #expect(read(Array(one[..<40] + one[64...])).fault != nil)
        #expect(read(Array(one[..<88] + one[40..<64] + one[88...])).fault != nil)
    }

    @Test("what is no archive, and one of another version, is told as such")
    func others() throws {
        #expect(read(Array("{\"a\":1}".utf8)).fault == .notAnArchive)
        #expect(read(Array("HEARTH".utf8)).fault == .cutShort(offset: 6))
        var newer = try archive([])
        newer[8] = 2
        #expect(read(newer).fault == .unknownVersion(found: 2))
    }

    @Test("a restored folder opens with the chunks, and goes on after the position")
    func restore() throws {
        let storage = SimulatedLogStorage(seed: 60)
        try restore(to: storage)
        let log = try openLog(storage)
        #expect(log.chunks == chunks)
        #expect(log.entries == [])
        #expect(log.report.position == LogPosition(7))
        try append(entries([3], of: "a", after: 300), to: log.writer)
        log.folder.close()
        #expect(try openLog(storage).entries == entries([3], of: "a", after: 300))
    }

    @Test("what an earlier restore left goes")
    func restoreAgain() throws {
        let storage = SimulatedLogStorage(seed: 61)
        try restore(to: storage)
        try ArchiveRestore.removeLeftovers(storage)
        #expect(storage.files == [])
        try restore(to: storage)
        #expect(try openLog(storage).chunks == chunks)
    }

    @Test("a restore that is given up leaves nothing")
    func abandon() throws {
        let storage = SimulatedLogStorage(seed: 62)
        let info = try trailer()
        let restore = try ArchiveRestore(to: storage, info)
        try restore.write([1, 2, 3])
        try restore.abandon()
        #expect(storage.files == [])
    }

    private func restore(to storage: SimulatedLogStorage) throws {
        let restore = try ArchiveRestore(to: storage, try trailer())
        for chunk in chunks { try restore.write(chunk) }
        try restore.finish(readBackBy: { _ in })
    }

    private func trailer() throws -> CheckpointInfo {
        guard case .trailer(let info) = read(try archive(chunks)).events.last else {
            throw NoTrailer()
        }
        return info
    }

    private struct NoTrailer: Error {}
}
