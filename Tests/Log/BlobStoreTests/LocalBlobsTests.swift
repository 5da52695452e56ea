import Glibc
import JSONTree
import SimulatedStorage
import TestSupport
import Testing
import WriteAheadLog

@testable import BlobStore

@Suite("blobs in a data folder")
struct LocalBlobsTests {
    private func realFolder(_ folder: TemporaryFolder) throws -> BlobFolder {
        let files = BlobFolder(FileLogStorage(path: folder.path))
        try files.prepare()
        return files
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode : 0
    }

    @Test("stand under their hash, read-only, in folders for the owner alone")
    func layout() throws {
        let root = try TemporaryFolder()
        let files = try realFolder(root)
        let draft = try files.uploads.create(files.uploads.newID())
        try draft.append(Array("hello".utf8)[...])
        let sums = try draft.seal()
        #expect(try files.blobs.adopt(draft) == .new)
        let path =
            "\(root.path)/files/blobs/2c/f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        #expect(files.blobs.path(of: sums.hash) == path)
        #expect(mode(path) == S_IFREG | 0o400)
        for folder in ["files", "files/blobs", "files/blobs/2c", "files/uploads"] {
            #expect(mode("\(root.path)/\(folder)") == S_IFDIR | 0o700)
        }
        try files.uploads.removeBytes(of: draft.id)
        #expect(try read(sums.hash, in: files.blobs) == Array("hello".utf8))
        let room = try files.room()
        #expect(0 < room.freeByteCount && room.freeByteCount <= room.diskByteCount)
    }

    @Test("are copied from memory where the system has them there, never beyond the end")
    func cached() throws {
        let root = try TemporaryFolder()
        let files = try realFolder(root)
        let bytes = noise(3, 70_000)
        let draft = try files.uploads.create(files.uploads.newID())
        try draft.append(bytes[...])
        let hash = try draft.seal().hash
        _ = try files.blobs.adopt(draft)
        let reader = try files.blobs.open(hash)
        var room = [UInt8](repeating: 0, count: 65_536)
        func copy(at offset: Int64) -> Int? {
            room.withUnsafeMutableBytes { reader.readCached(into: $0, at: offset) }
        }
        // A file system that cannot say so, as one in memory, has every read wait.
        guard let first = copy(at: 0) else {
            #expect(copy(at: 65_536) == nil)
            #expect(try reader.read(at: 0, count: 70_000) == bytes)
            return
        }
        #expect(Array(room[..<first]) == Array(bytes[..<first]))
        let rest = try #require(copy(at: 65_536))
        #expect(Array(room[..<rest]) == Array(bytes[65_536...]))
        #expect(copy(at: 70_000) == nil)
        try files.blobs.remove(hash)
        #expect(copy(at: 65_536) == rest)
    }

    @Test("can be read to the end when they were removed meanwhile")
    func readerOutlivesName() throws {
        let root = try TemporaryFolder()
        let files = try realFolder(root)
        let bytes = noise(1, 70_000)
        let draft = try files.uploads.create(files.uploads.newID())
        try draft.append(bytes[...])
        let hash = try draft.seal().hash
        _ = try files.blobs.adopt(draft)
        try files.uploads.removeBytes(of: draft.id)
        let reader = try files.blobs.open(hash)
        #expect(reader.byteCount == 70_000)
        #expect(try reader.read(at: 0, count: 10) == Array(bytes[..<10]))
        try files.blobs.remove(hash)
        try files.blobs.remove(hash)
        #expect(try reader.read(at: 10, count: 70_000) == Array(bytes[10...]))
        #expect(try reader.read(at: 70_000, count: 1) == [])
        reader.close()
        #expect(throws: BlobError.missing(path: files.blobs.path(of: hash))) {
            try files.blobs.open(hash)
        }
    }

    @Test("are never read or written through a link, a pipe or a folder")
    func strangers() throws {
        let root = try TemporaryFolder()
        let files = try realFolder(root)
        let theirs = try root.file("theirs", "hello")
        let draft = try files.uploads.create(files.uploads.newID())
        try draft.append(Array("hello".utf8)[...])
        let hash = try draft.seal().hash
        let path = files.blobs.path(of: hash)
        #expect(mkdir("\(root.path)/files/blobs/2c", 0o700) == 0)
        let makers: [(String) -> Int32] = [
            { symlink(theirs, $0) }, { mkfifo($0, 0o600) }, { mkdir($0, 0o700) },
        ]
        for make in makers {
            #expect(make(path) == 0)
            #expect(throws: BlobError.notAFile(path: path)) { try files.blobs.open(hash) }
            #expect(throws: BlobError.notAFile(path: path)) { try files.blobs.adopt(draft) }
            #expect(remove(path) == 0)
        }
        #expect(mode(theirs) == S_IFREG | 0o600)
        #expect(try files.blobs.adopt(draft) == .new)
    }

    @Test("are not put into a folder of two digits that is a link")
    func linkedDigits() throws {
        let root = try TemporaryFolder()
        let elsewhere = try TemporaryFolder()
        let files = try realFolder(root)
        let draft = try files.uploads.create(files.uploads.newID())
        try draft.append(Array("hello".utf8)[...])
        let hash = try draft.seal().hash
        let folder = "\(root.path)/files/blobs/2c"
        #expect(symlink(elsewhere.path, folder) == 0)
        #expect(throws: BlobError.notAFile(path: folder)) { try files.blobs.adopt(draft) }
        #expect(elsewhere.names() == [])
        _ = try elsewhere.file(String(hash.hex.dropFirst(2)), "hello")
        #expect(throws: BlobError.notAFile(path: folder)) { try files.blobs.open(hash) }
        #expect(try files.blobs.list(after: nil, limit: 9).entries == [])
        #expect(unlink(folder) == 0)
        #expect(try files.blobs.adopt(draft) == .new)
    }

    @Test("are not put where a link has the name of a folder")
    func linkedFolder() throws {
        let root = try TemporaryFolder()
        let elsewhere = try TemporaryFolder()
        #expect(symlink(elsewhere.path, "\(root.path)/files") == 0)
        let files = BlobFolder(FileLogStorage(path: root.path))
        #expect(throws: BlobError.notAFile(path: "\(root.path)/files")) { try files.prepare() }
        #expect(elsewhere.names() == [])
    }

    @Test("of the same bytes are one, and a damaged one is replaced")
    func twice() throws {
        let store = try Store()
        let bytes = noise(1, 300)
        let hash = try store.keep(bytes)
        let draft = try store.uploads.create(store.uploads.newID())
        try draft.append(bytes[...])
        _ = try draft.seal()
        #expect(try store.blobs.adopt(draft) == .present)
        #expect(try store.blobs.adopt(draft) == .present)
        store.disk.overwrite(
            "files/blobs/\(hash.hex.prefix(2))/\(hash.hex.dropFirst(2))",
            with: [1]
        )
        #expect(try store.blobs.adopt(draft) == .replaced)
        #expect(try read(hash, in: store.blobs) == bytes)
        #expect(try store.blobs.adopt(draft) == .present)
    }

    @Test("of the same bytes may come from many uploads at once")
    func atOnce() async throws {
        let root = try TemporaryFolder()
        let files = try realFolder(root)
        let results = await withTaskGroup(of: [Adoption].self) { group in
            for worker in 0..<4 {
                group.addTask {
                    (0..<20).compactMap { round in
                        do throws(BlobError) {
                            let draft = try files.uploads.create(files.uploads.newID())
                            try draft.append(noise(UInt64(round % 5), 70_000 + round % 5)[...])
                            _ = try draft.seal()
                            let adoption = try files.blobs.adopt(draft)
                            try files.uploads.removeBytes(of: draft.id)
                            return adoption
                        } catch {
                            Issue.record("worker \(worker): \(error)")
                            return nil
                        }
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(results.count { $0 == .new } == 5)
        #expect(results.count { $0 == .present } == 75)
        let counts = try BlobCheck.run(files.blobs, references: [:]) { finding in
            Issue.record("\(finding)")
        }
        #expect(counts == BlobCheck.Counts(blobCount: 5, byteCount: 350_010, orphanCount: 5))
        #expect(try files.uploads.load(now: .start).notes == [])
    }

    @Test("are listed in their order, in pages of any size", arguments: [1, 2, 7, 100])
    func pages(limit: Int) throws {
        let store = try Store()
        store.disk.setTime(.hours(3))
        #expect(
            try store.blobs.list(after: nil, limit: limit) == BlobPage(entries: [], isLast: true)
        )
        var expected: [BlobPage.Entry] = []
        for count in 0..<40 {
            let hash = try store.keep(noise(UInt64(count), count))
            expected.append(
                BlobPage.Entry(hash: hash, byteCount: Int64(count), modified: .hours(3))
            )
        }
        expected.sort { $0.hash < $1.hash }
        // Names that no blob has.
        _ = try store.disk.create("files/blobs/stray")
        _ = try store.disk.create("files/blobs/\(expected[0].hash.hex.prefix(2))/stray")
        var found: [BlobPage.Entry] = []
        var last: BlobHash?
        while true {
            let page = try store.blobs.list(after: last, limit: limit)
            #expect(page.entries.count == limit || page.isLast)
            found += page.entries
            if page.isLast { break }
            last = page.entries.last?.hash
        }
        #expect(found == expected)
    }
}
