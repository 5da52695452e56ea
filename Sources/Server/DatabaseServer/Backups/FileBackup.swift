package import BlobStore
import Files
import Glibc
import WriteAheadLog

/// A folder that keeps the contents of files for backups, each once, named by its hash: the next backup copies what is new.
///
///     DIR/files/blobs/ab/cdef…     as in a data folder
///
/// One process uses it at a time.
package final class FileBackup {
    private let folder: BlobFolder
    private let lock: any LogLock

    /// The contents that it keeps.
    package var blobs: any BlobSource { folder.blobs }

    /// Opens a folder, or makes it.
    ///
    /// - Throws: `file`, `log`, case `inUse`, `blob`.
    package init(_ path: String) throws(BackupError) {
        let storage = FileLogStorage(path: path)
        folder = BlobFolder(storage)
        lock = try logged { () throws(LogError) in
            try storage.createFolder("")
            return try storage.lock(.own)
        }
        do throws(BlobError) {
            try folder.prepare()
            // What a copy that was cut short has left.
            _ = try folder.uploads.load(now: Clock.now())
        } catch {
            lock.release()
            throw .blob(error)
        }
    }

    /// Opens the folder of an earlier backup to read from it.
    ///
    /// - Throws: `file` when nothing is there.
    package static func source(_ path: String) throws(BackupError) -> any BlobSource {
        let blobs = "\(path)/files/blobs"
        var status = stat()
        let isThere = stat(blobs, &status) == 0
        guard isThere, status.st_mode & S_IFMT == S_IFDIR else {
            throw .file(.system(call: "open", path: blobs, code: isThere ? ENOTDIR : errno))
        }
        return BlobFolder(FileLogStorage(path: path)).blobs
    }

    /// Gives it back.
    package func close() { lock.release() }

    /// Copies what it lacks; `progress` gets the bytes that are done.
    ///
    /// - Throws: `files` with every content that cannot be copied; `blob` when the folder cannot be written.
    package func take(
        _ references: BlobReferences,
        from source: any BlobSource,
        _ progress: (Int64) -> Void = { _ in }
    ) throws(BackupError) -> FileBackupSummary {
        try Self.copy(references, from: source, to: folder, progress)
    }

    /// Whether no other content can be copied either.
    private static func ends(_ error: BlobError, _ folder: BlobFolder) -> Bool {
        if case .remote = error { return true }
        return folder.failure != nil || error.isOutOfSpace
    }

    /// Reads every content that is referred to and compares it with its hash.
    ///
    /// - Throws: `files` with what is missing or damaged.
    static func verify(
        _ references: BlobReferences,
        in source: any BlobSource
    ) throws(BackupError) {
        var faults = FileFaults(references)
        for (hash, reference) in references.all.sorted(by: { $0.key < $1.key }) {
            do throws(BlobError) {
                guard try BlobCheck.hash(of: hash, in: source) != hash else { continue }
                throw .damaged(path: source.path(of: hash))
            } catch {
                faults.add("\(reference.files): \(error)")
            }
        }
        if !faults.isEmpty { throw .files(faults.texts) }
    }

    /// The same as `take` into any folder, such as one that is restored.
    static func copy(
        _ references: BlobReferences,
        from source: any BlobSource,
        to folder: BlobFolder,
        _ progress: (Int64) -> Void = { _ in }
    ) throws(BackupError) -> FileBackupSummary {
        var (summary, faults) = (FileBackupSummary(references), FileFaults(references))
        var done: Int64 = 0
        for (hash, reference) in references.all.sorted(by: { $0.key < $1.key }) {
            do throws(BlobError) {
                if try folder.copy(hash, byteCount: reference.byteCount, from: source) {
                    summary.copiedCount += 1
                    summary.copiedByteCount += reference.byteCount
                }
            } catch {
                if ends(error, folder) { throw .blob(error) }
                faults.add("\(reference.files): \(error)")
            }
            done += reference.byteCount
            progress(done)
        }
        if !faults.isEmpty { throw .files(faults.texts) }
        return summary
    }
}

/// What a backup of files has done.
package struct FileBackupSummary: CustomStringConvertible {
    /// Different contents, and their bytes.
    let count: Int
    let byteCount: Int64
    /// Those that were not there before.
    var copiedCount = 0
    var copiedByteCount: Int64 = 0

    init(_ references: BlobReferences) {
        count = references.all.count
        byteCount = references.byteCount
    }

    /// One line.
    package var description: String {
        "  \(count) contents of files, \(byteCount) bytes; "
            + "\(copiedCount) copied, \(copiedByteCount) bytes, the rest was there"
    }
}

/// What is wrong with files, a line for each.
struct FileFaults {
    private(set) var texts: [String]

    var isEmpty: Bool { texts.isEmpty }

    /// Begins with the records that cannot be read.
    init(_ references: BlobReferences) {
        texts = references.damaged.map { "the record \($0) cannot be read: its file is lost" }
    }

    mutating func add(_ text: String) { texts.append(text) }
}
