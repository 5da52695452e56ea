import SimulatedStorage
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

    /// The offset at which a fault is found: that of the part with the first byte that is another one.
    private static func offset(_ fault: ArchiveError?) -> Int? {
        switch fault {
        case nil: nil
        case .notAnArchive, .unknownVersion: 0
        case .damaged(let offset, _), .cutShort(let offset), .trailingBytes(let offset): Int(offset)
        }
    }

    /// Whether reading a changed archive gives chunks of the whole one alone, and a fault of the part that was changed.
    private func isFound(_ changed: [UInt8], _ whole: [UInt8], _ chunks: [[UInt8]]) -> Bool {
        var parts = [0, 40]
        for chunk in chunks + [[]] {
            parts.append((parts.last ?? 0) + 16 + (chunk.count + 7) & ~7)
        }
        let first = zip(whole, changed).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
        let (events, fault) = read(changed, pieces: [1000])
        // With the header of another archive its first chunks are read too, until a block of the right one follows.
        if changed[..<40] != whole[..<40], first >= 12 { return fault != nil }
        let isEnd = fault == .cutShort(offset: UInt64(changed.count))
        return chunks.starts(with: payloads(events))
            && (isEnd || Self.offset(fault) == parts.last { $0 <= first })
    }

    @Test("each changed bit is found where it is, and no changed chunk is given")
    func everyBit() throws {
        let small = [[1, 2, 3], [UInt8](repeating: 9, count: 100), Array(0...250)]
        let bytes = try archive(small)
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(isFound(changed, bytes, small), "bit \(bit % 8) of byte \(bit / 8)")
        }
    }

    @Test("each block of 4 KiB that is zeros, another block, or of an older archive is found")
    func everyBlock() throws {
        func chunks(_ seed: Int) -> [[UInt8]] {
            (1...9).map { number in
                (0..<number * 700).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number &* seed) }
            }
        }
        let large = chunks(1)
        let bytes = try archive(large, at: 8)
        let older = try archive(chunks(2), at: 7)
        let blocks = stride(from: 0, to: bytes.count, by: 4096).map {
            $0..<min(bytes.count, $0 + 4096)
        }
        var count = 0
        func check(_ changes: [(Range<Int>, [UInt8])]) {
            var changed = bytes
            for (range, content) in changes {
                for (offset, byte) in zip(range, content) { changed[offset] = byte }
            }
            #expect(isFound(changed, bytes, large), "\(changes.map(\.0))")
            count += 1
        }
        for block in blocks {
            check([(block, [UInt8](repeating: 0, count: 4096))])
            check([(block, Array(older[block]))])
            for other in blocks where other != block {
                check([(block, Array(bytes[other]))])
                check([(block, Array(bytes[other])), (other, Array(bytes[block]))])
            }
        }
        #expect(count == blocks.count * 2 * blocks.count)
    }

    @Test("every cut is found, with its offset")
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

    @Test("bytes that are no archive, and one of another version, are refused as such")
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
        try ArchiveRestore(to: storage, info).write([1, 2, 3])
        try ArchiveRestore.removeLeftovers(storage)
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
