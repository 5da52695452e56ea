import Foundation
import SimulatedStorage
import TestSupport
import Testing
import WriteAheadLog

/// A run through all that a log does, on three disks: the log's own, that of a salvage, that of a restore.
private struct WholeRun {
    var twin: LogTwin
    let salvaged: SimulatedLogStorage
    let restored: SimulatedLogStorage
    /// The errors of the run in order, those of failed checkpoints included.
    var reported: [LogError] = []
    /// Draws sizes and nothing else, so that all runs of a seed make the same calls.
    private var random: SplitMix64

    init(seed: UInt64, fault: UInt64) {
        twin = LogTwin(SimulatedLogStorage(seed: seed &* 0x9E37 &+ fault))
        salvaged = SimulatedLogStorage(seed: seed &+ fault &+ 1)
        restored = SimulatedLogStorage(seed: seed &+ fault &+ 2)
        random = SplitMix64(state: seed)
    }

    func disk(_ name: String) -> SimulatedLogStorage {
        switch name {
        case "salvaged": salvaged
        case "restored": restored
        default: twin.storage
        }
    }

    /// Ends at the first error that ends a process.
    mutating func run() {
        do throws(LogError) {
            try firstLife()
            try afterClose()
            try afterKill()
            try afterPowerCut()
            try salvage()
            try restore()
        } catch {
            reported.append(error)
        }
    }

    /// A first start, segments, checkpoints that drop others and what they cover, an orderly end.
    private mutating func firstLife() throws(LogError) {
        let log = try twin.open()
        for _ in 0..<4 {
            for _ in 0..<3 { try append(to: log) }
            try log.writer.seal()
            try log.writer.maintain()
            do throws(LogError) { try twin.takeCheckpoint(log) } catch {
                reported.append(error)
            }
        }
        try append(to: log)
        try log.writer.close()
        log.folder.close()
    }

    /// A life without a commit, then one that is killed.
    private mutating func afterClose() throws(LogError) {
        let unused = try twin.open()
        try unused.writer.close()
        unused.folder.close()
        let log = try twin.open()
        try append(to: log)
        twin.storage.kill()
    }

    /// Ends with a batch that a power cut tears.
    private mutating func afterKill() throws(LogError) {
        let log = try twin.open()
        try append(to: log)
        let batch = try batch()
        twin.storage.cutPower(afterCalls: 1)
        do throws(LogError) {
            try twin.append(batch, to: log)
            Issue.record("the power was cut")
        } catch {
            twin.storage.restart()
        }
    }

    private mutating func afterPowerCut() throws(LogError) {
        let log = try twin.open()
        try append(to: log)
        log.folder.close()
    }

    /// Two to four commits, some of them in pieces.
    private mutating func batch() throws(LogError) -> [LogRecord] {
        var batch: [LogRecord] = []
        for index in 0..<2 + Int(random.next(below: 3)) {
            let size = Int(random.next(below: 200))
            let filling = UInt8(truncatingIfNeeded: random.next())
            let payload = [UInt8](repeating: filling, count: size)
            let pieces = index == 1 ? 70 : nil
            batch.append(try twin.record("d\(index % 2)", payload, piecesOf: pieces))
        }
        return batch
    }

    private mutating func append(to log: Recovered) throws(LogError) {
        try twin.append(try batch(), to: log)
    }

    private func salvage() throws(LogError) {
        let found = try LogSalvage.run(from: twin.storage, to: salvaged, options: twin.options)
        #expect(found.isComplete, "\(found)")
    }

    /// Restores what a backup at the end of the log would hold.
    private func restore() throws(LogError) {
        let position = LogPosition(UInt64(twin.attempted.count))
        let chunks = LogTwin.chunks(at: position)
        var heads: [LogHead] = []
        for name in ["d0", "d1"] {
            let commit = UInt64(twin.attempted.count { $0.database == name })
            heads.append(LogHead(database: try LogDatabaseName(name), commit: commit))
        }
        let header = ArchiveHeader(id: 1, time: 2, position: position)
        var archive = try ArchiveWriter(header, heads: heads)
        var bytes: [UInt8] = []
        archive.appendHeader(to: &bytes)
        for chunk in chunks where !chunk.isEmpty { archive.append(chunk[...], to: &bytes) }
        archive.appendTrailer(to: &bytes)
        var info: CheckpointInfo?
        var reader = ArchiveReader()
        _ = bytes.withUnsafeBytes { bytes in
            reader.feed(bytes) { if case .trailer(let found) = $0 { info = found } }
        }
        guard let info else { preconditionFailure("a whole archive has a trailer") }
        let restore = try ArchiveRestore(to: restored, info, options: twin.options)
        for chunk in chunks { try restore.write(chunk) }
        try restore.finish(readBackBy: { _ in })
    }

    // MARK: - Afterwards

    /// The disk works again: the log must hold what was acknowledged, take more, and hold that over a power cut.
    mutating func checkRecovery(afterPowerCut: Bool) throws {
        for disk in [twin.storage, salvaged, restored] {
            disk.cancelFailures()
            if afterPowerCut { disk.restart() } else { disk.kill() }
        }
        var log = try twin.open()
        try append(to: log)
        twin.storage.restart()
        log = try twin.open()
        try append(to: log)
        try log.writer.close()
        log.folder.close()
        let verification = try LogVerification.run(twin.storage)
        #expect(verification.isSound, "\(verification)")
        try checkCopies()
    }

    /// Copies that were finished hold the log. Of others a restore leaves nothing, and a salvage a beginning of the
    /// log or what no server opens.
    private func checkCopies() throws {
        if reported.isEmpty {
            let log = try openLog(restored, twin.options)
            twin.check(log)
            #expect(log.report.position > .start)
            log.folder.close()
        } else {
            try ArchiveRestore.removeLeftovers(restored)
            #expect(restored.files == [])
        }
        guard salvaged.content("FORMAT") != nil else { return }
        switch try tryOpening(salvaged) {
        case .success(let log): twin.check(log)
        case .failure(let error): #expect(!reported.isEmpty, "\(error)")
        }
    }
}

/// An operation of the disk on a kind of file, as `sync log/N.log`.
private func site(_ failure: DiskFailure) -> String {
    var path = failure.path.dropFirst("simulated/".count)[...]
    while let digits = path.firstRange(of: /[0-9]{20}/) { path.replaceSubrange(digits, with: "N") }
    return "\(failure.operation.rawValue) \(path.isEmpty ? "." : path)"
}

/// The error numbers that a call may fail with, by the round of the loop; nil behind the last.
@Sendable private func errorNumber(_ operation: DiskFailure.Operation, _ kind: Int) -> Int32? {
    let kinds: [Int32] =
        switch operation {
        case .create: [EIO, ENOSPC, EMFILE]
        case .createFolder, .write, .preallocate, .rename, .sync: [EIO, ENOSPC]
        case .open, .list: [EIO, EMFILE]
        case .lock: [ENOLCK, EMFILE]
        case .read, .truncate, .remove, .measureFreeSpace, .link, .status, .protect: [EIO]
        }
    return kind < kinds.count ? kinds[kind] : nil
}

/// Whether these errors, of one run, are those of the one failure that it met.
private func isReported(_ met: DiskFailure, by reported: [LogError]) -> Bool {
    if met.errorNumber == ENOSPC, met.path.hasSuffix("log/spare") {
        // Without room for the next segment the log goes on, until it needs it.
        let full = DiskFailure(.preallocate, met.path, errorNumber: ENOSPC)
        return [[], [.disk(met)], [.disk(full)]].contains(reported)
    }
    // The log's own file reports what the sync of a checkpoint met.
    return reported.first == .disk(met)
        && reported.dropFirst().allSatisfy {
            $0 == .disk(DiskFailure(.sync, met.path, errorNumber: EIO))
        }
}

@Suite("every call fails once")
struct EveryCallTests {
    /// The sites that a run must reach, a line each; `UPDATE_SPECS=1` writes them anew, for review.
    private static let specs = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Specs/every-call")

    @Test(
        "a run in which any one call fails says so, and its log recovers",
        arguments: ["log", "salvaged", "restored"]
    )
    func everyCall(disk: String) throws {
        var reached: Set<String> = []
        for seed in TestSeed.seeds(TestSeed.rounds == nil ? 1 : 20) {
            var call = 0
            while try everyKind(seed, disk, call: call + 1, &reached) { call += 1 }
            #expect(call > 20, "seed \(seed)")
        }
        let file = Self.specs.appending(path: "\(disk).txt")
        let found = reached.sorted().map { "\($0)\n" }.joined()
        if ProcessInfo.processInfo.environment["UPDATE_SPECS"] == "1" {
            try Data(found.utf8).write(to: file)
        }
        #expect(found == String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    /// Lets one call fail in each of the ways that its operation can; returns whether a run has so many calls.
    private func everyKind(
        _ seed: UInt64,
        _ disk: String,
        call: Int,
        _ reached: inout Set<String>
    ) throws -> Bool {
        for kind in 0..<3 {
            var run = WholeRun(seed: seed, fault: UInt64(call * 3 + kind))
            let storage = run.disk(disk)
            storage.failCall(call) { errorNumber($0, kind) }
            run.run()
            guard let met = storage.metFailure else {
                // No such kind, a call during the power cut, or none at all.
                #expect(run.reported.isEmpty, "seed \(seed), call \(call): \(run.reported)")
                if storage.callCount < call { return false }
                continue
            }
            reached.insert(site(met))
            let context = "seed \(seed), call \(call) of \(disk): \(met)"
            #expect(isReported(met, by: run.reported), "\(context): \(run.reported)")
            // Another half of the calls with the next seed.
            let cutsPower = (UInt64(call + kind) + seed) % 2 == 0
            do { try run.checkRecovery(afterPowerCut: cutsPower) } catch {
                Issue.record("\(context): \(error)")
            }
        }
        return true
    }
}
