import JSONTree
import SimulatedStorage
import StateRecovery
import Testing
import WriteAheadLog

@testable import DatabaseCore

@Suite("One bad checkpoint is not the end")
struct OlderCheckpointTests {
    /// Two checkpoints, the newer as `change` leaves it, and commits after each.
    private func folder(
        segmentByteCount: Int = 4096,
        _ change: (inout [UInt8]) -> Void
    ) throws -> Folder {
        let folder = try Folder(segmentByteCount: segmentByteCount)
        try folder.put((0..<60).map { "k\(99 - $0)" })
        try folder.checkpoint()
        try folder.put((0..<60).map { "a\(99 - $0)" })
        try folder.checkpoint(readBackBy: { _ in }, change)
        try folder.put(["last"])
        return folder
    }

    @Test("the older one and its log give the same state, and the newer is put aside")
    func fallsBack() throws {
        let folder = try folder(spoilFirstText)
        let root = folder.root
        try folder.restart()
        #expect(folder.root == root)
        let report = folder.state.report
        #expect(report.damagedCheckpoints.count == 1)
        let fault = try #require(report.damagedCheckpoints.first).fault
        guard case .undecodable = fault else {
            Issue.record("not undecodable but \(fault)")
            return
        }
        #expect(folder.storage.files.contains { $0.contains(".damaged/") })
        // Again two that can be read, and nothing is lost on the way.
        try folder.checkpoint()
        try folder.put(["more"])
        try folder.checkpoint()
        let later = folder.root
        try folder.restart()
        #expect(folder.root == later)
        #expect(folder.state.report.damagedCheckpoints.isEmpty)
    }

    @Test("one that another version may have written is refused at once, and left where it is")
    func otherVersion() throws {
        let folder = try folder { $0[4] = 3 }
        let error = #expect(throws: LogError.self) { try folder.restart() }
        guard case .refused(let refusal, _, _) = error else {
            Issue.record("not refused but \(String(describing: error))")
            return
        }
        #expect(refusal.isOfAnotherVersion)
        #expect(!folder.storage.files.contains { $0.contains(".damaged/") })
    }

    @Test("a log that ends before a checkpoint that cannot be read is damaged")
    func endsEarly() throws {
        // One segment, whose last quarter became zeros: nothing else than the checkpoint shows that.
        let folder = try folder(segmentByteCount: 1 << 20, spoilFirstText)
        let path = try #require(folder.storage.files.first { $0.hasSuffix(".log") })
        var bytes = try #require(folder.storage.content(path))
        let used = try #require(bytes.lastIndex { $0 != 0 })
        for index in used * 3 / 4..<bytes.count { bytes[index] = 0 }
        folder.storage.overwrite(path, with: bytes)
        let error = #expect(throws: LogError.self) { try folder.crash() }
        guard case .damage(let damage) = error, case .endsEarly(let last, let known) = damage.fault
        else {
            Issue.record("no early end but \(String(describing: error))")
            return
        }
        #expect(last > LogPosition(60) && known == LogPosition(120))
    }

    @Test("verification names what does not decode: checkpoints and records")
    func verification() throws {
        let folder = try folder(spoilFirstText)
        try folder.appendNonsense()
        try folder.close()
        let found = try LogVerification.run(folder.storage, content: StateChecker().take)
        #expect(found.faultCount == 2)
        #expect(found.faults.allSatisfy { if case .undecodable = $0.fault { true } else { false } })
        #expect(found.faults.first?.file.hasSuffix("/data") == true)
        #expect(found.faults.last?.file.hasSuffix(".log") == true)
        #expect(found.intactCheckpoints.count == 1)
    }

    @Test("a salvage leaves out what does not decode, says so, and what it wrote starts")
    func salvage() throws {
        let folder = try folder(spoilFirstText)
        let root = folder.root
        try folder.appendNonsense()
        folder.state.engine.skip(Folder.database, through: CommitNumber(122))
        try folder.put(["after"])
        let after = folder.root
        try folder.close()
        #expect(throws: LogError.self) { try folder.crash() }
        let target = SimulatedLogStorage(seed: 8)
        let salvaged = try LogSalvage.run(
            from: folder.storage,
            to: target,
            content: StateChecker().take,
        )
        #expect(!salvaged.isComplete)
        #expect(salvaged.lostCommits.map(\.from) == [122])
        #expect(salvaged.faults.count == 2)
        #expect(try LogVerification.run(target, content: StateChecker().take).isSound)
        let started = try Folder(target)
        #expect(started.root == after && after != root)
        try started.restart()
        #expect(started.root == after)
    }
}
