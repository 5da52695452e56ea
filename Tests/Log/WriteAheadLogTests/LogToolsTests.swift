import SimulatedStorage
import Testing
import WriteAheadLog

@Suite("inspect, verify and salvage")
struct LogToolsTests {
    @Test("inspect lists checkpoints, segments, records and heads without changing anything")
    func inspect() throws {
        let sample = try SampleFolder()
        let storage = try SimulatedLogStorage.holding(sample.files)
        var listed: [LogInspection.Record] = []
        let inspection = try LogInspection.run(storage, readByteCount: 256) { listed.append($0) }
        #expect(storage.copyFiles() == sample.files)
        #expect(inspection.faultCount == 0)
        #expect(inspection.isInUse == false)
        #expect(inspection.checkpoints.count == 2)
        let first = try #require(inspection.segments.first)
        let skipped = Int(first.first.value) - 1
        #expect(listed.count == sample.entries.count - skipped)
        #expect(listed.map(\.commit) == sample.entries.dropFirst(skipped).map(\.commit))
        #expect(listed.map { Int($0.position.value) } == Array(skipped + 1...sample.entries.count))
        #expect(inspection.segments.map(\.recordCount).reduce(0, +) == UInt64(listed.count))
        #expect(inspection.segments.last?.byteCount == 1024)
        #expect(inspection.heads.map { "\($0.database)\($0.commit)" } == ["a7", "b6"])
        let text = inspection.description
        #expect(text.contains("database 'a' is at commit 7"))
        #expect(text.contains("checkpoint at position 8"))
        #expect(listed.first?.description.contains("bytes") == true)
    }

    @Test("inspect and verify say when a server holds the folder; salvage refuses")
    func inUse() throws {
        let storage = SimulatedLogStorage(seed: 60)
        let log = try openLog(storage)
        try append(entries([1]), to: log.writer)
        #expect(try LogInspection.run(storage).isInUse)
        #expect(try LogVerification.run(storage).notes.first?.contains("server") == true)
        #expect(throws: LogError.inUse(path: "simulated", holder: 1)) {
            try LogSalvage.run(from: storage, to: SimulatedLogStorage(seed: 61))
        }
        #expect(throws: LogError.inUse(path: "simulated", holder: 1)) { try openLog(storage) }
    }

    @Test("a folder that is none is said to be none")
    func noFolder() throws {
        let storage = SimulatedLogStorage(seed: 62)
        #expect(throws: LogError.notADataFolder(path: "simulated")) {
            try LogInspection.run(storage)
        }
        #expect(throws: LogError.notADataFolder(path: "simulated")) {
            try LogVerification.run(storage)
        }
        #expect(throws: LogError.notADataFolder(path: "simulated")) {
            try LogSalvage.run(from: storage, to: SimulatedLogStorage(seed: 63))
        }
    }

    @Test("verify finds all faults at once, not only the first")
    func verifyAll() throws {
        let sample = try SampleFolder()
        var files = sample.files
        let segments = files.keys.filter { $0.hasSuffix(".log") }.sorted()
        files["checkpoints/00000000000000000008/data"]?[20] ^= 1
        files[segments[1]]?[70] ^= 1
        files[segments[2]]?[8] ^= 1
        let storage = try SimulatedLogStorage.holding(files)
        let found = try LogVerification.run(storage, readByteCount: 256)
        #expect(found.faultCount == 3)
        #expect(
            found.faults.map(\.file)
                == ["checkpoints/00000000000000000008/data", segments[1], segments[2]]
        )
        #expect(found.exitStatus == 1)
        #expect(found.description.contains("3 faults"))
        #expect(storage.copyFiles() == files)
    }

    @Test("verify takes a torn tail for what it is: a note, not a fault")
    func verifyTornTail() throws {
        var files = try SampleFolder().files
        let last = try #require(files.keys.filter { $0.hasSuffix(".log") }.max())
        let used = try #require(files[last]?.lastIndex { $0 != 0 })
        files[last]?[used] ^= 0xFF
        let found = try LogVerification.run(try SimulatedLogStorage.holding(files))
        #expect(found.isSound)
        #expect(found.exitStatus == 0)
        #expect(found.notes.count == 1)
    }

    @Test("a salvage of a sound folder copies everything", arguments: [true, false])
    func salvageSound(withCheckpoints: Bool) throws {
        let sample = try SampleFolder()
        let source = SimulatedLogStorage(seed: 64)
        let log = try openLog(source)
        try append(sample.entries, to: log.writer)
        if withCheckpoints { try checkpoint([[8]], log) }
        try append(entries([10], of: "z"), to: log.writer)
        log.folder.close()
        let target = SimulatedLogStorage(seed: 65)
        let salvage = try LogSalvage.run(from: source, to: target, options: smallOptions)
        #expect(salvage.isComplete)
        #expect(salvage.faults == [])
        #expect(salvage.copiedCount == (withCheckpoints ? 1 : UInt64(sample.entries.count) + 1))
        let copy = try openLog(target)
        let original = try openLog(source)
        #expect(copy.entries == original.entries)
        #expect(copy.chunks == original.chunks)
        #expect(copy.writer.position == original.writer.position)
        #expect(copy.writer.logHeads == original.writer.logHeads)
        // The copy takes new commits where the original would.
        try append(entries([10], of: "z", after: 1), to: copy.writer)
        copy.folder.close()
        #expect(try LogVerification.run(target).isSound)
    }

    @Test("a salvage recovers everything outside the damage and names what is lost")
    func salvageDamage() throws {
        let source = SimulatedLogStorage(seed: 66)
        let log = try openLog(source)
        let written =
            entries([100, 100], of: "a") + entries([100, 100, 100], of: "b")
            + entries([700, 700], of: "a", after: 2) + entries([10], of: "b", after: 3)
        for entry in written { try append([entry], to: log.writer) }
        var files = source.copyFiles()
        let second = 64 + 152
        files[segmentNames[0]]?[second + 100] ^= 1  // the content of record 2
        files[segmentNames[0]]?[second + 152 + 9] ^= 1  // the header of record 3
        files[segmentNames[6]] = nil  // records 7 and 8
        let damaged = try SimulatedLogStorage.holding(files)
        #expect(throws: LogError.self) { try openLog(damaged) }
        let target = SimulatedLogStorage(seed: 67)
        let salvage = try LogSalvage.run(from: damaged, to: target, options: smallOptions)
        #expect(damaged.copyFiles() == files)
        #expect(salvage.lostRecords.map { "\($0.from)-\($0.through)" } == ["2-3"])
        #expect(salvage.lostRecordCount == 2)
        let lostCommits = salvage.lostCommits.map { "\($0.database) \($0.from)-\($0.through)" }
        #expect(lostCommits == ["b 1-1", "a 2-2"])
        // One hole is one fault: what follows an unreadable record is found by looking for it. That the
        // newest segment is gone shows in the one before: it was cut to its length, and has no seal.
        let size = UInt64(files[segmentNames[5]]?.count ?? 0)
        #expect(
            salvage.faults.map(\.fault) == [
                .recordBody(position: LogPosition(2), commit: 2),
                .cutShort(byteCount: size, known: 1024),
            ]
        )
        #expect(salvage.mayHaveLostEnd)
        #expect(!salvage.isComplete)
        #expect(salvage.description.contains("LOST: records 2 through 3"))
        let copy = try openLog(target)
        #expect(copy.entries == [written[0], written[3], written[4], written[5]])
        #expect(copy.writer.position == LogPosition(6))
        copy.folder.close()
        #expect(try LogVerification.run(target).isSound)
    }

    @Test("a record that stands there twice is a fault, and a salvage takes it once")
    func repeatedRecord() throws {
        let source = SimulatedLogStorage(seed: 70)
        let log = try openLog(source)
        let written = entries([100, 100, 100], of: "a")
        for entry in written { try append([entry], to: log.writer) }
        var files = source.copyFiles()
        let segment = try #require(files[segmentNames[0]])
        let second = 64 + 152..<64 + 2 * 152
        files[segmentNames[0]] = Array(
            (segment[..<second.upperBound] + segment[second] + segment[second.upperBound...])
                .prefix(segment.count)
        )
        let damaged = try SimulatedLogStorage.holding(files)
        let fault = LogDamage.Fault.repeatedRecord(found: LogPosition(2), expected: LogPosition(3))
        #expect(try LogVerification.run(damaged).faults.map(\.fault) == [fault])
        #expect(throws: LogError.self) { try openLog(damaged) }
        let target = SimulatedLogStorage(seed: 71)
        let salvage = try LogSalvage.run(from: damaged, to: target, options: smallOptions)
        #expect(salvage.copiedCount == 3)
        #expect(try openLog(target).entries == written)
    }

    @Test(
        "a record that stands over an earlier one costs a salvage that one, and no record between"
    )
    func misplacedRecord() throws {
        let source = SimulatedLogStorage(seed: 73)
        let log = try openLog(source)
        let written = entries([100, 100, 100, 100], of: "a")
        for entry in written { try append([entry], to: log.writer) }
        var files = source.copyFiles()
        let fourth = try #require(files[segmentNames[0]])[64 + 3 * 152..<64 + 4 * 152]
        files[segmentNames[0]]?.replaceSubrange(64..<64 + 152, with: fourth)
        let damaged = try SimulatedLogStorage.holding(files)
        let target = SimulatedLogStorage(seed: 74)
        let salvage = try LogSalvage.run(from: damaged, to: target, options: smallOptions)
        #expect(salvage.lostRecords.map { "\($0.from)-\($0.through)" } == ["1-1"])
        #expect(salvage.lostCommits.map { "\($0.from)-\($0.through)" } == ["1-1"])
        let fault = LogDamage.Fault.repeatedRecord(found: LogPosition(2), expected: LogPosition(5))
        #expect(salvage.faults.map(\.fault) == [fault])
        #expect(try openLog(target).entries == Array(written[1...]))
    }

    @Test(
        "damage in front of what an earlier salvage left out is lost too, and named with it",
        arguments: [1, 2]
    )
    func damageBeforeSkip(record: Int) throws {
        let source = SimulatedLogStorage(seed: 75)
        let log = try openLog(source)
        let written = entries([100, 100, 100, 100], of: "a") + entries([100], of: "b")
        for entry in written { try append([entry], to: log.writer) }
        var files = source.copyFiles()
        files[segmentNames[0]]?[64 + 2 * 152 + 100] ^= 1  // the content of record 3
        let first = SimulatedLogStorage(seed: 76)
        let salvage = try LogSalvage.run(
            from: try SimulatedLogStorage.holding(files),
            to: first,
            options: smallOptions
        )
        #expect(salvage.lostCommits.map { "\($0.from)-\($0.through)" } == ["3-3"])
        // Record 2 stands in front of the skip; behind record 1 there is an intact one.
        files = first.copyFiles()
        files[segmentNames[0]]?[64 + (record - 1) * 152 + 100] ^= 1
        let damaged = try SimulatedLogStorage.holding(files)
        let target = SimulatedLogStorage(seed: 77)
        let second = try LogSalvage.run(from: damaged, to: target, options: smallOptions)
        let lost = record == 2 ? ["2-3"] : ["1-1"]
        #expect(second.lostRecords.map { "\($0.from)-\($0.through)" } == lost)
        #expect(second.lostCommits.map { "\($0.from)-\($0.through)" } == lost)
        #expect(!second.isComplete)
        let kept = written.enumerated().filter { ![record - 1, 2].contains($0.offset) }
        #expect(try openLog(target).entries == kept.map(\.element))
    }

    @Test("behind a record of another place a salvage takes nothing of a batch that nothing proves")
    func misplacedInLastBatch() throws {
        let source = SimulatedLogStorage(seed: 77)
        let log = try openLog(source)
        let written = entries([100, 100, 100, 100, 100], of: "a")
        for batch in [written[..<1], written[1..<2], written[2...]] {
            try append(Array(batch), to: log.writer)
        }
        var files = source.copyFiles()
        let first = try #require(files[segmentNames[0]])[64..<64 + 152]
        files[segmentNames[0]]?.replaceSubrange(64 + 2 * 152..<64 + 3 * 152, with: first)
        let damaged = try SimulatedLogStorage.holding(files)
        let target = SimulatedLogStorage(seed: 78)
        let salvage = try LogSalvage.run(from: damaged, to: target, options: smallOptions)
        #expect(salvage.mayHaveLostEnd)
        #expect(try openLog(target).entries == Array(written[..<2]))
    }

    @Test("a segment that begins with the first bytes of another one keeps its records")
    func foreignHeader() throws {
        let source = SimulatedLogStorage(seed: 75)
        let log = try openLog(source)
        let written = entries([800, 800])
        for entry in written { try append([entry], to: log.writer) }
        var files = source.copyFiles()
        let header = try #require(files[segmentNames[1]])[..<64]
        files[segmentNames[0]]?.replaceSubrange(..<64, with: header)
        let damaged = try SimulatedLogStorage.holding(files)
        let target = SimulatedLogStorage(seed: 76)
        let salvage = try LogSalvage.run(from: damaged, to: target, options: smallOptions)
        #expect(salvage.faults.map(\.fault) == [.foreign])
        #expect(salvage.isComplete)
        #expect(try openLog(target).entries == written)
    }

    @Test("a salvage of a damaged last segment's header still finds its records")
    func salvageHeader() throws {
        let source = SimulatedLogStorage(seed: 68)
        let log = try openLog(source)
        try append(entries([10, 20]), to: log.writer)
        var files = source.copyFiles()
        files[segmentNames[0]]?[3] ^= 1
        files["FORMAT"]?[30] ^= 1
        let damaged = try SimulatedLogStorage.holding(files)
        #expect(throws: LogError.self) { try LogSalvage.run(from: damaged, to: source) }
        files["FORMAT"] = source.content("FORMAT")
        let target = SimulatedLogStorage(seed: 69)
        let readable = try SimulatedLogStorage.holding(files)
        let salvage = try LogSalvage.run(from: readable, to: target, options: smallOptions)
        #expect(salvage.copiedCount == 2)
        #expect(salvage.isComplete)
        #expect(try openLog(target).entries == entries([10, 20]))
    }

    @Test("a damaged FORMAT file is made good from the segments", arguments: [true, false])
    func salvageFormat(isMissing: Bool) throws {
        var files = try SampleFolder().files
        if isMissing { files["FORMAT"] = nil } else { files["FORMAT"]?[30] ^= 1 }
        let damaged = try SimulatedLogStorage.holding(files)
        #expect(throws: LogError.self) { try openLog(damaged) }
        let target = SimulatedLogStorage(seed: 70)
        let salvage = try LogSalvage.run(from: damaged, to: target, options: smallOptions)
        #expect(salvage.faults.map(\.file) == ["FORMAT"])
        let sample = try SampleFolder()
        #expect(sample.state(try openLog(target)) == sample.entries)
    }
}
