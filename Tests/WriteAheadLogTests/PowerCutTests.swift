import Glibc
import Simulation
import Testing
import WriteAheadLog

/// One random history of a log on a disk that keeps losing its power.
private struct History {
    let storage: SimulatedLogStorage
    var options = smallOptions
    var random: SplitMix64
    /// A few, or many, whose names come in some order.
    let databases: [String]
    /// Every commit that an append was tried with and that may still be there, in order.
    var attempted: [Entry] = []
    /// How many of them were reported durable.
    var acknowledged = 0
    var cutCount = 0
    var recoveredPrefixes = 0

    init(seed: UInt64) {
        storage = SimulatedLogStorage(seed: seed)
        random = SplitMix64(state: seed ^ 0x5EED)
        options.segmentByteCount = 1024 << random.next(below: 3)
        options.syncPolicy = random.next(below: 3) == 0 ? .onRequest : .always
        // The longest keys are no names.
        let orders = KeyOrder.allCases.filter { $0 != .longest }
        let order = orders[Int(random.next(below: orders.count))]
        databases = order.keys(random.next(below: 3) == 0 ? 60 : 3, &random)
    }

    mutating func run(lives: Int) throws {
        for _ in 0..<lives {
            if random.next(below: 4) != 0 {
                storage.cutPower(afterCalls: 1 + Int(random.next(below: 90)))
            }
            do throws(LogError) {
                try live()
            } catch .damage(let damage) {
                throw LogError.damage(damage)
            } catch {
                cutCount += 1
            }
            if random.next(below: 3) == 0 { try failAndReopen() }
            storage.restart()
        }
        storage.restart()
        let log = try open()
        try log.writer.close()
        log.folder.close()
        let verification = try LogVerification.run(storage, readByteCount: 256)
        #expect(verification.isSound, "\(verification)")
    }

    /// One life of a process: start, random work, perhaps a good end.
    private mutating func live() throws(LogError) {
        let log = try open()
        for _ in 0..<random.next(below: 12) {
            switch random.next(below: 9) {
            case 8: try log.writer.seal()
            case 0:
                try log.writer.sync()
                acknowledged = Int(log.writer.durableThrough.value)
            case 1: try log.writer.maintain()
            case 2 where log.writer.position > .start: try takeCheckpoint(log)
            default: try appendBatch(log)
            }
        }
        if random.next(below: 4) == 0 {
            try log.writer.close()
            acknowledged = attempted.count
        }
        log.folder.close()
    }

    /// A process whose write or sync fails, stops and starts again on the same powered disk.
    private mutating func failAndReopen() throws {
        storage.restart()
        do throws(LogError) {
            let log = try open()
            let operation: DiskFailure.Operation = random.next(below: 2) == 0 ? .sync : .write
            storage.fail(operation, errorNumber: EIO, afterCalls: 1 + Int(random.next(below: 4)))
            defer { log.folder.close() }
            for _ in 0..<4 { try appendBatch(log) }
        } catch .disk {
            cutCount += 1
        }
        storage.cancelFailures()
        let log = try open()
        log.folder.close()
    }

    private mutating func appendBatch(_ log: Recovered) throws(LogError) {
        var batch: [LogRecord] = []
        for _ in 0...random.next(below: 5) {
            let database = databases[Int(random.next(below: databases.count))]
            let commit = 1 + UInt64(attempted.count { $0.database == database })
            let size = Int(random.next(below: 10) == 0 ? 900 : random.next(below: 120))
            let filling = UInt8(truncatingIfNeeded: random.next())
            let payload = [UInt8](repeating: filling, count: size)
            attempted.append(Entry(database, commit, time: Int64(attempted.count), payload))
            let time = Int64(attempted.count - 1)
            // Some are written piece by piece, so that the power also fails between two pieces.
            let pieceByteCount = 20 + Int(random.next(below: 280))
            let isWhole = random.next(below: 2) == 0
            batch.append(
                LogRecord(
                    database: try LogDatabaseName(database),
                    commit: commit,
                    time: time,
                    payload: isWhole
                        ? .bytes(payload) : .pieces(TestPieces(payload, of: pieceByteCount)),
                )
            )
        }
        let outcome = try log.writer.append(batch)
        #expect(outcome == .appended(position: LogPosition(UInt64(attempted.count))))
        acknowledged = Int(log.writer.durableThrough.value)
    }

    private func takeCheckpoint(_ log: Recovered) throws(LogError) {
        let position = log.writer.position
        let writer: CheckpointWriter
        do throws(LogError) {
            writer = try log.folder.beginCheckpoint(at: position, heads: log.writer.logHeads)
        } catch .checkpointNotNewer {
            return
        }
        for chunk in Self.chunks(at: position) { try write(chunk, to: writer) }
        _ = try writer.commit(appendedThrough: position)
    }

    private func write(_ chunk: [UInt8], to writer: CheckpointWriter) throws(LogError) {
        var failure: LogError?
        chunk.withUnsafeBufferPointer { bytes in
            do throws(LogError) { try writer.write(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private static func chunks(at position: LogPosition) -> [[UInt8]] {
        let filling = UInt8(truncatingIfNeeded: position.value)
        return [Array(position.description.utf8), [UInt8](repeating: filling, count: 700), []]
    }

    /// Recovers, and compares with what was tried and what was acknowledged.
    private mutating func open() throws(LogError) -> Recovered {
        let log: Recovered
        do {
            log = try openLog(storage, options)
        } catch let error as LogError {
            throw error
        } catch {
            Issue.record("an untyped error: \(error)")
            throw .notADataFolder(path: "")
        }
        let position = Int(log.report.position.value)
        let base = log.report.checkpoint?.position ?? .start
        #expect(position >= acknowledged, "an acknowledged commit is lost")
        #expect(position <= attempted.count, "a commit that nobody made")
        let expected = attempted[..<min(position, attempted.count)].dropFirst(Int(base.value))
        #expect(log.entries == Array(expected), "not a prefix of what was appended")
        #expect(log.chunks == (base > .start ? Self.chunks(at: base) : []))
        #expect(log.report.damagedCheckpoints == [])
        if position < attempted.count { recoveredPrefixes += 1 }
        attempted = Array(attempted[..<min(position, attempted.count)])
        acknowledged = position
        return log
    }
}

@Suite("power cuts")
struct PowerCutTests {
    @Test(
        "after every power cut the log is a prefix that holds every acknowledged commit",
        arguments: 0..<25
    )
    func seeds(part: UInt64) throws {
        var cutCount = 0
        var prefixCount = 0
        for seed in part * 20..<part * 20 + 20 {
            var history = History(seed: seed)
            do {
                try history.run(lives: 4)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            cutCount += history.cutCount
            prefixCount += history.recoveredPrefixes
        }
        // 25 parts with at least 40 each: more than 1,000 cuts in the middle of something.
        #expect(cutCount >= 40, "the cuts hit something")
        #expect(prefixCount > 0, "some cut took commits away")
    }

    @Test("a checkpoint cut at any call is there whole or not at all, and the log is whole")
    func checkpointAtEveryCall() throws {
        var sawOld = false
        var sawNew = false
        for call in 1...60 {
            let storage = SimulatedLogStorage(seed: UInt64(call))
            let log = try openLog(storage)
            try append(entries([500]), to: log.writer)
            try checkpoint([[1]], log)
            try append(entries([600], after: 1), to: log.writer)
            try checkpoint([[2]], log)
            try append(entries([700], after: 2), to: log.writer)
            storage.cutPower(afterCalls: call)
            let third = Result { try checkpoint([[3], [3]], log) }
            storage.restart()
            let again = try openLog(storage)
            let position = try #require(again.report.checkpoint?.position)
            #expect(position == LogPosition(2) || position == LogPosition(3), "call \(call)")
            #expect(again.chunks == (position == LogPosition(2) ? [[2]] : [[3], [3]]))
            #expect(again.writer.position == LogPosition(3), "call \(call)")
            #expect(again.entries.count == 3 - Int(position.value), "call \(call)")
            sawOld = sawOld || position == LogPosition(2)
            sawNew = sawNew || position == LogPosition(3)
            // The next checkpoint cleans up whatever this one left.
            try append(entries([10], after: 3), to: again.writer)
            try checkpoint([[4]], again)
            let folders = try storage.list("checkpoints")
            #expect(folders.count == 2, "call \(call): \(folders)")
            again.folder.close()
            #expect(try LogVerification.run(storage).isSound, "call \(call)")
            if case .success = third { break }
            #expect(call < 60, "the checkpoint takes fewer calls than this test tries")
        }
        #expect(sawOld)
        #expect(sawNew)
    }

    @Test("a first start cut at any call can be repeated")
    func firstStartAtEveryCall() throws {
        for call in 1...40 {
            let storage = SimulatedLogStorage(seed: UInt64(100 + call))
            storage.cutPower(afterCalls: call)
            let first = Result { try openLog(storage) }
            storage.restart()
            let log = try openLog(storage)
            #expect(log.entries == [], "call \(call)")
            if case .success = first { return }
        }
        Issue.record("a start takes fewer calls than this test tries")
    }
}
