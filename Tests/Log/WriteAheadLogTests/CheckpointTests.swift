import SimulatedStorage
import Testing
import WriteAheadLog

@Suite("checkpoints")
struct CheckpointTests {
    @Test("a recovery gives the newest checkpoint's chunks as they were, then the records after it")
    func roundTrip() throws {
        let storage = SimulatedLogStorage(seed: 50)
        let log = try openLog(storage)
        try append(entries([10], of: "a") + entries([10], of: "b"), to: log.writer)
        let chunks: [[UInt8]] = [[], [1], Array(0...255), [UInt8](repeating: 7, count: 5000)]
        let receipt = try checkpoint(chunks, log)
        #expect(receipt.info.position == LogPosition(2))
        #expect(receipt.info.heads.map(\.commit) == [1, 1])
        let more = entries([5, 6], of: "a", after: 1) + entries([1], of: "c")
        try append(more, to: log.writer)
        log.folder.close()
        let again = try openLog(storage)
        #expect(again.report.checkpoint == receipt.info)
        #expect(again.chunks == chunks)
        #expect(again.entries == more)
        #expect(again.writer.logHeads.map { "\($0.database)\($0.commit)" } == ["a3", "b1", "c1"])
    }

    @Test("two checkpoints are kept, and the segments that the older one needs")
    func kept() throws {
        let storage = SimulatedLogStorage(seed: 51)
        let log = try openLog(storage)
        for round in 0..<4 {
            try append(entries([800, 800], after: UInt64(round * 2)), to: log.writer)
            try checkpoint([[UInt8(round)]], log)
        }
        #expect(
            try storage.list("checkpoints") == ["00000000000000000006", "00000000000000000008"]
        )
        #expect(try storage.list("log").filter { $0 != "spare" } == ["00000000000000000007.log"])
    }

    @Test("a damaged newest checkpoint is put aside and the one before is used with its records")
    func fallback() throws {
        let sample = try SampleFolder()
        for file in ["data", "manifest"] {
            var files = sample.files
            files["checkpoints/00000000000000000008/\(file)"]?[9] ^= 0x10
            let storage = try SimulatedLogStorage.holding(files)
            let log = try openLog(storage)
            #expect(log.report.checkpoint?.position == LogPosition(4))
            #expect(log.report.damagedCheckpoints.count == 1)
            #expect(log.report.description.contains("put aside"))
            #expect(sample.state(log) == sample.entries)
            #expect(
                try storage.list("checkpoints")
                    == ["00000000000000000004", "00000000000000000008.damaged"]
            )
            // The next checkpoint keeps the intact one, and the records it needs.
            try append(entries([1], of: "c"), to: log.writer)
            let receipt = try checkpoint([[9]], log)
            #expect(receipt.droppedCheckpointCount == 0)
            #expect(receipt.droppedSegmentCount == 0)
        }
    }

    @Test("chunks in another order, left out or there twice are damage")
    func chunkOrder() throws {
        let storage = SimulatedLogStorage(seed: 53)
        let log = try openLog(storage)
        try append(entries([10, 10]), to: log.writer)
        try checkpoint([[1], [2], [3]], log)
        let files = storage.copyFiles()
        let name = "checkpoints/00000000000000000002/data"
        let data = try #require(files[name])
        // Each has a header of 16 bytes and fills a multiple of 8.
        let chunks = (0..<3).map { Array(data[24 * $0..<24 * ($0 + 1)]) }
        #expect(data == chunks.flatMap { $0 })
        for order in [[1, 0, 2], [0, 2, 1], [0, 0, 2], [0, 1, 1], [0, 2]] {
            var changed = files
            changed[name] = order.flatMap { chunks[$0] }
            let again = try openLog(try SimulatedLogStorage.holding(changed))
            #expect(again.report.checkpoint == nil, "\(order)")
            #expect(again.report.damagedCheckpoints.count == 1, "\(order)")
            #expect(again.entries == entries([10, 10]), "\(order)")
        }
    }

    @Test("without an intact checkpoint a log that still has its beginning is enough")
    func noCheckpointNeeded() throws {
        let storage = SimulatedLogStorage(seed: 52)
        let log = try openLog(storage)
        try append(entries([10, 10]), to: log.writer)
        try checkpoint([[1]], log)
        var files = storage.copyFiles()
        files["checkpoints/00000000000000000002/data"] = []
        let again = try openLog(try SimulatedLogStorage.holding(files))
        #expect(again.report.checkpoint == nil)
        #expect(again.entries == entries([10, 10]))
    }

    @Test("when no checkpoint is intact and the log's beginning is gone, the newest one is named")
    func bothDamaged() throws {
        var files = try SampleFolder().files
        files["checkpoints/00000000000000000004/data"]?[1] ^= 1
        files["checkpoints/00000000000000000008/data"]?[1] ^= 1
        let failure = #expect(throws: LogError.self) {
            try openLog(try SimulatedLogStorage.holding(files))
        }
        let damage = LogDamage(
            file: "checkpoints/00000000000000000008/data",
            offset: 0,
            fault: .chunk(index: 0),
        )
        #expect(failure == .damage(damage))
    }

    @Test("a checkpoint must be newer than the newest")
    func notNewer() throws {
        let log = try openLog(SimulatedLogStorage(seed: 53))
        try append(entries([1, 1]), to: log.writer)
        try checkpoint([], log)
        for position in [LogPosition(0), LogPosition(1), LogPosition(2)] {
            let expected = LogError.checkpointNotNewer(position: position, newest: LogPosition(2))
            #expect(throws: expected) {
                try log.folder.beginCheckpoint(at: position, heads: [])
            }
        }
    }

    @Test("an abandoned checkpoint leaves nothing, and the log goes on")
    func abandoned() throws {
        let storage = SimulatedLogStorage(seed: 54)
        let log = try openLog(storage)
        try append(entries([1]), to: log.writer)
        let writer = try log.folder.beginCheckpoint(at: LogPosition(1), heads: [])
        try [UInt8](repeating: 1, count: 10).withUnsafeBufferPointer { try writer.write($0) }
        try writer.abandon()
        #expect(try storage.list("checkpoints") == [])
        try checkpoint([[2]], log)
    }

    @Test("a checkpoint of an older position than the log's end keeps what follows it")
    func behindTheLog() throws {
        let storage = SimulatedLogStorage(seed: 55)
        let log = try openLog(storage)
        try append(entries([10, 10]), to: log.writer)
        let heads = log.writer.logHeads
        let writer = try log.folder.beginCheckpoint(at: log.writer.position, heads: heads)
        try append(entries([10, 900, 900], after: 2), to: log.writer)
        _ = try writer.commit(appendedThrough: log.writer.position)
        log.folder.close()
        let again = try openLog(storage)
        #expect(again.report.checkpoint?.position == LogPosition(2))
        #expect(again.entries == entries([10, 900, 900], after: 2))
    }

    @Test("a covered segment that a crash left behind is not read, whatever became of it")
    func leftoverSegment() throws {
        let sample = try SampleFolder()
        var files = sample.files
        files[segmentNames[0]] = [1, 2, 3]
        let storage = try SimulatedLogStorage.holding(files)
        let verification = try LogVerification.run(storage)
        #expect(verification.isSound, "\(verification)")
        #expect(try LogInspection.run(storage).faultCount == 0)
        let log = try openLog(storage)
        #expect(sample.state(log) == sample.entries)
        try append(entries([1], of: "c"), to: log.writer)
        #expect(try checkpoint([[9]], log).droppedSegmentCount >= 1)
        #expect(storage.content(segmentNames[0]) == nil)
    }
}
