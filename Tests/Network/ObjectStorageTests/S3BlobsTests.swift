import BlobStore
import Dispatch
import Foundation
import JSONTree
import TestSupport
import Testing
import WriteAheadLog

@testable import ObjectStorage

@Suite("blobs in a bucket", .enabled(if: TestStore.areInstalled))
struct S3BlobsTests {
    /// Drafts in a folder, and blobs below a prefix of their own.
    private struct Fixture {
        let server: TestStore
        let folder: TemporaryFolder
        let files: BlobFolder
        let blobs: S3Blobs
        let prefix = "\(UUID().uuidString)/"

        init(_ server: TestStore) throws {
            self.server = server
            folder = try TemporaryFolder()
            files = BlobFolder(FileLogStorage(path: folder.path))
            try files.prepare()
            blobs = try S3Blobs(try server.configuration(), prefix: prefix)
        }

        func draft(_ bytes: [UInt8]) throws -> (draft: BlobDraft, hash: BlobHash) {
            let draft = try files.uploads.create(files.uploads.newID())
            try draft.append(bytes[...])
            return (draft, try draft.seal().hash)
        }

        /// Stores an object that is no blob, or a damaged one.
        func putObject(_ name: String, _ bytes: [UInt8]) throws {
            try server.store().put(.bytes(bytes), at: key(prefix + name))
        }
    }

    private static func error(_ call: () throws -> Void) -> BlobError? {
        do { try call() } catch {
            return error as? BlobError
        }
        return nil
    }

    @Test("are taken once, and instead of damaged ones", arguments: TestStore.allCases)
    func adopt(server: TestStore) throws {
        let fixture = try Fixture(server)
        let (draft, hash) = try fixture.draft(Array("hello".utf8))
        #expect(try fixture.blobs.adopt(draft) == .new)
        #expect(try fixture.blobs.adopt(draft) == .present)
        try fixture.putObject("\(hash.hex.prefix(2))/\(hash.hex.dropFirst(2))", [1])
        #expect(try fixture.blobs.adopt(draft) == .replaced)
        let reader = try fixture.blobs.open(hash)
        #expect(try reader.read(at: 0, count: 99) == Array("hello".utf8))
        #expect(
            fixture.blobs.path(of: hash).hasSuffix(
                "/files/\(fixture.prefix)2c/\(hash.hex.dropFirst(2))"
            )
        )
        try fixture.blobs.check()
    }

    @Test("are read in any order, and ahead in theirs", arguments: TestStore.allCases)
    func reading(server: TestStore) throws {
        let fixture = try Fixture(server)
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
        let (draft, hash) = try fixture.draft(bytes)
        #expect(try fixture.blobs.adopt(draft) == .new)
        let reader = try fixture.blobs.open(hash)
        #expect(reader.byteCount == 300_000)
        for (offset, count) in [
            (0, 1000), (1000, 1000), (2000, 1000), (500, 1000), (299_990, 100), (0, 0), (7, 1),
            (300_000, 1), (400_000, 1),
        ] {
            let expected = bytes[min(offset, bytes.count)...].prefix(count)
            #expect(try reader.read(at: Int64(offset), count: count) == Array(expected))
        }
        var found: [UInt8] = []
        while found.count < bytes.count {
            found += try reader.read(at: Int64(found.count), count: 65_536)
        }
        #expect(found == bytes)
    }

    @Test("that are open stay, others go", arguments: TestStore.allCases)
    func remove(server: TestStore) throws {
        let fixture = try Fixture(server)
        let (draft, hash) = try fixture.draft([1, 2, 3])
        #expect(try fixture.blobs.adopt(draft) == .new)
        let reader = try fixture.blobs.open(hash)
        let other = try fixture.blobs.open(hash)
        reader.close()
        reader.close()
        try fixture.blobs.remove(hash)
        #expect(try other.read(at: 1, count: 2) == [2, 3])
        other.close()
        try fixture.blobs.remove(hash)
        try fixture.blobs.remove(hash)
        let missing = BlobError.missing(path: fixture.blobs.path(of: hash))
        #expect(Self.error { _ = try fixture.blobs.open(hash) } == missing)
        // A blob that could not be opened is not open.
        #expect(try fixture.blobs.adopt(draft) == .new)
        try fixture.blobs.remove(hash)
        #expect(try fixture.blobs.list(after: nil, limit: 10).entries.isEmpty)
    }

    @Test("that go while they are open are missing", arguments: TestStore.allCases)
    func gone(server: TestStore) throws {
        let fixture = try Fixture(server)
        let (draft, hash) = try fixture.draft([1, 2, 3])
        #expect(try fixture.blobs.adopt(draft) == .new)
        let reader = try fixture.blobs.open(hash)
        let name = "\(fixture.prefix)\(hash.hex.prefix(2))/\(hash.hex.dropFirst(2))"
        try server.store().delete(key(name))
        let missing = BlobError.missing(path: fixture.blobs.path(of: hash))
        #expect(Self.error { _ = try reader.read(at: 0, count: 1) } == missing)
    }

    @Test("are listed by hash, without what else is there", arguments: TestStore.allCases)
    func list(server: TestStore) throws {
        let fixture = try Fixture(server)
        var hashes: [BlobHash] = []
        for number in 0..<12 {
            let (draft, hash) = try fixture.draft([UInt8(number)])
            #expect(try fixture.blobs.adopt(draft) == .new)
            hashes.append(hash)
        }
        hashes.sort()
        for name in ["00/", "00/12", "README", "zz/\(String(repeating: "0", count: 62))"] {
            try fixture.putObject(name, [0])
        }
        var found: [BlobHash] = []
        var pageCount = 0
        while true {
            let page = try fixture.blobs.list(after: found.last, limit: 5)
            #expect(page.entries.allSatisfy { $0.byteCount == 1 && $0.modified.milliseconds > 0 })
            found += page.entries.map(\.hash)
            pageCount += 1
            if page.isLast { break }
            #expect(page.entries.count == 5)
        }
        #expect(found == hashes)
        #expect(pageCount == 3)
    }

    @Test("are used from many threads", arguments: TestStore.allCases)
    func threads(server: TestStore) throws {
        let fixture = try Fixture(server)
        let drafts = try (0..<16).map { try fixture.draft([UInt8($0), 1, 2, 3]) }
        let blobs = fixture.blobs
        let failures = Failures()
        DispatchQueue.concurrentPerform(iterations: drafts.count) { index in
            do {
                let (draft, hash) = drafts[index]
                _ = try blobs.adopt(draft)
                let read = try blobs.open(hash).read(at: 0, count: 4)
                if read != [UInt8(index), 1, 2, 3] { failures.add("\(read)") }
            } catch {
                failures.add("\(error)")
            }
        }
        #expect(failures.all == [])
        #expect(try blobs.list(after: nil, limit: 100).entries.count == 16)
    }

    @Test("say what is wrong with the store", arguments: TestStore.allCases)
    func wrong(server: TestStore) throws {
        let blobs = try S3Blobs(try server.configuration(secret: "wrong"))
        let error = Self.error { try blobs.check() }
        #expect(error?.description.contains("check the secret access key") == true)
    }

    @Test("need a prefix that is a folder", arguments: ["blobs", "/blobs/", "a/../", "./"])
    func prefixes(prefix: String) throws {
        let configuration = try TestStore.moto.configuration()
        #expect(throws: ObjectStoreSettingError.prefix(prefix)) {
            try S3Blobs(configuration, prefix: prefix)
        }
    }
}

/// What threads found wrong.
private final class Failures: @unchecked Sendable {
    // The lock owns the list.
    private let lock = DispatchQueue(label: "failures")
    private var list: [String] = []

    func add(_ text: String) { lock.sync { list.append(text) } }

    var all: [String] { lock.sync { list } }
}
