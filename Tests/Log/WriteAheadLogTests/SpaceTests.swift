import SimulatedStorage
import Testing
import WriteAheadLog

@Suite("a disk that fills up")
struct SpaceTests {
    private static let options = LogOptions(
        segmentByteCount: 1024,
        reserveByteCount: 4000,
        readByteCount: 256,
    )

    @Test(
        "a small disk has a small segment and a small reserve",
        arguments: [
            (0, 64 << 20, 256 << 20), (1 << 20, 1 << 20, 1 << 17),
            (200_000_000, 12_500_000, 25_000_000),
            (1 << 30, 64 << 20, 1 << 27), (2 << 30, 64 << 20, 256 << 20),
            (.max, 64 << 20, 256 << 20),
        ] as [(disk: UInt64, segment: Int, reserve: UInt64)]
    )
    func smallDisk(disk: UInt64, segment: Int, reserve: UInt64) {
        let options = LogOptions(diskByteCount: disk)
        #expect(options.segmentByteCount == segment)
        #expect(options.reserveByteCount == reserve)
        #expect(options.resumeByteCount == reserve + reserve / 4)
    }

    /// Bytes of everything but the log itself: the FORMAT file.
    private static func capacity(free: UInt64, _ storage: SimulatedLogStorage) -> UInt64 {
        let used = storage.files.reduce(0) { $0 + (storage.content($1)?.count ?? 0) }
        return UInt64(used) + free
    }

    @Test("below the reserve the state is low, and ok again only a quarter above it")
    func hysteresis() throws {
        let storage = SimulatedLogStorage(seed: 40)
        let log = try openLog(storage, Self.options)
        #expect(log.writer.spaceState == .ok)
        for (free, expected) in [
            (UInt64(4000), SpaceState.ok), (3999, .low), (4000, .low), (4999, .low), (5000, .ok),
            (4000, .ok), (0, .low), (5000, .ok),
        ] {
            storage.setCapacity(Self.capacity(free: free, storage))
            #expect(try log.writer.maintain() == expected, "\(free) bytes free")
            #expect(log.writer.spaceState == expected)
        }
    }

    @Test("what was decided before the disk was full still fits: the segment and the spare one")
    func reservedRoom() throws {
        let storage = SimulatedLogStorage(seed: 41)
        let log = try openLog(storage, Self.options)
        try append(entries([10]), to: log.writer)
        #expect(try log.writer.maintain() == .ok)
        storage.setCapacity(Self.capacity(free: 0, storage))
        #expect(try log.writer.maintain() == .low)
        // 1,024 - 64 - 72 bytes are left in the segment, 1,024 - 64 in the spare one.
        try append(entries([400, 300], after: 1), to: log.writer)
        try append(entries([500, 200], after: 3), to: log.writer)
        log.folder.close()
        #expect(try openLog(storage, Self.options).entries.count == 5)
    }

    @Test("an append that finds no room all the same stops the writer and loses nothing")
    func fullDisk() throws {
        let storage = SimulatedLogStorage(seed: 42)
        let log = try openLog(storage, Self.options)
        try append(entries([10]), to: log.writer)
        storage.setCapacity(Self.capacity(free: 0, storage))
        let failure = #expect(throws: LogError.self) {
            try append(entries([5000], after: 1), to: log.writer)
        }
        #expect(failure?.description.contains("No space left on device") == true)
        #expect(throws: LogError.self) { try append(entries([1], after: 1), to: log.writer) }
        log.folder.close()
        storage.setCapacity(1 << 20)
        let again = try openLog(storage, Self.options)
        #expect(again.entries == entries([10]))
        try append(entries([5000], after: 1), to: again.writer)
    }

    @Test("a start on a full disk reads everything, says so, and resumes when there is room")
    func startOnFullDisk() throws {
        let storage = SimulatedLogStorage(seed: 43)
        let log = try openLog(storage, Self.options)
        try append(entries([100, 100]), to: log.writer)
        log.folder.close()
        try storage.remove("log/spare")
        storage.setCapacity(Self.capacity(free: 10, storage))
        let again = try openLog(storage, Self.options)
        #expect(again.entries.count == 2)
        #expect(again.writer.spaceState == .full)
        #expect(try again.writer.maintain() == .full)
        storage.setCapacity(1 << 20)
        #expect(try again.writer.maintain() == .ok)
        #expect(try append(entries([100], after: 2), to: again.writer) == LogPosition(3))
    }

    @Test("a checkpoint that finds no room is given up without harm, and its room comes back")
    func checkpointWithoutRoom() throws {
        let storage = SimulatedLogStorage(seed: 44)
        let log = try openLog(storage, Self.options)
        try append(entries([10]), to: log.writer)
        storage.setCapacity(Self.capacity(free: 2000, storage))
        let writer = try log.folder.beginCheckpoint(at: log.writer.position, heads: [])
        let chunk = [UInt8](repeating: 1, count: 1500)
        try chunk.withUnsafeBufferPointer { try writer.write($0) }
        #expect(throws: LogError.self) {
            try chunk.withUnsafeBufferPointer { try writer.write($0) }
        }
        try writer.abandon()
        #expect(try storage.freeByteCount() == 2000)
        try append(entries([10], after: 1), to: log.writer)
        log.folder.close()
        let again = try openLog(storage, Self.options)
        #expect(again.report.checkpoint == nil)
        #expect(again.entries.count == 2)
    }

    @Test("dropping what checkpoints cover makes room, and service resumes")
    func checkpointMakesRoom() throws {
        let storage = SimulatedLogStorage(seed: 45)
        let log = try openLog(storage, Self.options)
        for commit in 0..<6 {
            try append(entries([800], after: UInt64(commit)), to: log.writer)
            try log.writer.maintain()
        }
        storage.setCapacity(Self.capacity(free: 3000, storage))
        #expect(try log.writer.maintain() == .low)
        try checkpoint([[1]], log)
        #expect(try log.writer.maintain() == .low, "the first checkpoint drops nothing")
        try append(entries([1], after: 6), to: log.writer)
        let receipt = try checkpoint([[1]], log)
        #expect(receipt.droppedSegmentCount == 5)
        #expect(try log.writer.maintain() == .ok)
    }
}
