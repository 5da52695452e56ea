import SimulatedStorage
import Testing
import WriteAheadLog

@Suite("the end of a log that lost its power")
struct TornTailTests {
    private static let written = entries([5, 0, 40, 100])

    /// A log of one segment with four records, written in batches of the given sizes.
    private static func segment(batches: [Int]) throws -> [String: [UInt8]] {
        let storage = SimulatedLogStorage(seed: 20)
        let log = try openLog(storage)
        var next = 0
        for count in batches {
            try append(Array(written[next..<next + count]), to: log.writer)
            next += count
        }
        var files = storage.copyFiles()
        files["log/spare"] = nil
        return files
    }

    /// Where each of the four records begins, and where the last one ends.
    private static let bounds = [64, 128, 184, 280, 440]

    /// Known limit: where zeros stand from some place on to the end that the file always had, nothing
    /// tells that more was written. A disk that keeps its word leaves no such file.
    @Test("a log with zeros from any byte on ends at the last whole record")
    func zerosFromAnyByte() throws {
        let files = try Self.segment(batches: [1, 1, 1, 1])
        let whole = try #require(files[segmentNames[0]])
        #expect(whole[440...].allSatisfy { $0 == 0 })
        for cut in 64...440 {
            var torn = files
            let content = Array(whole[..<cut]) + [UInt8](repeating: 0, count: whole.count - cut)
            torn[segmentNames[0]] = content
            let storage = try SimulatedLogStorage.holding(torn)
            let log = try openLog(storage)
            // A cut that took only zeros from a record's padding took nothing.
            let kept = Self.bounds.dropFirst().count { content.starts(with: whole[..<$0]) }
            #expect(log.entries == Array(Self.written[..<kept]), "cut at \(cut)")
            let tornBytes = content[Self.bounds[kept]...].contains { $0 != 0 }
            #expect((log.report.torn != nil) == tornBytes, "cut at \(cut)")
            if let tail = log.report.torn {
                #expect(tail.file == segmentNames[0])
                #expect(tail.offset == UInt64(Self.bounds[kept]))
                #expect(tail.from == LogPosition(UInt64(kept) + 1))
                #expect((1...UInt64(cut - Self.bounds[kept] + 8)).contains(tail.byteCount))
            }
            #expect(storage.content(segmentNames[0])?.count == Self.bounds[kept] + sealByteCount)
        }
    }

    @Test("after a cut the log goes on and keeps what is written then", arguments: [65, 200, 439])
    func goesOn(cut: Int) throws {
        var files = try Self.segment(batches: [1, 1, 1, 1])
        for byte in cut..<440 { files[segmentNames[0]]?[byte] = 0 }
        let storage = try SimulatedLogStorage.holding(files)
        let log = try openLog(storage)
        let more = entries([9, 9], after: UInt64(log.entries.count))
        try append(more, to: log.writer)
        log.folder.close()
        let again = try openLog(storage)
        #expect(again.entries == log.entries + more)
        #expect(again.report.torn == nil)
    }

    @Test("a hole in the last batch, with intact records of that batch behind it, is a torn tail")
    func holeInLastBatch() throws {
        var files = try Self.segment(batches: [2, 2])
        for byte in 184..<280 { files[segmentNames[0]]?[byte] = 0 }
        let log = try openLog(try SimulatedLogStorage.holding(files))
        #expect(log.entries == Array(Self.written[..<2]))
        #expect(log.report.torn?.offset == 184)
        #expect(log.report.torn?.byteCount == 440 - 184)
    }

    @Test("the same hole, proven durable by a later batch, is damage that names its place")
    func holeBeforeLaterBatch() throws {
        var files = try Self.segment(batches: [1, 2, 1])
        for byte in 128..<184 { files[segmentNames[0]]?[byte] = 0 }
        let storage = try SimulatedLogStorage.holding(files)
        let failure = #expect(throws: LogError.self) { try openLog(storage) }
        let expected = LogDamage(
            file: segmentNames[0],
            offset: 128,
            fault: .recordHeader(expected: LogPosition(2)),
        )
        #expect(failure == .damage(expected))
        #expect(failure?.description.contains("hearth log salvage") == true)
        #expect(storage.content(segmentNames[0]) == files[segmentNames[0]])
    }

    @Test("a damaged last record of a log that was closed in good order is damage")
    func sealedLog() throws {
        let storage = SimulatedLogStorage(seed: 21)
        let log = try openLog(storage)
        try append(Self.written, to: log.writer)
        try log.writer.close()
        var files = storage.copyFiles()
        files[segmentNames[0]]?[400] ^= 1
        let failure = #expect(throws: LogError.self) {
            try openLog(try SimulatedLogStorage.holding(files))
        }
        let fault = LogDamage.Fault.recordBody(position: LogPosition(4), commit: 4)
        #expect(
            failure == .damage(LogDamage(file: segmentNames[0], offset: 280, fault: fault))
        )
    }

    @Test("a damaged end of a segment that has a successor is damage")
    func endOfFinishedSegment() throws {
        let storage = SimulatedLogStorage(seed: 22)
        let log = try openLog(storage)
        try append(entries([300, 300]), to: log.writer)
        try append(entries([700], after: 2), to: log.writer)
        var files = storage.copyFiles()
        files[segmentNames[0]]?.removeLast(8)
        let failure = #expect(throws: LogError.self) {
            try openLog(try SimulatedLogStorage.holding(files))
        }
        let fault = LogDamage.Fault.recordCutShort(position: LogPosition(2))
        #expect(
            failure == .damage(LogDamage(file: segmentNames[0], offset: 424, fault: fault))
        )
    }

    @Test("a payload that holds a whole record of a log is not taken for one behind a torn record")
    func recordInsidePayload() throws {
        let inner = try #require(try Self.segment(batches: [4])[segmentNames[0]])
        let storage = SimulatedLogStorage(seed: 23)
        let log = try openLog(storage)
        try append([Entry("default", 1, Array(inner[..<440]))], to: log.writer)
        var files = storage.copyFiles()
        files[segmentNames[0]]?[64] ^= 1
        let again = try openLog(try SimulatedLogStorage.holding(files))
        #expect(again.entries == [])
        #expect(again.report.torn?.offset == 64)
    }
}
