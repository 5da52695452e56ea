import Glibc
import SimulatedStorage
import TestSupport
import Testing
import WriteAheadLog

@Suite("payloads that come in pieces")
struct PayloadPiecesTests {
    private static let written = entries([20, 700, 0, 333, 5])

    /// The second and fourth commit, in pieces of that size; the others whole.
    private static func records(piecesOf pieceByteCount: Int?) throws -> [LogRecord] {
        try written.enumerated().map { index, entry in
            try entry.record(piecesOf: index % 2 == 1 ? pieceByteCount : nil)
        }
    }

    @Test(
        "in whatever pieces a payload comes, the log has the bytes it would have as a whole",
        arguments: [1, 7, 8, 64, 333, 699, 700, 701]
    )
    func sameBytes(pieceByteCount: Int) throws {
        let whole = SimulatedLogStorage(seed: 60)
        let log = try openLog(whole)
        _ = try log.writer.append(try Self.records(piecesOf: nil))
        let pieced = SimulatedLogStorage(seed: 60)
        let again = try openLog(pieced)
        let outcome = try again.writer.append(try Self.records(piecesOf: pieceByteCount))
        #expect(outcome == .appended(position: LogPosition(5)))
        #expect(pieced.copyFiles() == whole.copyFiles())
        // Both go on alike: in the segment and in the next one.
        for log in [log, again] { try append(entries([3, 900], after: 5), to: log.writer) }
        #expect(pieced.copyFiles() == whole.copyFiles())
        again.folder.close()
        #expect(try openLog(pieced).entries == Self.written + entries([3, 900], after: 5))
    }

    @Test("payloads of any length, also none, come back", arguments: [0, 1, 8, 9, 17, 2000])
    func lengths(byteCount: Int) throws {
        let storage = SimulatedLogStorage(seed: 61)
        let log = try openLog(storage)
        let all = entries([byteCount, byteCount, byteCount])
        _ = try log.writer.append(try all.map { try $0.record(piecesOf: 8) })
        log.folder.close()
        #expect(try openLog(storage).entries == all)
    }

    @Test("a batch with payloads in pieces is one sync")
    func oneSync() throws {
        let storage = SimulatedLogStorage(seed: 62)
        let log = try openLog(storage)
        try append(entries([1]), to: log.writer)
        let before = storage.callCount
        let batch = entries([1, 100, 1], after: 1)
        _ = try log.writer.append([
            try batch[0].record(), try batch[1].record(piecesOf: 50), try batch[2].record(),
        ])
        // What came before, two pieces with the end that has none, the fixed part, what follows.
        #expect(storage.callCount - before == 7)
        #expect(log.writer.durableThrough == LogPosition(4))
    }

    @Test("a power cut at any call of a batch in pieces leaves a prefix, and what was durable")
    func powerCuts() throws {
        var kept: Set<Int> = []
        var tornCount = 0
        for call in 1...40 {
            for seed in TestSeed.seeds(20) {
                let storage = SimulatedLogStorage(seed: seed)
                let log = try openLog(storage)
                try append(Array(Self.written[..<1]), to: log.writer)
                storage.cutPower(afterCalls: call)
                var isAcknowledged = true
                do {
                    _ = try log.writer.append(
                        try Self.records(piecesOf: 100).dropFirst().map { $0 }
                    )
                } catch is LogError {
                    isAcknowledged = false
                }
                storage.restart()
                let again = try openLog(storage)
                let count = again.entries.count
                #expect(again.entries == Array(Self.written[..<count]), "seed \(seed) call \(call)")
                #expect(count >= (isAcknowledged ? 5 : 1), "seed \(seed) call \(call)")
                kept.insert(count)
                if again.report.torn != nil { tornCount += 1 }
                // It goes on from there.
                try append([Entry("other", 1, [1])], to: again.writer)
                again.folder.close()
                #expect(try openLog(storage).entries.count == count + 1)
            }
        }
        #expect(kept == [1, 2, 3, 4, 5])
        #expect(tornCount > 20)
    }

    @Test("a failed write of any piece stops the writer; the record is cut as torn")
    func failedWrites() throws {
        for call in 1...9 {
            let storage = SimulatedLogStorage(seed: 63)
            let log = try openLog(storage)
            try append(Array(Self.written[..<1]), to: log.writer)
            storage.fail(.write, errorNumber: EIO, afterCalls: call)
            // Seven pieces, the end, the fixed part.
            #expect(throws: LogError.self, "call \(call)") {
                _ = try log.writer.append([try Self.written[1].record(piecesOf: 100)])
            }
            #expect(throws: LogError.self) { try append(entries([1], after: 1), to: log.writer) }
            log.folder.close()
            let again = try openLog(storage)
            #expect(again.entries == Array(Self.written[..<1]), "call \(call)")
            #expect(again.report.torn != nil)
        }
    }

    @Test("a payload in pieces above the limit is refused before anything is made or written")
    func tooLarge() throws {
        struct Endless: PayloadPieces {
            let byteCount = LogLimits.payloadByteCount + 1
            func next(into piece: inout [UInt8]) -> Bool {
                preconditionFailure("it is never asked")
            }
        }
        let storage = SimulatedLogStorage(seed: 64)
        let log = try openLog(storage)
        let name = try LogDatabaseName("default")
        #expect(throws: LogError.payloadTooLarge(byteCount: LogLimits.payloadByteCount + 1)) {
            _ = try log.writer.append([
                LogRecord(database: name, commit: 1, time: 0, payload: .pieces(Endless()))
            ])
        }
        try append(entries([1]), to: log.writer)
    }

    @Test("no flipped bit of a record written in pieces gives wrong data")
    func flippedBits() throws {
        let source = SimulatedLogStorage(seed: 65)
        let log = try openLog(source)
        _ = try log.writer.append([try Self.written[0].record()])
        _ = try log.writer.append([try Self.written[1].record(piecesOf: 64)])
        try log.writer.close()
        let files = source.copyFiles()
        let size = try #require(files[segmentNames[0]]?.count)
        for place in 152..<size {
            var changed = files
            changed[segmentNames[0]]?[place] ^= UInt8(1 << (place % 8))
            switch try tryOpening(try SimulatedLogStorage.holding(changed)) {
            case .success(let log): #expect(log.entries == Array(Self.written[..<2]))
            case .failure(.damage): break
            case .failure(let other): Issue.record("byte \(place): \(other)")
            }
        }
    }
}
