import BlobStore
import FileProtocol
import FileRecords
import Files
import Glibc
import JSONTree
import Logging
import ObjectStorage
import Synchronization
import Transport
import WriteAheadLog

/// The disk of the file service: blobs and uploads, and the workers that touch them.
@LoopActor
final class FileDisk {
    /// Threads that read and write files. Other numbers were not measured.
    nonisolated static let workerCount = 4

    let folder: PreparedFolder
    /// Where blobs are: in the data folder, or a store elsewhere.
    nonisolated let blobs: any Blobs
    /// The store elsewhere.
    nonisolated let remote: S3Blobs?
    nonisolated let pins = BlobPins()
    private let log: Logger
    private let workers: [Worker]
    private var last = 0

    /// Touches no disk.
    nonisolated init(
        _ configuration: Configuration,
        _ workers: [Worker],
        _ remote: S3Blobs?,
        _ log: Logger
    ) {
        self.workers = workers
        self.remote = remote
        self.log = log
        switch configuration.storage {
        case .folder(let path): folder = PreparedFolder(path)
        case .memory: folder = PreparedFolder(Self.temporaryPath, isTemporary: true)
        }
        blobs = remote ?? folder.blobs.blobs
    }

    /// Whether there may be blobs.
    var hasBlobs: Bool { remote != nil || folder.hasBlobs }

    /// Finds out whether the store elsewhere can be used; the log says so.
    func checkRemote() {
        guard let remote else { return }
        let log = log
        worker.post(
            .read {
                do throws(BlobError) {
                    try remote.check()
                    log.notice("files are kept in a bucket of an S3 store")
                } catch {
                    log.error("files cannot be kept: \(error)")
                }
            }
        )
    }

    /// Where a server that keeps nothing has its files while it runs: a folder that is not there yet.
    private nonisolated static var temporaryPath: String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        let number = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        return "\(parent.isEmpty ? "/tmp" : parent)/hearth-files-\(number)"
    }

    /// Removes what goes with the process.
    nonisolated func close() { folder.close() }

    /// A worker for the next upload or download, which stays with it.
    var worker: Worker {
        last = (last + 1) % workers.count
        return workers[last]
    }

    /// Whether nothing more is stored, since the disk has failed.
    var isReadOnly: Bool { folder.blobs.failure != nil }

    /// Why nothing more is stored; nil while all is well.
    var failure: String? { folder.blobs.failure.map { "\($0)" } }

    // MARK: - Blobs

    /// Bytes that are stored, pinned until `letGo`.
    struct Stored {
        let content: FileContent
        private let pin: WorkSlot

        fileprivate init(_ content: FileContent, _ pin: WorkSlot) {
            self.content = content
            self.pin = pin
        }

        /// After the commit that refers to them, or the refusal of their upload.
        func letGo() { withExtendedLifetime(pin) {} }
    }

    /// Makes a blob of a sealed draft.
    func adopt(
        _ draft: BlobDraft,
        on worker: Worker,
        then: @escaping @LoopActor (Result<Stored, FileFault>) -> Void
    ) {
        guard let sums = draft.sealed else { preconditionFailure("a draft is sealed first") }
        guard let pin = pin(sums.hash) else {
            // A sweep is removing the same bytes.
            EventLoop.shared.after(.milliseconds(20)) { [self] in
                adopt(draft, on: worker, then: then)
            }
            return
        }
        let (content, blobs) = (sums.content, blobs)
        let isTaken = worker.perform {
            Result { () throws(BlobError) in try blobs.adopt(draft) }
        } then: { [log] outcome in
            switch outcome {
            case .success: then(.success(Stored(content, pin)))
            case .failure(let error):
                log.error("a file is not stored: \(error)")
                then(.failure(FileFault(error)))
            }
        }
        if !isTaken { then(.failure(.busy(retryAfter: 1))) }
    }

    /// Keeps a blob from being collected for as long as the slot lives; nil while it is being removed.
    func pin(_ hash: BlobHash) -> WorkSlot? {
        guard pins.pin(hash) else { return nil }
        return WorkSlot { [pins] in pins.unpin(hash) }
    }

    /// Removes the bytes of an upload that is over.
    func removeBytes(of id: UploadID, on worker: Worker) {
        let uploads = folder.blobs.uploads
        worker.post(
            .read { _ = Result { () throws(BlobError) in try uploads.removeBytes(of: id) } }
        )
    }

    /// Makes one blob of the bytes of several.
    func join(
        _ contents: [FileContent],
        then: @escaping @LoopActor (Result<Stored, FileFault>) -> Void
    ) {
        let (worker, folder, blobs) = (worker, folder, blobs)
        let isTaken = worker.perform {
            Result { () throws(FileFault) in try folder.join(contents, from: blobs) }
        } then: { [self] outcome in
            switch outcome {
            case .success(let draft):
                adopt(draft, on: worker) { [self] outcome in
                    removeBytes(of: draft.id, on: worker)
                    then(outcome)
                }
            case .failure(let fault): then(.failure(fault))
            }
        }
        if !isTaken { then(.failure(.busy(retryAfter: 1))) }
    }
}

/// The folder of blobs and uploads, whose folders are made when they are first needed. Any thread may use it.
final class PreparedFolder: Sendable {
    let blobs: BlobFolder
    /// Whether there are uploads of an earlier process to read.
    let hasUploads: Bool
    /// Whether there may be blobs.
    var hasBlobs: Bool { hasUploads || isPrepared.withLock { $0 } }
    private let isPrepared = Mutex(false)
    /// The folder that goes with the process; nil for the data folder.
    private let temporaryPath: String?

    init(_ path: String, isTemporary: Bool = false) {
        blobs = BlobFolder(FileLogStorage(path: path))
        hasUploads = Folder.exists("\(path)/files/uploads")
        temporaryPath = isTemporary ? path : nil
    }

    /// Removes a folder that goes with the process.
    func close() {
        if let temporaryPath { Self.remove(temporaryPath) }
    }

    private static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            unlink(path)
            return
        }
        // What cannot be listed stays.
        let names = Result { () throws(FileError) in try Folder.names(path) }
        if case .success(let names) = names {
            for name in names { remove("\(path)/\(name)") }
        }
        rmdir(path)
    }

    /// Begins the bytes of an upload of about so many bytes. Blocks.
    ///
    /// - Throws: 503 when they would leave too little room on the disk, or the disk fails.
    func create(_ id: UploadID, byteCount: Int64) throws(FileFault) -> BlobDraft {
        do throws(BlobError) { try prepare() } catch { throw FileFault(error) }
        try checkRoom(byteCount)
        do throws(BlobError) { return try blobs.uploads.create(id) } catch {
            throw FileFault(error)
        }
    }

    /// Whether so many more bytes leave enough room on the disk. Blocks.
    ///
    /// - Throws: 503 when they do not, or the disk fails.
    func checkRoom(_ byteCount: Int64) throws(FileFault) {
        let free: UInt64
        do throws(BlobError) {
            let room = try blobs.room()
            let reserve = min(room.diskByteCount / 5, Self.reserveByteCount)
            free = room.freeByteCount - min(room.freeByteCount, reserve)
        } catch {
            throw FileFault(error)
        }
        guard free > UInt64(max(byteCount, 0)) else { throw .noRoom }
    }

    /// Bytes that stay free; on a small disk a fifth of it. More than the log wants (256 MiB, or an eighth of the disk, and a quarter of
    /// that more to go on), so files never keep a database from writing.
    private static let reserveByteCount: UInt64 = 1 << 30

    private func prepare() throws(BlobError) {
        try isPrepared.withLock { isPrepared throws(BlobError) in
            if isPrepared { return }
            if let temporaryPath { mkdir(temporaryPath, 0o700) }
            try blobs.prepare()
            isPrepared = true
        }
    }

    /// A sealed draft with the bytes of several blobs. Blocks.
    func join(
        _ contents: [FileContent],
        from store: any Blobs
    ) throws(FileFault) -> BlobDraft {
        let sum = contents.reduce(0) { $0 + $1.byteCount }
        let draft = try create(blobs.uploads.newID(), byteCount: sum)
        do throws(BlobError) {
            for content in contents {
                guard let hash = BlobHash(hex: content.blob) else { continue }
                let reader = try store.open(hash)
                defer { reader.close() }
                var offset: Int64 = 0
                while offset < reader.byteCount {
                    let piece = try reader.read(at: offset, count: BlobLimits.pieceByteCount)
                    try draft.append(piece[...])
                    offset += Int64(piece.count)
                }
            }
            _ = try draft.seal()
            return draft
        } catch {
            throw FileFault(error)
        }
    }
}

extension FileFault {
    /// What a client is answered when the disk fails: nothing of its paths.
    init(_ error: BlobError) {
        switch error {
        case .missing, .notAFile, .cutShort, .damaged:
            self.init(500, "The bytes of this object cannot be read.")
        case .disk, .stopped, .remote:
            self = error.isOutOfSpace ? .noRoom : .busy(retryAfter: 30)
        }
    }

    /// The disk has no room for more files.
    static var noRoom: FileFault {
        var fault = FileFault(503, "There is no room for more files now.")
        fault.retryAfter = 60
        return fault
    }
}
