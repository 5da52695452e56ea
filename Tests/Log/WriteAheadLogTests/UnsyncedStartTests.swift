import Foundation
import SimulatedStorage
import TestSupport
import Testing
import WriteAheadLog

/// What one run left unsynced and the next one takes up, without a power cut between them but one afterwards.
@Suite("a start behind a failed sync")
struct UnsyncedStartTests {
    /// Enough that each has a case in which the bytes or names are lost.
    private static let seeds = TestSeed.seeds(30)

    @Test("takes no commit for durable that the failed sync has lost", arguments: seeds)
    func lostBatch(seed: UInt64) throws {
        let storage = SimulatedLogStorage(seed: seed)
        let log = try openLog(storage)
        try append(entries([10]), to: log.writer)
        storage.fail(.sync, errorNumber: EIO)
        #expect(throws: LogError.self) { try append(entries([20], after: 1), to: log.writer) }
        storage.kill()
        let next = try openLog(storage)
        let commit = UInt64(next.entries.count)
        try append(entries([30], after: commit), to: next.writer)
        storage.restart()
        let last = try openLog(storage)
        #expect(last.entries == next.entries + entries([30], after: commit))
    }

    @Test("keeps the folder that a start before it had no time to sync", arguments: seeds)
    func lostName(seed: UInt64) throws {
        let storage = SimulatedLogStorage(seed: seed)
        storage.fail(.sync, errorNumber: EIO, afterCalls: 3)
        #expect(throws: LogError.disk(DiskFailure(.sync, "simulated/", errorNumber: EIO))) {
            try openLog(storage)
        }
        storage.kill()
        let log = try openLog(storage)
        try append(entries([10]), to: log.writer)
        storage.restart()
        #expect(try openLog(storage).entries == entries([10]))
    }

    @Test("removes no checkpoint by halves", arguments: seeds)
    func lostRemoval(seed: UInt64) throws {
        let storage = SimulatedLogStorage(seed: seed)
        let log = try openLog(storage)
        for commit in 0..<3 {
            try append(entries([10], after: UInt64(commit)), to: log.writer)
            if commit < 2 { try checkpoint([[1]], log) }
        }
        // Data, manifest, their folder, the log, the name of the new one, that of the old one.
        storage.fail(.sync, errorNumber: EIO, afterCalls: 6)
        #expect(
            throws: LogError.disk(DiskFailure(.sync, "simulated/checkpoints", errorNumber: EIO))
        ) {
            try checkpoint([[1]], log)
        }
        storage.kill()
        let next = try openLog(storage)
        #expect(next.report.removedLeftovers.count == 1)
        storage.restart()
        let verification = try LogVerification.run(storage)
        #expect(verification.isSound, "\(verification)")
    }
}
