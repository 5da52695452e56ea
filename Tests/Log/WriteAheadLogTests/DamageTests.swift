import SimulatedStorage
import TestSupport
import Testing
import WriteAheadLog

/// A folder with two checkpoints and several segments, and what was written to it.
struct SampleFolder {
    let files: [String: [UInt8]]
    let entries: [Entry]
    /// Checkpoint positions.
    static let positions: [UInt64] = [4, 8]

    static func chunks(at position: UInt64) -> [[UInt8]] {
        [[UInt8(position)], [UInt8](repeating: 0xAB, count: 30)]
    }

    init() throws {
        let storage = SimulatedLogStorage(seed: 30)
        let log = try openLog(storage)
        var written: [Entry] = []
        func write(_ batch: [Entry]) throws {
            try WriteAheadLogTests.append(batch, to: log.writer)
            written += batch
        }
        try write(WriteAheadLogTests.entries([200, 100], of: "a"))
        try write(WriteAheadLogTests.entries([200, 300], of: "b"))
        try checkpoint(Self.chunks(at: 4), log)
        try write(WriteAheadLogTests.entries([300], of: "a", after: 2))
        try write(WriteAheadLogTests.entries([20, 20], of: "b", after: 2))
        try write(WriteAheadLogTests.entries([300], of: "a", after: 3))
        try checkpoint(Self.chunks(at: 8), log)
        try write(WriteAheadLogTests.entries([10], of: "a", after: 4))
        try write(WriteAheadLogTests.entries([600], of: "b", after: 4))
        try write(WriteAheadLogTests.entries([500], of: "b", after: 5))
        try write(WriteAheadLogTests.entries([11, 12], of: "a", after: 5))
        files = storage.copyFiles()
        entries = written
    }

    /// The whole state that a recovery gave: what its checkpoint stands for, and the records after.
    func state(_ log: Recovered) -> [Entry]? {
        guard let info = log.report.checkpoint else { return log.entries }
        guard log.chunks == Self.chunks(at: info.position.value) else { return nil }
        return Array(entries[..<Int(info.position.value)]) + log.entries
    }
}

@Suite("damage")
struct DamageTests {
    @Test("the sample folder is sound, and its covered segments are gone")
    func sample() throws {
        let sample = try SampleFolder()
        let storage = try SimulatedLogStorage.holding(sample.files)
        let names = sample.files.keys.filter { $0.hasSuffix(".log") }.sorted()
        #expect(names.count >= 3)
        #expect(!names.contains(segmentNames[0]))
        #expect(try LogVerification.run(storage).isSound)
        #expect(sample.state(try openLog(storage)) == sample.entries)
    }

    @Test("no removed file gives other data than there was")
    func removedFiles() throws {
        let sample = try SampleFolder()
        for file in sample.files.keys.sorted() {
            var files = sample.files
            files[file] = nil
            switch try tryOpening(try SimulatedLogStorage.holding(files)) {
            case .success(let log): #expect(sample.state(log) == sample.entries, "without \(file)")
            case .failure(.damage): break
            case .failure(let refusal): Issue.record("without \(file): \(refusal)")
            }
        }
    }

    @Test("a missing segment in the middle is named by the records that it held")
    func missingSegment() throws {
        let storage = SimulatedLogStorage(seed: 31)
        let log = try openLog(storage)
        for commit in 0..<3 { try append(entries([800], after: UInt64(commit)), to: log.writer) }
        var files = storage.copyFiles()
        files[segmentNames[1]] = nil
        let failure = #expect(throws: LogError.self) {
            try openLog(try SimulatedLogStorage.holding(files))
        }
        let fault = LogDamage.Fault.missingRecords(from: LogPosition(2), through: LogPosition(2))
        #expect(failure == .damage(LogDamage(file: segmentNames[2], offset: 0, fault: fault)))
    }

    @Test("a segment under another's name, or of another folder, is foreign", arguments: [2, 3])
    func foreignSegment(seed: UInt64) throws {
        let ours = SimulatedLogStorage(seed: 2)
        let log = try openLog(ours)
        for commit in 0..<2 { try append(entries([800], after: UInt64(commit)), to: log.writer) }
        let theirs = SimulatedLogStorage(seed: seed)
        let other = try openLog(theirs)
        for commit in 0..<2 { try append(entries([800], after: UInt64(commit)), to: other.writer) }
        var files = ours.copyFiles()
        files[segmentNames[0]] = theirs.content(segmentNames[seed == 2 ? 1 : 0])
        let failure = #expect(throws: LogError.self) {
            try openLog(try SimulatedLogStorage.holding(files))
        }
        #expect(
            failure == .damage(LogDamage(file: segmentNames[0], offset: 0, fault: .foreign))
        )
    }

    @Test("a log that ends before its checkpoint is damage")
    func logEndsBeforeCheckpoint() throws {
        let storage = SimulatedLogStorage(seed: 32)
        let log = try openLog(storage)
        try append(entries([10, 10]), to: log.writer)
        try checkpoint([[1]], log)
        var files = storage.copyFiles()
        let size = try #require(files[segmentNames[0]]?.count)
        for byte in 136..<size { files[segmentNames[0]]?[byte] = 0 }
        let failure = #expect(throws: LogError.self) {
            try openLog(try SimulatedLogStorage.holding(files))
        }
        let fault = LogDamage.Fault.endsEarly(last: LogPosition(1), known: LogPosition(2))
        #expect(failure == .damage(LogDamage(file: segmentNames[0], offset: 0, fault: fault)))
        files[segmentNames[0]] = nil
        #expect(throws: LogError.self) { try openLog(try SimulatedLogStorage.holding(files)) }
    }

    @Test("a newer version of FORMAT or of a segment is refused by its number")
    func unknownVersions() throws {
        let sample = try SampleFolder()
        var files = sample.files
        let text = "hearth data folder\nformat 2\nwhatever\n"
        let checksum = Array(text.utf8).withUnsafeBytes { CRC32C.update(0, $0) }
        let digits = String(checksum, radix: 16)
        let padded = String(repeating: "0", count: 8 - digits.count) + digits
        files["FORMAT"] = Array("\(text)crc32c \(padded)\n".utf8)
        #expect(throws: LogError.unknownFormat(file: "FORMAT", found: 2, known: 1)) {
            try openLog(try SimulatedLogStorage.holding(files))
        }
        files = sample.files
        let name = try #require(files.keys.filter { $0.hasSuffix(".log") }.max())
        var segment = try #require(files[name])
        segment[8] = 9
        let segmentChecksum = segment[..<60].withUnsafeBytes { CRC32C.update(0, $0) }
        withUnsafeBytes(of: segmentChecksum.littleEndian) {
            segment.replaceSubrange(60..<64, with: $0)
        }
        files[name] = segment
        #expect(throws: LogError.unknownFormat(file: name, found: 9, known: 1)) {
            try openLog(try SimulatedLogStorage.holding(files))
        }
    }

    @Test("a reader that refuses a record stops the recovery, which says where")
    func refusal() throws {
        let storage = SimulatedLogStorage(seed: 33)
        let log = try openLog(storage)
        try append(entries([8, 8]), to: log.writer)
        log.folder.close()
        let folder = try DataFolder.open(storage, options: smallOptions)
        let refusal = RecoveryRefusal(reason: "no such kind of commit")
        let expected = LogError.refused(refusal, file: segmentNames[0], offset: 128)
        #expect(throws: expected) {
            try folder.recover { step throws(RecoveryRefusal) in
                guard case .record(let record) = step, record.commit == 2 else { return }
                throw refusal
            }
        }
    }
}
