import Foundation
import Glibc
import SimulatedStorage
import TestSupport
import Testing

@testable import WriteAheadLog

/// What became of a folder whose newest segment was changed.
private enum Outcome: Equatable {
    case refused
    /// It opened with so many records; `isTorn` when it said that it cut something.
    case opened(count: Int, isTorn: Bool)

    init(_ files: [String: [UInt8]], of written: [Entry]) throws {
        let storage = try SimulatedLogStorage.holding(files)
        let verification = try LogVerification.run(storage, readByteCount: 256)
        switch try tryOpening(storage) {
        case .success(let log):
            #expect(log.entries == Array(written.prefix(log.entries.count)))
            #expect(verification.isSound)
            self = .opened(count: log.entries.count, isTorn: log.report.torn != nil)
        case .failure(.damage):
            #expect(!verification.isSound)
            #expect(verification.exitStatus == 1)
            #expect(storage.copyFiles() == files, "a refused start changes nothing")
            self = .refused
        case .failure(let other): throw other
        }
    }
}

/// A log of four batches in one segment, and where its records begin and end.
private struct SmallLog {
    static let batches = [2, 3, 1, 3]
    static let written = entries([5, 0, 40, 100, 8, 30, 1, 60, 2])
    /// Where each record begins, and where the last one ends.
    static let bounds = written.reduce(into: [64]) { bounds, entry in
        let record = RecordHeader.recordByteCount(
            name: entry.database.utf8.count,
            payload: entry.payload.count,
        )
        bounds.append((bounds.last ?? 0) + record)
    }
    static var end: Int { bounds.last ?? 0 }
    /// Records before the last batch.
    static let provenCount = 6

    let files: [String: [UInt8]]
    var content: [UInt8] { files[segmentNames[0]] ?? [] }

    enum End: CaseIterable {
        /// Closed in good order.
        case closed
        /// Killed while no batch waited, each batch sealed until the next one.
        case sealed
        /// As the power left it right after the last sync.
        case unsealed
    }

    init(_ end: End) throws {
        let storage = SimulatedLogStorage(seed: 80)
        let log = try openLog(storage)
        var next = 0
        for count in Self.batches {
            try append(Array(Self.written[next..<next + count]), to: log.writer)
            next += count
            if end != .unsealed || next < Self.written.count { try log.writer.seal() }
        }
        if end == .closed { try log.writer.close() }
        var files = storage.copyFiles()
        files["log/spare"] = nil
        self.files = files
    }

    func changed(_ change: (inout [UInt8]) -> Void) -> [String: [UInt8]] {
        var files = files
        var content = content
        change(&content)
        files[segmentNames[0]] = content
        return files
    }
}

@Suite("the end of a log")
struct LogEndTests {
    @Test("left alone it opens with everything", arguments: SmallLog.End.allCases)
    fileprivate func untouched(end: SmallLog.End) throws {
        let log = try SmallLog(end)
        let whole = Outcome.opened(count: SmallLog.written.count, isTorn: false)
        #expect(try Outcome(log.files, of: SmallLog.written) == whole)
        let storage = try SimulatedLogStorage.holding(log.files)
        let found = try LogVerification.run(storage)
        #expect(found.closedAt == (end == .closed ? LogPosition(9) : nil))
        #expect(found.description.contains("closed in good order at record 9") == (end == .closed))
    }

    @Test("cut to any length it is refused, unless the cut took only zeros behind a seal")
    func everyCut() throws {
        for end in SmallLog.End.allCases {
            let log = try SmallLog(end)
            #expect(log.content.count == (end == .closed ? SmallLog.end + sealByteCount : 1024))
            for count in 0..<log.content.count {
                let outcome = try Outcome(
                    log.changed { $0.removeSubrange(count...) },
                    of: SmallLog.written
                )
                let isSealed = end == .sealed && count >= SmallLog.end + sealByteCount
                let wanted = Outcome.opened(count: SmallLog.written.count, isTorn: false)
                #expect(outcome == (isSealed ? wanted : .refused), "\(end) cut at \(count)")
            }
        }
    }

    @Test("of a closed log zeros from any byte on, and any flipped byte, are refused")
    func closed() throws {
        let log = try SmallLog(.closed)
        for place in log.content.indices {
            for mask in [UInt8(1), 0x80, 0xFF] {
                let flipped = log.changed { $0[place] ^= mask }
                #expect(try Outcome(flipped, of: SmallLog.written) == .refused, "byte \(place)")
            }
            let cleared = log.changed { content in
                for byte in place..<content.count { content[byte] = 0 }
            }
            let isChanged = cleared[segmentNames[0]] != log.content
            let outcome = try Outcome(cleared, of: SmallLog.written)
            #expect((outcome == .refused) == isChanged, "zeros from byte \(place)")
        }
        let file = try #require(log.files["log/closed"])
        for place in file.indices {
            var files = log.files
            files["log/closed"]?[place] ^= 1
            let outcome = try Outcome(files, of: SmallLog.written)
            #expect(outcome == .refused, "log/closed byte \(place)")
        }
    }

    @Test("a closed log without its newest segment is refused and counts what is lost")
    func removedSegment() throws {
        let log = try SmallLog(.closed)
        var files = log.files
        files[segmentNames[0]] = nil
        #expect(try Outcome(files, of: SmallLog.written) == .refused)
        let target = SimulatedLogStorage(seed: 81)
        let storage = try SimulatedLogStorage.holding(files)
        let salvage = try LogSalvage.run(from: storage, to: target, options: smallOptions)
        #expect(salvage.lostRecords.map { "\($0.from)-\($0.through)" } == ["1-9"])
        #expect(!salvage.isComplete)
        #expect(!salvage.mayHaveLostEnd)
    }

    @Test("a closed log whose end is cut counts what is lost")
    func salvagedCut() throws {
        let log = try SmallLog(.closed)
        for (count, lost) in [(SmallLog.bounds[7], "8-9"), (SmallLog.bounds[7] + 60, "8-9")] {
            let storage = try SimulatedLogStorage.holding(
                log.changed { $0.removeSubrange(count...) }
            )
            let target = SimulatedLogStorage(seed: 82)
            let salvage = try LogSalvage.run(from: storage, to: target, options: smallOptions)
            #expect(salvage.lostRecords.map { "\($0.from)-\($0.through)" } == [lost])
            #expect(salvage.copiedCount == 7)
            #expect(!salvage.isComplete)
        }
    }

    @Test("without log/closed the seal of a closed log still proves it")
    func withoutClosedEnd() throws {
        let log = try SmallLog(.closed)
        var files = log.files
        files["log/closed"] = nil
        let whole = Outcome.opened(count: SmallLog.written.count, isTorn: false)
        #expect(try Outcome(files, of: SmallLog.written) == whole)
        for place in log.content.indices {
            files[segmentNames[0]] = log.content
            files[segmentNames[0]]?[place] ^= 1
            #expect(try Outcome(files, of: SmallLog.written) == .refused, "byte \(place)")
        }
    }

    @Test("after a kill while no batch waited no flipped byte loses a record")
    func sealed() throws {
        let log = try SmallLog(.sealed)
        for place in log.content.indices {
            let outcome = try Outcome(log.changed { $0[place] ^= 0x11 }, of: SmallLog.written)
            // From the seal on there is nothing that can be lost.
            let wanted = Outcome.opened(count: SmallLog.written.count, isTorn: true)
            #expect(outcome == (place < SmallLog.end ? .refused : wanted), "byte \(place)")
        }
    }

    @Test("without a seal a flipped byte is refused, or loses records of the last batch alone")
    func unsealed() throws {
        let log = try SmallLog(.unsealed)
        let lastBatch = SmallLog.bounds[SmallLog.provenCount]
        for place in log.content.indices {
            let outcome = try Outcome(log.changed { $0[place] ^= 0x11 }, of: SmallLog.written)
            let intact = SmallLog.bounds.dropFirst().count { $0 <= place }
            let wanted = Outcome.opened(count: intact, isTorn: true)
            #expect(outcome == (place < lastBatch ? .refused : wanted), "byte \(place)")
        }
    }

    @Test("a seal is one small write, once, and the next batch leaves nothing of it")
    func sealCost() throws {
        let plain = SimulatedLogStorage(seed: 83)
        let sealing = SimulatedLogStorage(seed: 83)
        let first = try openLog(plain)
        let second = try openLog(sealing)
        for commit in 0..<4 as Range<UInt64> {
            for log in [first, second] { try append(entries([1], after: commit), to: log.writer) }
            let before = sealing.callCount
            try second.writer.seal()
            try second.writer.seal()
            #expect(sealing.callCount - before == 1)
        }
        for log in [first, second] { try append(entries([1], after: 4), to: log.writer) }
        #expect(plain.copyFiles() == sealing.copyFiles())
    }

    @Test("nothing is sealed that is not durable")
    func sealNeedsSync() throws {
        var options = smallOptions
        options.syncPolicy = .onRequest
        let storage = SimulatedLogStorage(seed: 84)
        let log = try openLog(storage, options)
        try append(entries([1]), to: log.writer)
        let before = storage.callCount
        try log.writer.seal()
        #expect(storage.callCount == before)
        try log.writer.sync()
        try log.writer.seal()
        #expect(storage.callCount == before + 2)
    }

    @Test("a batch that fills its segment is proven by the next one")
    func sealOfFullSegment() throws {
        let storage = SimulatedLogStorage(seed: 85)
        let log = try openLog(storage)
        try append(entries([3000]), to: log.writer)
        try log.writer.maintain()
        try log.writer.seal()
        var files = storage.copyFiles()
        #expect(files[segmentNames[1]] != nil)
        files[segmentNames[0]]?[2000] ^= 1
        #expect(try Outcome(files, of: entries([3000])) == .refused)
        try append(entries([5], after: 1), to: log.writer)
        log.folder.close()
        #expect(try openLog(storage).entries == entries([3000]) + entries([5], after: 1))
    }

    @Test("a crash at any call of a stop, of the next start or its first append is no damage")
    func crashAtEveryCall() throws {
        let written = entries([5, 40]) + entries([7], after: 2)
        var openedCount = 0
        for call in 1...60 {
            for seed in TestSeed.seeds(10) {
                let storage = SimulatedLogStorage(seed: seed)
                let log = try openLog(storage)
                try append(Array(written[..<2]), to: log.writer)
                try log.writer.seal()
                storage.cutPower(afterCalls: call)
                do {
                    try log.writer.close()
                    log.folder.close()
                    let again = try openLog(storage)
                    try append(Array(written[2...]), to: again.writer)
                    openedCount += 1
                } catch is LogError {}
                storage.restart()
                let last = try openLog(storage)
                let count = last.entries.count
                #expect(last.entries == Array(written[..<count]), "call \(call) seed \(seed)")
                #expect(count >= 2, "call \(call) seed \(seed)")
                #expect(last.report.torn == nil || count == 2, "call \(call) seed \(seed)")
                try last.writer.close()
                last.folder.close()
                let found = try LogVerification.run(storage)
                #expect(found.isSound, "call \(call) seed \(seed)")
                #expect(found.closedAt == LogPosition(UInt64(count)), "call \(call) seed \(seed)")
            }
        }
        #expect(openedCount > 100, "the last calls are behind the append")
    }

    @Test("the newest segment missing after a crash shows in the one before it")
    func removedAfterTurn() throws {
        let storage = SimulatedLogStorage(seed: 86)
        let log = try openLog(storage)
        for commit in 0..<3 { try append(entries([800], after: UInt64(commit)), to: log.writer) }
        var files = storage.copyFiles()
        files["log/spare"] = nil
        files[segmentNames[2]] = nil
        #expect(try Outcome(files, of: entries([800]) + entries([800], after: 1)) == .refused)
    }

    @Test("a start and a stop without a write leave a closed log")
    func idle() throws {
        let log = try SmallLog(.unsealed)
        let storage = try SimulatedLogStorage.holding(log.files)
        for _ in 0..<2 {
            let again = try openLog(storage)
            try again.writer.close()
            again.folder.close()
            #expect(try LogVerification.run(storage).closedAt == LogPosition(9))
        }
        #expect(storage.content(segmentNames[0])?.count == SmallLog.end + sealByteCount)
    }
}

@Suite("folders of servers before log/closed")
struct OlderFolderTests {
    private static func files(_ name: String) throws -> [String: [UInt8]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Specs/older-folders/\(name)")
        var files: [String: [UInt8]] = [:]
        let found = FileManager.default.enumerator(atPath: folder.path)
        while let path = found?.nextObject() as? String {
            let url = folder.appending(path: path)
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
            if !isFolder.boolValue { files[path] = Array(try Data(contentsOf: url)) }
        }
        return files
    }

    /// Segments of 5 commits in all; what was cut off are the zeros behind the records of a killed
    /// server, which say nothing.
    @Test(
        "they open with everything, go on, and are closed in the new way",
        arguments: ["closed", "crashed", "twice"]
    )
    func open(name: String) throws {
        let files = try Self.files(name)
        #expect(files.count == (name == "twice" ? 3 : 2))
        let storage = try SimulatedLogStorage.holding(files)
        #expect(try LogVerification.run(storage).isSound)
        try storage.createFolder("checkpoints")
        let idle = try openLog(storage)
        #expect(idle.entries.map(\.commit) == [1, 2, 3, 4, 5])
        #expect(idle.report.torn == nil)
        try idle.writer.close()
        idle.folder.close()
        #expect(try LogVerification.run(storage).closedAt == LogPosition(5))
        let log = try openLog(storage)
        try append([Entry("demo", 6, [1])], to: log.writer)
        log.folder.close()
        #expect(storage.content("log/closed") == nil)
        #expect(try openLog(storage).entries.map(\.commit) == [1, 2, 3, 4, 5, 6])
    }

    @Test("the end of a killed one is torn where it was torn before, and nowhere else")
    func crashed() throws {
        let files = try Self.files("crashed")
        let size = try #require(files[segmentNames[0]]?.count)
        for place in 64..<size {
            var changed = files
            changed[segmentNames[0]]?[place] ^= 1
            let storage = try SimulatedLogStorage.holding(changed)
            switch try tryOpening(storage) {
            case .success(let log):
                #expect(log.entries.map(\.commit) == [1, 2, 3, 4])
                #expect(log.report.torn?.from == LogPosition(5))
            case .failure(.damage): #expect(place < size - 80)
            case .failure(let other): throw other
            }
        }
    }
}

@Suite("A last segment without a record")
struct EmptyLastSegmentTests {
    @Test(
        "gives its name to the next run's, whatever a power cut takes back",
        arguments: TestSeed.seeds(40)
    )
    func takenOver(seed: UInt64) throws {
        let storage = SimulatedLogStorage(seed: seed)
        let first = try openLog(storage)
        // Fills its segment, so that the seal begins the next one.
        try append(entries([smallOptions.segmentByteCount]), to: first.writer)
        try first.writer.maintain()
        try first.writer.seal()
        try first.writer.close()
        first.folder.close()
        #expect(storage.files.filter { $0.hasSuffix(".log") }.count == 2)
        let second = try openLog(storage)
        try append(entries([8], after: 1), to: second.writer)
        second.folder.close()
        storage.restart()
        #expect(try openLog(storage).entries.map(\.commit) == [1, 2])
    }
}
