import Glibc
import JSONTree
import SimulatedStorage
import Testing
import WriteAheadLog

@testable import BlobStore

@Suite("sweeps of blobs without references")
struct OrphanSweepTests {
    private func sweep(
        _ store: Store,
        _ pins: BlobPins,
        now: Timestamp,
        _ referenced: Set<BlobHash>,
        sliceCount: Int = BlobLimits.sliceCount
    ) throws -> Int {
        var sweep = OrphanSweep(pins, sliceCount: sliceCount)
        var removedCount = 0
        while !sweep.isDone {
            let page = try sweep.list(in: store.blobs)
            let claimed = sweep.claim(page, now: now, isReferenced: referenced.contains)
            let removal = OrphanSweep.remove(claimed, from: store.blobs, pins)
            #expect(removal.failure == nil)
            removedCount += removal.removedCount
        }
        return removedCount
    }

    @Test("remove what is old, and neither referred to nor pinned")
    func decisions() throws {
        let store = try Store()
        let pins = BlobPins()
        let old = try store.keep([1])
        let referenced = try store.keep([2])
        let pinned = try store.keep([3])
        store.disk.setTime(Timestamp(milliseconds: 1))
        let young = try store.keep([4])
        #expect(pins.pin(pinned) && pins.pin(pinned))
        #expect(try sweep(store, pins, now: .hours(24), [referenced]) == 1)
        #expect(throws: BlobError.self) { try store.blobs.open(old) }
        for hash in [referenced, pinned, young] { _ = try store.blobs.open(hash) }
        #expect(try sweep(store, pins, now: .hours(25), [referenced]) == 1)
        #expect(throws: BlobError.self) { try store.blobs.open(young) }
        pins.unpin(pinned)
        #expect(try sweep(store, pins, now: .hours(25), [referenced]) == 0)
        pins.unpin(pinned)
        pins.hold()
        pins.hold()
        #expect(try sweep(store, pins, now: .hours(25), []) == 0)
        pins.endHold()
        #expect(try sweep(store, pins, now: .hours(25), []) == 0)
        pins.endHold()
        #expect(try sweep(store, pins, now: .hours(25), []) == 2)
    }

    @Test("and uploads of the same bytes never cross")
    func claims() throws {
        let store = try Store()
        let pins = BlobPins()
        let hash = try store.keep([1])
        var sweep = OrphanSweep(pins)
        let page = try sweep.list(in: store.blobs)
        let claimed = sweep.claim(page, now: .hours(24)) { _ in false }
        #expect(claimed == [hash])
        #expect(!pins.pin(hash), "it is being removed")
        var other = OrphanSweep(pins)
        #expect(other.claim(page, now: .hours(24)) { _ in false } == [], "one sweep has it")
        #expect(OrphanSweep.remove(claimed, from: store.blobs, pins).removedCount == 1)
        #expect(pins.pin(hash))
    }

    @Test("go on after a failure, and let what they claimed go")
    func failure() throws {
        let store = try Store()
        let pins = BlobPins()
        let hashes = try (UInt8(0)..<5).map { try store.keep([$0]) }.sorted()
        store.disk.fail(.remove, errorNumber: EIO, afterCalls: 3)
        let claimed = pins.claim(hashes)
        let removal = OrphanSweep.remove(claimed, from: store.blobs, pins)
        #expect(removal.removedCount == 2)
        #expect(removal.failure != nil && store.folder.failure == nil)
        #expect(hashes.allSatisfy { pins.pin($0) })
        for hash in hashes { pins.unpin(hash) }
        #expect(try sweep(store, pins, now: .hours(24), []) == 3)
    }

    @Test("look at more than one slice")
    func slices() throws {
        let store = try Store()
        for number in 0..<12 { _ = try store.keep(noise(UInt64(number), 8)) }
        #expect(try sweep(store, BlobPins(), now: .hours(24), [], sliceCount: 5) == 12)
        #expect(store.disk.files == [])
    }
}

@Suite("the check of all blobs")
struct BlobCheckTests {
    @Test("finds what is missing, damaged, unreadable or of another size")
    func findings() throws {
        let store = try Store()
        let whole = try store.keep(noise(1, 300_000))
        let flipped = try store.keep(noise(2, 300_000))
        let orphan = try store.keep([])
        let other = try store.keep([1, 2])
        let missing = sums([9]).hash
        func path(_ hash: BlobHash) -> String {
            "files/blobs/\(hash.hex.prefix(2))/\(hash.hex.dropFirst(2))"
        }
        var bytes = noise(2, 300_000)
        bytes[299_999] ^= 1
        store.disk.overwrite(path(flipped), with: bytes)
        var found: [BlobHash: BlobCheck.Finding.Fault] = [:]
        let references = [whole: Int64(300_000), flipped: 300_000, other: 3, missing: 1]
        let counts = try BlobCheck.run(store.blobs, references: references) { finding in
            found[finding.hash] = finding.fault
            #expect(finding.path == "simulated/\(path(finding.hash))")
            #expect(finding.description.hasPrefix(finding.path))
        }
        #expect(
            found == [
                flipped: .damaged, missing: .missing, other: .byteCount(2, expected: 3),
            ]
        )
        #expect(counts == BlobCheck.Counts(blobCount: 4, byteCount: 600_002, orphanCount: 1))
        store.disk.fail(.read, errorNumber: EIO)
        var faults: [BlobCheck.Finding] = []
        _ = try BlobCheck.run(store.blobs, references: [orphan: 0]) { faults.append($0) }
        #expect(faults.count == 2, "\(faults)")
    }
}
