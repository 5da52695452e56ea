import Glibc
import SimulatedStorage
import Simulation
import TestSupport
import Testing
import WriteAheadLog

/// One random history of a log on a disk that keeps losing its power.
private struct History {
    var twin: LogTwin
    var random: SplitMix64
    /// A few, or many, whose names come in some order.
    let databases: [String]
    var cutCount = 0

    private var storage: SimulatedLogStorage { twin.storage }

    init(seed: UInt64) {
        twin = LogTwin(SimulatedLogStorage(seed: seed))
        random = SplitMix64(state: seed ^ 0x5EED)
        twin.options.segmentByteCount = 1024 << random.next(below: 3)
        twin.options.syncPolicy = random.next(below: 3) == 0 ? .onRequest : .always
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
        let log = try twin.open()
        try log.writer.close()
        log.folder.close()
        let verification = try LogVerification.run(storage, readByteCount: 256)
        #expect(verification.isSound, "\(verification)")
    }

    /// One life of a process: start, random work, perhaps a good end.
    private mutating func live() throws(LogError) {
        let log = try twin.open()
        for _ in 0..<random.next(below: 12) {
            switch random.next(below: 9) {
            case 8: try log.writer.seal()
            case 0:
                try log.writer.sync()
                twin.acknowledge(log.writer)
            case 1: try log.writer.maintain()
            case 2 where log.writer.position > .start: try twin.takeCheckpoint(log)
            default: try appendBatch(log)
            }
        }
        if random.next(below: 4) == 0 {
            try log.writer.close()
            twin.acknowledge(log.writer)
        }
        log.folder.close()
    }

    /// A process whose write or sync fails, stops and starts again on the same powered disk.
    private mutating func failAndReopen() throws {
        storage.restart()
        do throws(LogError) {
            let log = try twin.open()
            let operation: DiskFailure.Operation = random.next(below: 2) == 0 ? .sync : .write
            storage.fail(operation, errorNumber: EIO, afterCalls: 1 + Int(random.next(below: 4)))
            defer { log.folder.close() }
            for _ in 0..<4 { try appendBatch(log) }
        } catch .disk {
            cutCount += 1
        }
        storage.cancelFailures()
        let log = try twin.open()
        log.folder.close()
    }

    private mutating func appendBatch(_ log: Recovered) throws(LogError) {
        var batch: [LogRecord] = []
        for _ in 0...random.next(below: 5) {
            let database = databases[Int(random.next(below: databases.count))]
            let size = Int(random.next(below: 10) == 0 ? 900 : random.next(below: 120))
            let filling = UInt8(truncatingIfNeeded: random.next())
            // Some are written piece by piece, so that the power also fails between two pieces.
            let pieceByteCount = 20 + Int(random.next(below: 280))
            let isWhole = random.next(below: 2) == 0
            batch.append(
                try twin.record(
                    database,
                    [UInt8](repeating: filling, count: size),
                    piecesOf: isWhole ? nil : pieceByteCount
                )
            )
        }
        try twin.append(batch, to: log)
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
        for seed in TestSeed.seeds(20, from: part * 20) {
            var history = History(seed: seed)
            do {
                try history.run(lives: 4)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            cutCount += history.cutCount
            prefixCount += history.twin.recoveredPrefixes
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
            let storage = SimulatedLogStorage(seed: TestSeed.first + UInt64(call))
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
            let storage = SimulatedLogStorage(seed: TestSeed.first + UInt64(100 + call))
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
