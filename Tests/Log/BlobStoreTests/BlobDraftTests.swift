import FileRecords
import Glibc
import JSONTree
import SimulatedStorage
import Testing
import WriteAheadLog

@testable import BlobStore

@Suite("drafts of blobs")
struct BlobDraftTests {
    private static let unit = 262_144
    private static let sizes = [0, 1, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 600_000]

    @Test("have the sums that others publish for their bytes")
    func vectors() throws {
        let found = sums(Array("hello".utf8))
        #expect(
            found.hash.hex == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        )
        #expect(found.content.md5Text == "XUFAKrxLKna5cZ2REBfFkg==")
        #expect(found.content.crc32cText == "mnG7TA==")
        #expect(found.content.byteCount == 5)
        let empty = sums([])
        #expect(
            empty.hash.hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
        #expect(empty.content.md5Text == "1B2M2Y8AsgTpgAmY7PhCfg==")
        #expect(empty.crc32c == 0)
    }

    @Test("give the sums of all bytes, in whatever pieces they come", arguments: sizes)
    func pieces(size: Int) throws {
        let store = try Store()
        let bytes = noise(1, size)
        for piece in [size, 1000, 65_536, 262_143, 262_144] where piece > 0 || size == 0 {
            let draft = try store.uploads.create(store.uploads.newID())
            var start = 0
            while start < size {
                let end = min(size, start + piece)
                try draft.append(bytes[start..<end])
                start = end
            }
            #expect(try draft.seal() == sums(bytes))
            #expect(try draft.seal() == sums(bytes), "again")
            #expect(store.disk.content(draft.path) == bytes)
            #expect(try draft.read(at: 0, count: size + 1) == bytes)
        }
    }

    @Test("can be cut anywhere, and go on from there", arguments: sizes)
    func cuts(size: Int) throws {
        let store = try Store()
        let (bytes, others) = (noise(1, size), noise(2, 300_000))
        for cut in Self.sizes + [size - size % Self.unit, size / 2, size] where cut <= size {
            for synced in [nil, size / 3] {
                let draft = try store.uploads.create(store.uploads.newID())
                if let synced {
                    try draft.append(bytes[..<synced])
                    try draft.sync()
                }
                try draft.append(bytes[(synced ?? 0)...])
                try draft.cut(to: Int64(cut))
                #expect(draft.byteCount == cut)
                #expect(store.disk.content(draft.path) == Array(bytes[..<cut]))
                try draft.append(others[...])
                let expected = sums(bytes[..<cut] + others)
                #expect(try draft.seal() == expected, "\(cut) of \(size)")
            }
        }
    }

    @Test("need no reading at the last whole unit and the last sync")
    func cheapCuts() throws {
        let store = try Store()
        let bytes = noise(1, 700_000)
        let draft = try store.uploads.create(store.uploads.newID())
        try draft.append(bytes[..<600_000])
        try draft.sync()
        try draft.append(bytes[600_000...])
        for cut in [Int64(600_000), 524_288] {
            store.disk.fail(.read, errorNumber: EIO)
            try draft.cut(to: cut)
            store.disk.cancelFailures()
        }
        store.disk.fail(.read, errorNumber: EIO)
        #expect(throws: BlobError.self) { try draft.cut(to: 3) }
        #expect(draft.byteCount == 524_288)
        try draft.cut(to: 3)
        #expect(try draft.seal() == sums(Array(bytes[..<3])))
    }

    @Test("are copied where they go on after they were sealed", arguments: [0, 3, 262_145])
    func goesOn(size: Int) throws {
        let store = try Store()
        let bytes = noise(1, size)
        for cut in Set([0, size / 2, size]) {
            let draft = try store.uploads.create(store.uploads.newID())
            try draft.append(bytes[...])
            let first = try draft.seal()
            _ = try store.blobs.adopt(draft)
            if cut < size { try draft.cut(to: Int64(cut)) }
            try draft.append([7])
            #expect(draft.sealed == nil)
            let second = try draft.seal()
            #expect(second == sums(bytes[..<cut] + [7]))
            #expect(try store.blobs.adopt(draft) == .new)
            #expect(try read(first.hash, in: store.blobs) == bytes)
            #expect(try read(second.hash, in: store.blobs) == bytes[..<cut] + [7])
            try store.blobs.remove(second.hash)
        }
    }

    @Test("give their descriptor back, and take another")
    func rests() throws {
        let store = try Store()
        let draft = try store.uploads.create(store.uploads.newID())
        draft.rest()
        try draft.append([1, 2])
        draft.rest()
        draft.rest()
        try draft.append([3])
        _ = try draft.seal()
        draft.rest()
        #expect(try draft.read(at: 1, count: 5) == [2, 3])
        #expect(try draft.read(at: 9, count: 5) == [])
        try store.uploads.removeBytes(of: draft.id)
        draft.rest()
        #expect(throws: BlobError.missing(path: "simulated/\(draft.path)")) {
            try draft.read(at: 0, count: 1)
        }
    }

    @Test("are as before when the disk is full, and can go on when there is room again")
    func fullDisk() throws {
        let store = try Store()
        let bytes = noise(1, 5000)
        let draft = try store.uploads.create(store.uploads.newID())
        try draft.append(bytes[..<1000])
        store.disk.setCapacity(3000)
        do throws(BlobError) {
            try draft.append(bytes[1000...])
            Issue.record("there is no room")
        } catch {
            #expect(error.isOutOfSpace)
        }
        #expect(draft.byteCount == 1000)
        #expect(store.folder.failure == nil)
        try draft.sync()
        #expect(store.disk.content(draft.path)?.count == 1000, "what did not fit is cut off")
        store.disk.setCapacity(9000)
        try draft.append(bytes[1000...])
        #expect(try draft.seal() == sums(bytes))
    }
}
