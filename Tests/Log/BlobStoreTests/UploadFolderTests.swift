import FileProtocol
import Glibc
import JSONTree
import SimulatedStorage
import TestSupport
import Testing
import WriteAheadLog

@testable import BlobStore

@Suite("uploads over restarts")
struct UploadFolderTests {
    @Test("have identifiers of 32 random digits")
    func identifiers() throws {
        let uploads = BlobFolder(FileLogStorage(path: "nowhere")).uploads
        let ids = Set((0..<1000).map { _ in uploads.newID() })
        #expect(ids.count == 1000)
        for id in ids { #expect(UploadID(id.text) == id) }
        #expect(UploadID(random: 0, 1).text == String(repeating: "0", count: 31) + "1")
        let wrong = [
            "", "../../etc/passwd", String(repeating: "0", count: 31),
            String(repeating: "A", count: 32), String(repeating: "0", count: 33),
            String(repeating: "é", count: 16),
        ]
        for text in wrong { #expect(UploadID(text) == nil, "\(text)") }
    }

    @Test("go on with what was stored", arguments: [false, true])
    func goesOn(afterPowerCut: Bool) throws {
        var store = try Store(seed: 3)
        let bytes = noise(1, 600_000)
        let id = store.uploads.newID()
        let draft = try store.uploads.create(id)
        try draft.append(bytes[..<300_000])
        try store.uploads.store(session(received: 300_000), of: id, with: draft)
        try draft.append(bytes[300_000...])
        let loaded = try store.restart(afterPowerCut: afterPowerCut, now: .start)
        #expect(loaded.sessions.mapValues(\.byteCount) == [id: 300_000])
        #expect(loaded.notes == [])
        let again = try store.uploads.reopen(id, byteCount: 300_000)
        #expect(again.byteCount == 300_000)
        #expect(store.disk.content(again.path) == Array(bytes[..<300_000]))
        try again.append(bytes[300_000...])
        #expect(try again.seal() == sums(bytes))
    }

    @Test("stay as a start found them, whatever comes after it", arguments: 1...20)
    func foundIsDurable(seed: UInt64) throws {
        var store = try Store(seed: seed)
        let draft = try store.uploads.create(store.uploads.newID())
        try store.uploads.store(session(received: 0), of: draft.id, with: draft)
        try draft.append([1, 2, 3])
        // The sync of the folder fails; before it come those of bytes and record.
        store.disk.fail(.sync, errorNumber: EIO, afterCalls: 3)
        #expect(throws: BlobError.self) {
            try store.uploads.store(session(received: 3), of: draft.id, with: draft)
        }
        for afterPowerCut in [false, true] {
            let loaded = try store.restart(afterPowerCut: afterPowerCut, now: .start)
            #expect(loaded.sessions.mapValues(\.byteCount) == [draft.id: 3])
        }
    }

    @Test("never write a file that became a blob before the server ended")
    func sealedBefore() throws {
        var store = try Store()
        let bytes = noise(1, 300_000)
        let id = store.uploads.newID()
        let draft = try store.uploads.create(id)
        try draft.append(bytes[..<1000])
        try store.uploads.store(session(received: 1000), of: id, with: draft)
        try draft.append(bytes[1000...])
        let hash = try draft.seal().hash
        _ = try store.blobs.adopt(draft)
        _ = try store.restart(afterPowerCut: false, now: .start)
        let again = try store.uploads.reopen(id, byteCount: 1000)
        try again.append([1, 2, 3])
        #expect(try read(hash, in: store.blobs) == bytes)
        #expect(try again.seal() == sums(bytes[..<1000] + [1, 2, 3]))
    }

    /// What stands in the folder, what a start says, and what stands there afterwards.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        var record: String?
        var bytes: Int?
        var others: [String] = []
        var finding: String?
        var left: [String] = []
        var now: Int64 = 0

        var testDescription: String { name }
    }

    private static let a = String(repeating: "a", count: 32)

    private static func record(_ received: Int, _ state: String = "") -> String {
        """
        {"v":1,"dialect":"client","bucket":"bucket","name":"a","limit":9000,"created":0,\
        "received":\(received)\(state)}
        """
    }

    private static let rows = [
        Row(name: "active", record: record(5), bytes: 5, left: ["\(a).json", "\(a).part"]),
        Row(name: "more bytes", record: record(5), bytes: 7, left: ["\(a).json", "\(a).part"]),
        Row(
            name: "without bytes",
            record: record(5),
            finding:
                "removed simulated/files/uploads/\(a).json: the bytes of the upload are missing"
        ),
        Row(
            name: "fewer bytes",
            record: record(5),
            bytes: 4,
            finding:
                "removed simulated/files/uploads/\(a).json: the upload has 4 bytes where 5 belong"
        ),
        Row(name: "final", record: record(5, final), left: ["\(a).json"]),
        Row(name: "final with bytes", record: record(5, final), bytes: 5, left: ["\(a).json"]),
        Row(name: "cancelled", record: record(5, cancelled), bytes: 5, left: ["\(a).json"]),
        Row(
            name: "expired",
            record: record(5),
            bytes: 5,
            finding:
                "removed simulated/files/uploads/\(a).json: the upload was not finished in time",
            now: 7 * 86_400_000
        ),
        Row(
            name: "without session",
            bytes: 5,
            finding:
                "removed simulated/files/uploads/\(a).part: an upload without a session cannot go on"
        ),
        Row(
            name: "unreadable",
            record: #"{"v":2}"#,
            bytes: 5,
            finding:
                "cannot read simulated/files/uploads/\(a).json: form 2 is none that this version reads; the upload cannot go on",
            left: ["\(a).json", "\(a).part"]
        ),
        Row(
            name: "unreadable and old",
            record: "",
            bytes: 5,
            finding:
                "removed simulated/files/uploads/\(a).json: the upload was not finished in time",
            now: 7 * 86_400_000
        ),
        Row(name: "drafts", others: ["\(a).json.partial", "\(a).part.partial"]),
        Row(
            name: "foreign",
            others: ["notes.txt"],
            finding: "simulated/files/uploads/notes.txt is no file of the server; it stays",
            left: ["notes.txt"]
        ),
        Row(
            name: "foreign draft",
            others: ["x.partial"],
            finding: "simulated/files/uploads/x.partial is no file of the server; it stays",
            left: ["x.partial"]
        ),
    ]

    @Test("are put in order at start", arguments: rows)
    func load(row: Row) throws {
        var store = try Store()
        func put(_ name: String, _ bytes: [UInt8]) throws {
            _ = try store.disk.create("files/uploads/\(name)")
            store.disk.overwrite("files/uploads/\(name)", with: bytes)
        }
        if let record = row.record { try put("\(Self.a).json", Array(record.utf8)) }
        if let bytes = row.bytes { try put("\(Self.a).part", noise(1, bytes)) }
        for name in row.others { try put(name, [1]) }
        let loaded = try store.restart(
            afterPowerCut: false,
            now: Timestamp(milliseconds: row.now)
        )
        #expect(loaded.notes.last?.description == row.finding)
        #expect(store.disk.files == row.left.map { "files/uploads/\($0)" })
        let isKept = row.left.contains("\(Self.a).json") && row.finding == nil
        #expect(loaded.sessions.keys.map(\.text) == (isKept ? [Self.a] : []))
    }

    @Test("leave nothing when they are removed")
    func removed() throws {
        let store = try Store()
        let draft = try store.uploads.create(store.uploads.newID())
        try store.uploads.store(session(received: 0), of: draft.id, with: draft)
        #expect(store.disk.files.count == 2)
        try store.uploads.remove(draft.id)
        #expect(store.disk.files == [])
        try store.uploads.remove(draft.id)
    }

    @Test("on real files: a session is a private file, and no link is opened for one")
    func realFiles() throws {
        let root = try TemporaryFolder()
        let files = BlobFolder(FileLogStorage(path: root.path))
        try files.prepare()
        let id = files.uploads.newID()
        let draft = try files.uploads.create(id)
        try draft.append([1, 2, 3])
        try files.uploads.store(session(received: 3), of: id, with: draft)
        let folder = "\(root.path)/files/uploads"
        var status = stat()
        #expect(lstat("\(folder)/\(id).json", &status) == 0)
        #expect(status.st_mode == S_IFREG | 0o600)
        #expect(lstat("\(folder)/\(id).part", &status) == 0)
        #expect(status.st_mode == S_IFREG | 0o600)
        try draft.append([4])
        let again = try files.uploads.reopen(id, byteCount: 3)
        #expect(try again.read(at: 0, count: 9) == [1, 2, 3])
        #expect(try again.seal() == sums([1, 2, 3]))
        let copy = try files.uploads.reopen(id, byteCount: 2)
        try copy.append([9])
        #expect(try copy.seal() == sums([1, 2, 9]))

        let theirs = try root.file("theirs", "kept")
        let other = files.uploads.newID()
        #expect(symlink(theirs, "\(folder)/\(other).part") == 0)
        #expect(throws: BlobError.notAFile(path: "\(folder)/\(other).part")) {
            try files.uploads.reopen(other, byteCount: 0)
        }
        #expect(throws: BlobError.self) { try files.uploads.create(other) }
        #expect(symlink(theirs, "\(folder)/\(other).json") == 0)
        let loaded = try BlobFolder(FileLogStorage(path: root.path)).uploads.load(now: .start)
        #expect(loaded.sessions.keys.map(\.text) == [id.text])
        #expect(
            loaded.notes.map(\.finding) == [.unreadable(reason: "it is not a regular file")]
        )
        #expect(lstat(theirs, &status) == 0 && status.st_size == 4)
    }
}
