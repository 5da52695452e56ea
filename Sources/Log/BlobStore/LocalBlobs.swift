import JSONTree
import Synchronization
import WriteAheadLog

/// The blobs of a data folder: files under their hash, read-only from before they have that name.
package final class LocalBlobs: Blobs {
    static let root = "files/blobs"

    private let storage: any BlobStorage
    private let gate: WriteGate
    /// Folders of two digits whose names are durable: found out once in each process.
    private let durableFolders = Mutex<Set<String>>([])

    init(_ storage: any BlobStorage, _ gate: WriteGate) {
        self.storage = storage
        self.gate = gate
    }

    package func path(of hash: BlobHash) -> String { storage.shown(Self.file(hash)) }

    private static func folder(_ hash: BlobHash) -> String { "\(root)/\(hash.hex.prefix(2))" }

    private static func file(_ hash: BlobHash) -> String {
        "\(folder(hash))/\(hash.hex.dropFirst(2))"
    }

    // MARK: - Writing

    package func adopt(_ draft: BlobDraft) throws(BlobError) -> Adoption {
        guard let sums = draft.sealed else { preconditionFailure("a draft is sealed first") }
        let (folder, file) = (Self.folder(sums.hash), Self.file(sums.hash))
        try makeDurable(folder)
        var adoption = Adoption.new
        while try !gate.run({ () throws(LogError) in try storage.link(draft.path, to: file) }) {
            guard let found = try status(file) else { continue }
            guard found.kind == .file else { throw .notAFile(path: storage.shown(file)) }
            if found.byteCount == sums.byteCount {
                adoption = .present
                break
            }
            adoption = .replaced
            try remove(sums.hash)
        }
        // Also where it was there: the upload that made it may not have come so far.
        try gate.run { () throws(LogError) in try storage.syncFolder(folder) }
        return adoption
    }

    /// Makes a folder of two digits, and its name durable.
    private func makeDurable(_ folder: String) throws(BlobError) {
        if durableFolders.withLock({ $0.contains(folder) }) { return }
        try gate.makeFolder(folder, storage)
        try gate.run { () throws(LogError) in try storage.syncFolder(Self.root) }
        durableFolders.withLock { _ = $0.insert(folder) }
    }

    package func remove(_ hash: BlobHash) throws(BlobError) {
        try gate.run { () throws(LogError) in try storage.remove(Self.file(hash)) }
    }

    // MARK: - Reading

    package func open(_ hash: BlobHash) throws(BlobError) -> any BlobReader {
        let (folder, path) = (Self.folder(hash), Self.file(hash))
        guard let above = try status(folder) else { throw .missing(path: storage.shown(path)) }
        guard above.kind == .folder else { throw .notAFile(path: storage.shown(folder)) }
        guard let found = try status(path) else { throw .missing(path: storage.shown(path)) }
        guard found.kind == .file else { throw .notAFile(path: storage.shown(path)) }
        let file = try reading { () throws(LogError) in try storage.openToRead(path) }
        guard let file else { throw .missing(path: storage.shown(path)) }
        return LocalBlobReader(file, byteCount: found.byteCount)
    }

    package func list(after hash: BlobHash?, limit: Int) throws(BlobError) -> BlobPage {
        var entries: [BlobPage.Entry] = []
        let start = hash.map { String($0.hex.prefix(2)) } ?? ""
        for folder in try names(Self.root) where folder.utf8.count == 2 && folder >= start {
            guard try status("\(Self.root)/\(folder)")?.kind == .folder else { continue }
            for name in try names("\(Self.root)/\(folder)") {
                guard let found = BlobHash(hex: folder + name), hash.map({ $0 < found }) ?? true
                else { continue }
                // What is gone by now needs no entry.
                guard let status = try status(Self.file(found)) else { continue }
                if entries.count == limit { return BlobPage(entries: entries, isLast: false) }
                entries.append(
                    BlobPage.Entry(
                        hash: found,
                        byteCount: status.byteCount,
                        modified: status.modified
                    )
                )
            }
        }
        return BlobPage(entries: entries, isLast: true)
    }

    private func names(_ folder: String) throws(BlobError) -> [String] {
        try reading { () throws(LogError) in try storage.list(folder) }
    }

    private func status(_ path: String) throws(BlobError) -> FileStatus? {
        try reading { () throws(LogError) in try storage.status(path) }
    }
}

/// A blob's open file. `@unchecked`: one worker at a time owns it, as `BlobReader` says.
private final class LocalBlobReader: BlobReader, @unchecked Sendable {
    private let file: any LogFile
    let byteCount: Int64

    init(_ file: any LogFile, byteCount: Int64) {
        self.file = file
        self.byteCount = byteCount
    }

    func read(at offset: Int64, count: Int) throws(BlobError) -> [UInt8] {
        try reading { () throws(LogError) in try file.piece(at: offset, count: count) }
    }

    func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
        file.readCached(into: buffer, at: UInt64(offset)).flatMap { $0 > 0 ? $0 : nil }
    }

    func close() { file.close() }
}

extension LogFile {
    /// Reads bytes from `offset` on: `count` of them, fewer at the end.
    func piece(at offset: Int64, count: Int) throws(LogError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let found = try bytes.withUnsafeMutableBufferPointer { bytes throws(LogError) in
            try read(into: UnsafeMutableRawBufferPointer(bytes), at: UInt64(offset))
        }
        bytes.removeLast(count - found)
        return bytes
    }
}
