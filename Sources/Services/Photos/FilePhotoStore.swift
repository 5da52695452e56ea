import Glibc

/// Photos as files `KEY.png` of one folder, readable by their owner alone.
///
/// A photo is written under a temporary name (`.KEY.RANDOM.partial`), synced and renamed, and the folder is synced:
/// readers see the whole photo or none, also after a crash. A lock shows whether a draft is being written or was left
/// by a killed process; the next store of the folder removes the latter. Any number of processes may use one folder.
/// The folder stays open, and links in it are not followed.
///
/// Darwin has the same calls under `import Darwin`. It needs libpng, which is not part of it; `F_FULLFSYNC` instead
/// of `fsync`; and a case-sensitive volume, since keys may differ only in case.
public final class FilePhotoStore: PhotoStore {
    private let folder: String
    // Its own, open until deinit.
    private let descriptor: Int32
    /// Locks a draft: 0, or -1 and `errno`.
    private let lock: @Sendable (Int32) -> Int32

    private static let suffix = ".partial"
    /// Drafts in a row that may be taken for leftovers; each by a store that was made at that moment.
    private static let draftTries = 100

    /// The store of a folder, which is made if there is none; its parent must be there.
    ///
    /// - Throws: `PhotoStoreError`: `wrongKind` when the path is a link or a file.
    public convenience init(folder: String) throws {
        try self.init(folder: folder) { flock($0, LOCK_EX | LOCK_NB) }
    }

    init(folder: String, lock: @escaping @Sendable (Int32) -> Int32) throws {
        self.folder = folder
        self.lock = lock
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw PhotoStoreError.last("make", folder)
        }
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw PhotoStoreError.last("open", folder) }
        try removeLeftovers()
    }

    deinit { close(descriptor) }

    /// Stores a photo under a key, replacing the old one.
    ///
    /// - Throws: `PhotoStoreError`; then the key has its old photo. If only the sync of the folder failed, it has the
    ///   new one, but perhaps not after a crash.
    @concurrent
    public func store(_ photo: Photo, forKey key: String) async throws {
        try PhotoStoreError.check(key: key)
        let (draft, draftName) = try makeDraft(key)
        defer { close(draft) }
        do {
            try write(photo.png, to: draft, draftName)
            guard fsync(draft) == 0 else { throw failure("sync", draftName) }
            try replace("\(key).png", by: draftName)
        } catch {
            unlinkat(descriptor, draftName, 0)
            throw error
        }
        try syncFolder()
    }

    /// The photo of a key, which is read only if its file has no more than `byteLimit` bytes.
    ///
    /// - Throws: `PhotoStoreError`.
    @concurrent
    public func load(forKey key: String, byteLimit: Int) async throws -> Photo {
        let bytes = try read(key, byteLimit: min(byteLimit, PhotoLimits.byteCount))
        do {
            return try Photo(png: bytes)
        } catch let error as PhotoError {
            throw PhotoStoreError.faulty(key: key, error)
        }
    }

    /// Removes the photo of a key, if it has one.
    ///
    /// - Throws: `PhotoStoreError`.
    @concurrent
    public func delete(forKey key: String) async throws {
        try PhotoStoreError.check(key: key)
        let name = "\(key).png"
        guard unlinkat(descriptor, name, 0) == 0 else {
            if errno == ENOENT { return }
            throw failure("remove", name)
        }
        try syncFolder()
    }

    /// A new locked file, and its name.
    ///
    /// - Throws: `system` also where the file system has no locks; then nothing is left of it.
    private func makeDraft(_ key: String) throws(PhotoStoreError) -> (Int32, String) {
        var fault = PhotoStoreError.system(call: "lock", path: folder, code: EWOULDBLOCK)
        for _ in 0..<Self.draftTries {
            let name = ".\(key).\(UInt64.random(in: 0...UInt64.max))\(Self.suffix)"
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let draft = openat(descriptor, name, flags, 0o600)
            guard draft >= 0 else { throw failure("create", name) }
            let isLocked = lock(draft) == 0
            if isLocked, isNamed(draft, name) { return (draft, name) }
            // Before it was locked it may have been taken for a leftover.
            let isRival = isLocked || errno == EWOULDBLOCK || errno == EINTR
            if !isLocked { fault = failure("lock", name) }
            unlinkat(descriptor, name, 0)
            close(draft)
            if !isRival { break }
        }
        throw fault
    }

    private func write(_ bytes: [UInt8], to draft: Int32, _ name: String) throws(PhotoStoreError) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(draft, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write", name) }
            written += count
        }
    }

    /// Gives a draft the name of a photo, if that is free or a file has it.
    private func replace(_ name: String, by draftName: String) throws(PhotoStoreError) {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT != S_IFREG
        {
            throw .wrongKind(path: "\(folder)/\(name)")
        }
        guard renameat(descriptor, draftName, descriptor, name) == 0 else {
            throw failure("rename", name)
        }
    }

    private func read(_ key: String, byteLimit: Int) throws(PhotoStoreError) -> [UInt8] {
        try PhotoStoreError.check(key: key)
        let name = "\(key).png"
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { throw .notFound(key) }
            throw failure("open", name)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("stat", name) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .wrongKind(path: "\(folder)/\(name)")
        }
        guard status.st_size <= byteLimit else { throw .tooLarge(key: key, byteLimit: byteLimit) }
        // A stored file never grows: it is replaced.
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var readCount = 0
        while readCount < bytes.count {
            let count = bytes[readCount...].withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", name) }
            guard count > 0 else { break }
            readCount += count
        }
        return Array(bytes.prefix(readCount))
    }

    /// Removes the drafts of killed processes, and none that is being written.
    private func removeLeftovers() throws(PhotoStoreError) {
        // A descriptor of its own, since reading moves it and `closedir` closes it.
        let listed = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard listed >= 0, let entries = fdopendir(listed) else { throw failure("list", ".") }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("."), name.hasSuffix(Self.suffix) else { continue }
            let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { continue }
            if lock(file) == 0, isNamed(file, name) {
                unlinkat(descriptor, name, 0)
            }
            close(file)
        }
    }

    /// Whether a file that is open is the regular file of that name.
    private func isNamed(_ file: Int32, _ name: String) -> Bool {
        var held = stat()
        var named = stat()
        return fstat(file, &held) == 0
            && fstatat(descriptor, name, &named, AT_SYMLINK_NOFOLLOW) == 0
            && held.st_ino == named.st_ino && held.st_dev == named.st_dev
            && held.st_mode & S_IFMT == S_IFREG
    }

    private func syncFolder() throws(PhotoStoreError) {
        guard fsync(descriptor) == 0 else { throw failure("sync", ".") }
    }

    private func failure(_ call: String, _ name: String) -> PhotoStoreError {
        .last(call, "\(folder)/\(name)")
    }
}

extension PhotoStoreError {
    /// The text for the `errno` of the last call.
    fileprivate static func last(_ call: String, _ path: String) -> PhotoStoreError {
        switch errno {
        case ENOSPC, EDQUOT, EFBIG: .noSpace(path: path)
        case ELOOP, ENOTDIR: .wrongKind(path: path)
        case let code: .system(call: call, path: path, code: code)
        }
    }
}

extension PhotoStoreError: CustomStringConvertible {
    /// The error and its remedy, without a full stop.
    public var description: String {
        switch self {
        case .invalidKey: "the key of a photo is 1 to \(PhotoLimits.keyLength) of A-Z a-z 0-9 _ -"
        case .notFound(let key): "there is no photo \(key)"
        case .tooLarge(let key, let byteLimit):
            "photo \(key) has more than \(byteLimit) bytes and was not read"
        case .faulty(let key, let error): "photo \(key): \(error)"
        case .noSpace(let path): "\(path): the disk is full; make room and store the photo again"
        case .wrongKind(let path): "\(path): this is a link or no regular file; use the real path"
        case .system(let call, let path, let code):
            "\(path): cannot \(call): \(String(cString: strerror(code)))"
        }
    }
}
