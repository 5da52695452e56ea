import CFiles
import Files
import Glibc
import Synchronization

/// The disk of a real server: a folder of a POSIX file system.
///
/// Every call retries after a signal (EINTR) and finishes short reads and writes. Files are created
/// for this user only (0600, folders 0700) and are not inherited by child processes.
package final class FileLogStorage: LogStorage {
    /// The data folder as given.
    package let path: String

    /// Names the data folder; it is created on first use, its parents are not.
    package init(path: String) {
        self.path = path
    }

    package func createFolder(_ path: String) throws(LogError) {
        let full = fullPath(path)
        guard mkdir(full, 0o700) != 0 else { return }
        guard errno == EEXIST else { throw .posix(.createFolder, full) }
        guard try hasFolder(path) else {
            throw .posix(.createFolder, full, errorNumber: ENOTDIR)
        }
    }

    package func create(_ path: String) throws(LogError) -> any LogFile {
        let full = fullPath(path)
        let descriptor = retrying {
            Glibc.open(full, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        }
        guard descriptor >= 0 else { throw .posix(.create, full) }
        return PosixLogFile(descriptor: descriptor, in: self, path)
    }

    package func open(_ path: String) throws(LogError) -> (any LogFile)? {
        let full = fullPath(path)
        var descriptor = retrying { Glibc.open(full, O_RDWR | O_CLOEXEC) }
        if descriptor < 0, errno == EACCES || errno == EROFS {
            // Inspection of another user's folder only reads.
            descriptor = retrying { Glibc.open(full, O_RDONLY | O_CLOEXEC) }
        }
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw .posix(.open, full) }
        return PosixLogFile(descriptor: descriptor, in: self, path)
    }

    package func list(_ path: String) throws(LogError) -> [String] {
        let full = fullPath(path)
        do throws(FileError) { return try Folder.names(full) } catch {
            if error.errorNumber == ENOENT { return [] }
            throw .posix(.list, full, errorNumber: error.errorNumber ?? EIO)
        }
    }

    package func hasFolder(_ path: String) throws(LogError) -> Bool {
        let full = fullPath(path)
        var status = stat()
        guard stat(full, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw .posix(.open, full) }
            return false
        }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    package func rename(_ path: String, to newPath: String) throws(LogError) {
        guard Glibc.rename(fullPath(path), fullPath(newPath)) == 0 else {
            throw .posix(.rename, fullPath(path))
        }
    }

    package func remove(_ path: String) throws(LogError) {
        let full = fullPath(path)
        guard Glibc.remove(full) != 0 else { return }
        guard errno == ENOENT else { throw .posix(.remove, full) }
    }

    package func syncFolder(_ path: String) throws(LogError) {
        let full = fullPath(path)
        let descriptor = retrying { Glibc.open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .posix(.sync, full) }
        defer { Glibc.close(descriptor) }
        guard retrying({ fsync(descriptor) }) == 0 else { throw .posix(.sync, full) }
        if path.isEmpty { try syncName() }
    }

    /// Makes the data folder's own name durable. Where this user may not list the folder above, another user has made it.
    private func syncName() throws(LogError) {
        var bare = path
        while bare.count > 1, bare.hasSuffix("/") { bare.removeLast() }
        do throws(FileError) { try SmallFile.syncFolder(of: bare) } catch {
            if error.errorNumber == EACCES { return }
            throw .posix(.sync, path, errorNumber: error.errorNumber ?? EIO)
        }
    }

    package func freeByteCount() throws(LogError) -> UInt64 {
        let status = try fileSystem()
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    /// How a log in this folder uses its disk, by the size of that; makes the folder.
    package func options(syncPolicy: SyncPolicy = .always) throws(LogError) -> LogOptions {
        try createFolder("")
        return LogOptions(diskByteCount: try diskByteCount(), syncPolicy: syncPolicy)
    }

    /// Bytes of the whole disk, used ones included.
    package func diskByteCount() throws(LogError) -> UInt64 {
        let status = try fileSystem()
        return UInt64(status.f_blocks) * UInt64(status.f_frsize)
    }

    private func fileSystem() throws(LogError) -> statvfs {
        var status = statvfs()
        guard retrying({ statvfs(path, &status) }) == 0 else {
            throw .posix(.measureFreeSpace, path)
        }
        return status
    }

    package func lock(_ mode: LogLockMode) throws(LogError) -> any LogLock {
        let full = fullPath(FolderLayout.lock)
        let flags = mode == .own ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC
        let descriptor = retrying { Glibc.open(full, flags, 0o600) }
        if descriptor < 0, errno == ENOENT, mode == .read { return FolderLock(descriptor: nil) }
        guard descriptor >= 0 else { throw .posix(.lock, full) }
        let hold = mode == .own ? LOCK_EX : LOCK_SH
        guard retrying({ flock(descriptor, hold | LOCK_NB) }) == 0 else {
            let failure = LogError.posix(.lock, full)
            let isHeld = errno == EWOULDBLOCK
            let holder = isHeld ? Self.holder(descriptor) : nil
            Glibc.close(descriptor)
            throw isHeld ? .inUse(path: path, holder: holder) : failure
        }
        guard mode == .own else { return FolderLock(descriptor: descriptor) }
        let lock = FolderLock(descriptor: descriptor)
        let file = PosixLogFile(descriptor: descriptor, in: self, FolderLayout.lock, isOwner: false)
        try file.truncate(to: 0)
        try file.write(Array("\(getpid())\n".utf8), at: 0)
        return lock
    }

    package func randomNumber() -> UInt64 {
        .random(in: .min ... .max)
    }

    /// The pid that the lock file names; nil when it names none.
    private static func holder(_ descriptor: Int32) -> Int32? {
        var text = [UInt8](repeating: 0, count: 16)
        let count = retrying { pread(descriptor, &text, text.count, 0) }
        guard count > 0 else { return nil }
        let digits = text.prefix(count).prefix { (0x30...0x39).contains($0) }
        return Int32(String(decoding: digits, as: UTF8.self))
    }

    /// A path below the data folder as the system takes it.
    package func fullPath(_ path: String) -> String {
        path.isEmpty ? self.path : "\(self.path)/\(path)"
    }

    /// The file at a path that was opened elsewhere; it closes the descriptor.
    package func file(owning descriptor: Int32, _ path: String) -> any LogFile {
        PosixLogFile(descriptor: descriptor, in: self, path)
    }
}

/// A file descriptor of its own.
///
/// The descriptor is owned from `init` to `close` or `deinit`, unless it was borrowed.
private final class PosixLogFile: LogFile {
    private var descriptor: Int32
    private let isOwner: Bool
    private let storage: FileLogStorage
    private var path: String

    init(descriptor: Int32, in storage: FileLogStorage, _ path: String, isOwner: Bool = true) {
        self.descriptor = descriptor
        self.isOwner = isOwner
        self.storage = storage
        self.path = storage.fullPath(path)
    }

    deinit {
        close()
    }

    func byteCount() throws(LogError) -> UInt64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .posix(.read, path) }
        return UInt64(status.st_size)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int
    {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let position = off_t(offset) + off_t(done)
            let count = retrying { pread(descriptor, rest.baseAddress, rest.count, position) }
            guard count >= 0 else { throw .posix(.read, path) }
            guard count > 0 else { break }
            done += count
        }
        return done
    }

    func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int? {
        let count = hearth_read_cached(
            descriptor,
            buffer.baseAddress,
            buffer.count,
            Int64(offset)
        )
        return count < 0 ? nil : count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let position = off_t(offset) + off_t(done)
            let count = retrying { pwrite(descriptor, rest.baseAddress, rest.count, position) }
            guard count >= 0 else { throw .posix(.write, path) }
            guard count > 0 else { throw .posix(.write, path, errorNumber: ENOSPC) }
            done += count
        }
    }

    func beginWriting(_ range: Range<UInt64>) {
        hearth_begin_writing(descriptor, Int64(range.lowerBound), Int64(range.count))
    }

    func sync() throws(LogError) {
        guard retrying({ fdatasync(descriptor) }) == 0 else { throw .posix(.sync, path) }
    }

    func forgetCached() throws(LogError) {
        let result = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        guard result == 0 else { throw .posix(.read, path, errorNumber: result) }
    }

    func preallocate(_ byteCount: UInt64) throws(LogError) {
        guard byteCount > 0 else { return }
        // Where the file system cannot reserve, glibc writes into each block: slow, but as good.
        var result = EINTR
        while result == EINTR { result = posix_fallocate(descriptor, 0, off_t(byteCount)) }
        guard result == 0 else { throw .posix(.preallocate, path, errorNumber: result) }
    }

    func truncate(to byteCount: UInt64) throws(LogError) {
        guard retrying({ ftruncate(descriptor, off_t(byteCount)) }) == 0 else {
            throw .posix(.truncate, path)
        }
    }

    func isRenamed(to path: String) {
        self.path = storage.fullPath(path)
    }

    func close() {
        guard isOwner, descriptor >= 0 else { return }
        // Linux frees the descriptor also when close reports a signal, and all that matters was
        // synced before: an error here has no effect.
        Glibc.close(descriptor)
        descriptor = -1
    }
}

/// An flock that ends when its descriptor is closed, by `release` or with the process.
private final class FolderLock: LogLock {
    private let descriptor: Mutex<Int32?>

    init(descriptor: Int32?) {
        self.descriptor = Mutex(descriptor)
    }

    deinit {
        release()
    }

    func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor {
                // A process that is being started has the descriptor too until it runs its program.
                flock(open, LOCK_UN)
                Glibc.close(open)
            }
            descriptor = nil
        }
    }
}

extension LogError {
    /// The failure of a system call, from `errno` unless a number is given.
    package static func posix(
        _ operation: DiskFailure.Operation,
        _ path: String,
        errorNumber: Int32 = errno
    ) -> LogError {
        .disk(DiskFailure(operation, path, errorNumber: errorNumber))
    }

    /// Whether the disk, or this user's share of it, is full.
    var isOutOfSpace: Bool {
        guard case .disk(let failure) = self else { return false }
        return failure.errorNumber == ENOSPC || failure.errorNumber == EDQUOT
    }
}
