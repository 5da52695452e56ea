import Glibc
import SimulatedStorage
import Testing
import WriteAheadLog

@Suite("a log writer")
struct LogWriterTests {
    @Test("an empty folder recovers to nothing and takes the first commit")
    func emptyFolder() throws {
        let storage = SimulatedLogStorage(seed: 1)
        let log = try openLog(storage)
        #expect(log.report.lines == ["recovered no checkpoint and 0 records, up to position 0"])
        #expect(log.entries == [])
        #expect(log.writer.position == .start)
        #expect(try append(entries([5]), to: log.writer) == LogPosition(1))
    }

    @Test("what was appended is recovered, in order, over segments and databases")
    func roundTrip() throws {
        let storage = SimulatedLogStorage(seed: 2)
        let log = try openLog(storage)
        let first = entries([0, 1, 7, 8, 300], of: "a")
        let second = entries([100, 500, 100], of: "b") + entries([900, 1], of: "a", after: 5)
        let third = entries([3000, 2], of: "c")
        for batch in [first, second, third] { try append(batch, to: log.writer) }
        log.folder.close()
        let again = try openLog(storage)
        #expect(again.entries == first + second + third)
        #expect(again.writer.position == LogPosition(12))
        #expect(again.report.recordCount == 12)
        #expect(again.report.torn == nil)
        let heads = again.writer.logHeads.map { "\($0.database) \($0.commit)" }
        #expect(heads == ["a 7", "b 3", "c 2"])
        #expect(storage.files.filter { $0.hasSuffix(".log") }.count == 3)
    }

    @Test("a batch is never cut: one larger than a segment makes one larger segment")
    func largeBatch() throws {
        let storage = SimulatedLogStorage(seed: 3)
        let log = try openLog(storage)
        try append(entries([10]), to: log.writer)
        try append(entries([2000, 2000], after: 1), to: log.writer)
        try append(entries([10], after: 3), to: log.writer)
        #expect(storage.content(segmentNames[1])?.count ?? 0 > 4000)
        #expect(storage.content(segmentNames[3]) != nil)
    }

    @Test("a batch is one write and one sync")
    func groupCommit() throws {
        let storage = SimulatedLogStorage(seed: 4)
        let log = try openLog(storage)
        try append(entries([1]), to: log.writer)
        let before = storage.callCount
        try append(entries([1, 1, 1, 1], after: 1), to: log.writer)
        #expect(storage.callCount - before == 2)
    }

    @Test("a commit that does not follow is a conflict that names the last one, and writes nothing")
    func conflict() throws {
        let storage = SimulatedLogStorage(seed: 5)
        let log = try openLog(storage)
        try append(entries([1, 1], of: "a"), to: log.writer)
        let before = storage.copyFiles()
        let good = try entries([1], of: "b").map { try $0.record() }
        for commit in [UInt64(0), 1, 2, 4, .max] {
            let bad = try Entry("a", commit, [9]).record()
            let name = try LogDatabaseName("a")
            #expect(try log.writer.append(good + [bad]) == .conflict(database: name, actual: 2))
        }
        let repeated = try log.writer.append(good + good)
        let name = try LogDatabaseName("b")
        #expect(repeated == .conflict(database: name, actual: 0), "twice the same in one batch")
        #expect(storage.copyFiles() == before)
        #expect(try append(entries([1], of: "b"), to: log.writer) == LogPosition(3))
        #expect(try append(entries([1], of: "a", after: 2), to: log.writer) == LogPosition(4))
    }

    @Test("without a sync policy appends become durable by sync")
    func syncOnRequest() throws {
        var options = smallOptions
        options.syncPolicy = .onRequest
        let log = try openLog(SimulatedLogStorage(seed: 6), options)
        try append(entries([1, 1]), to: log.writer)
        #expect(log.writer.durableThrough == .start)
        try log.writer.sync()
        #expect(log.writer.durableThrough == LogPosition(2))
    }

    @Test("a finished segment is durable under any sync policy")
    func rollSyncs() throws {
        var options = smallOptions
        options.syncPolicy = .onRequest
        let log = try openLog(SimulatedLogStorage(seed: 7), options)
        try append(entries([800]), to: log.writer)
        try append(entries([800], after: 1), to: log.writer)
        #expect(log.writer.durableThrough == LogPosition(1))
    }

    @Test("an empty batch is taken and writes nothing")
    func emptyBatch() throws {
        let storage = SimulatedLogStorage(seed: 8)
        let log = try openLog(storage)
        let before = storage.callCount
        #expect(try log.writer.append([]) == .appended(position: .start))
        #expect(storage.callCount == before)
    }

    @Test(
        "after a failed write or sync the writer takes nothing more",
        arguments: [DiskFailure.Operation.write, .sync, .rename, .preallocate],
        [EIO, ENOSPC]
    )
    func failureStops(operation: DiskFailure.Operation, errorNumber: Int32) throws {
        let storage = SimulatedLogStorage(seed: 9)
        let log = try openLog(storage)
        try append(entries([400]), to: log.writer)
        storage.fail(operation, errorNumber: errorNumber)
        let next = try entries([700], after: 1).map { try $0.record() }
        let failure = try #require(throws: LogError.self) { try log.writer.append(next) }
        guard case .disk(let cause) = failure else {
            Issue.record("not a failure of the disk: \(failure)")
            return
        }
        #expect(cause.errorNumber == errorNumber)
        let calls = storage.callCount
        #expect(throws: LogError.stopped(by: failure)) { try log.writer.append(next) }
        #expect(throws: LogError.stopped(by: failure)) { try log.writer.sync() }
        #expect(throws: LogError.stopped(by: failure)) { try log.writer.maintain() }
        #expect(throws: LogError.stopped(by: failure)) { try log.writer.close() }
        #expect(storage.callCount == calls, "a failed sync is never tried again")
    }

    @Test("a failure names the file and what the system says")
    func failureText() throws {
        let storage = SimulatedLogStorage(seed: 10)
        let log = try openLog(storage)
        try append(entries([1]), to: log.writer)
        storage.fail(.sync, errorNumber: EIO)
        let failure = #expect(throws: LogError.self) {
            try append(entries([1], after: 1), to: log.writer)
        }
        let text = failure?.description ?? ""
        #expect(text.contains(segmentNames[0]))
        #expect(text.contains("Input/output error"))
    }

    @Test("a closed log is sealed, short, and opens again")
    func close() throws {
        let storage = SimulatedLogStorage(seed: 11)
        let log = try openLog(storage)
        try append(entries([100]), to: log.writer)
        #expect(storage.content(segmentNames[0])?.count == 1024)
        try log.writer.close()
        log.folder.close()
        #expect(storage.content(segmentNames[0])?.count == 64 + 160 + 48)
        #expect(storage.content("log/spare") == nil)
        let again = try openLog(storage)
        #expect(again.entries == entries([100]))
        try append(entries([5], after: 1), to: again.writer)
        again.folder.close()
        #expect(try openLog(storage).entries.count == 2)
    }

    @Test("starting and stopping without a write leaves no segment behind")
    func idleRestarts() throws {
        let storage = SimulatedLogStorage(seed: 12)
        for _ in 0..<3 {
            let log = try openLog(storage)
            try log.writer.close()
            log.folder.close()
        }
        #expect(storage.files == ["FORMAT"])
    }

    @Test("a database name has 1 to 63 bytes", arguments: [0, 1, 63, 64])
    func names(byteCount: Int) {
        let name = [UInt8](repeating: 0x61, count: byteCount)
        if (1...63).contains(byteCount) {
            #expect(throws: Never.self) { try LogDatabaseName(utf8: name) }
        } else {
            #expect(throws: LogError.badDatabaseName(byteCount: byteCount)) {
                try LogDatabaseName(utf8: name)
            }
        }
    }
}
