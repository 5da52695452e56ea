import SimulatedStorage
import Testing
import WriteAheadLog

/// A log on a simulated disk, and a plain list of what it was asked to hold.
struct LogTwin {
    let storage: SimulatedLogStorage
    var options = smallOptions
    /// Every commit that an append was tried with and that may still be there, in order.
    private(set) var attempted: [Entry] = []
    /// How many of them were reported durable.
    private(set) var acknowledged = 0
    /// Recoveries that did not find all that was tried.
    private(set) var recoveredPrefixes = 0

    init(_ storage: SimulatedLogStorage) {
        self.storage = storage
    }

    /// Makes the next commit of a database, which is to be appended.
    mutating func record(
        _ database: String,
        _ payload: [UInt8],
        piecesOf pieceByteCount: Int? = nil
    ) throws(LogError) -> LogRecord {
        let commit = 1 + UInt64(attempted.count { $0.database == database })
        let time = Int64(attempted.count)
        attempted.append(Entry(database, commit, time: time, payload))
        return LogRecord(
            database: try LogDatabaseName(database),
            commit: commit,
            time: time,
            payload: pieceByteCount.map { .pieces(TestPieces(payload, of: $0)) } ?? .bytes(payload),
        )
    }

    mutating func append(_ batch: [LogRecord], to log: Recovered) throws(LogError) {
        let outcome = try log.writer.append(batch)
        #expect(outcome == .appended(position: LogPosition(UInt64(attempted.count))))
        acknowledge(log.writer)
    }

    /// Notes what the writer calls durable.
    mutating func acknowledge(_ writer: LogWriter) {
        acknowledged = Int(writer.durableThrough.value)
    }

    /// Writes a checkpoint, unless there is one of this position.
    func takeCheckpoint(_ log: Recovered) throws(LogError) {
        let position = log.writer.position
        let writer: CheckpointWriter
        do throws(LogError) {
            writer = try log.folder.beginCheckpoint(at: position, heads: log.writer.logHeads)
        } catch .checkpointNotNewer {
            return
        }
        do throws(LogError) {
            for chunk in Self.chunks(at: position) {
                try chunk.withUnsafeBufferPointer { bytes throws(LogError) in
                    try writer.write(bytes)
                }
            }
            _ = try writer.commit(appendedThrough: position)
        } catch {
            try writer.abandon()
            throw error
        }
    }

    /// What a checkpoint at a position holds.
    static func chunks(at position: LogPosition) -> [[UInt8]] {
        let filling = UInt8(truncatingIfNeeded: position.value)
        return [Array(position.description.utf8), [UInt8](repeating: filling, count: 700), []]
    }

    /// Recovers, and compares with what was tried and what was acknowledged.
    mutating func open() throws(LogError) -> Recovered {
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
        #expect(position >= acknowledged, "an acknowledged commit is lost")
        #expect(position <= attempted.count, "a commit that was never made")
        check(log)
        #expect(log.report.damagedCheckpoints == [])
        if position < attempted.count { recoveredPrefixes += 1 }
        attempted = Array(attempted[..<min(position, attempted.count)])
        acknowledged = position
        return log
    }

    /// Compares a recovery of this log, or of a copy, with the commits up to where it ends.
    func check(_ log: Recovered) {
        let position = Int(log.report.position.value)
        let base = log.report.checkpoint?.position ?? .start
        let expected = attempted[..<min(position, attempted.count)].dropFirst(Int(base.value))
        #expect(log.entries == Array(expected), "not a prefix of what was appended")
        #expect(log.chunks == (base > .start ? Self.chunks(at: base) : []))
    }
}
