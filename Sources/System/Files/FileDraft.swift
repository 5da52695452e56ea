package import Glibc

/// A file that is written under another name and takes its own when it is whole.
///
/// A reader of `path` sees the old file or the whole new one, also after a crash. Until the end the bytes are in
/// `path.partial`, always a new file with the requested owner and permissions: a file that a killed process or a
/// stranger left under that name, or a link, is removed and never written to. A lock prevents two writers of one file.
package final class FileDraft {
    package let path: String
    /// Where the bytes are until `commit`.
    package let partial: String
    private let descriptor: Int32
    private var isOpen = true

    /// Times that another writer may come between the making of the draft and its lock.
    private static let attempts = 8

    /// Begins a file; `permissions` are those it is made with, before the process's mask.
    ///
    /// Throws: `notAFile` when `path` is a device, a pipe or a folder, which must not be replaced; `system`, of the
    /// call `lock`, when another process is writing this file.
    package init(_ path: String, permissions: mode_t = 0o666) throws(FileError) {
        guard Self.mayReplace(path) else { throw .notAFile(path: path) }
        self.path = path
        partial = "\(path).partial"
        for _ in 0..<Self.attempts {
            if let descriptor = try Self.create(partial, permissions) {
                self.descriptor = descriptor
                return
            }
            try Self.removeLeftover(partial)
        }
        throw .system(call: "lock", path: partial, code: EWOULDBLOCK)
    }

    deinit {
        guard isOpen else { return }
        unlink(partial)
        close(descriptor)
    }

    /// Appends all of `bytes`.
    package func write(_ bytes: [UInt8]) throws(FileError) {
        try writeAll(bytes, to: descriptor, partial)
    }

    /// Appends all of `bytes`.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try writeAll(bytes, to: descriptor, partial)
    }

    /// Makes the written bytes durable under the draft's name, and returns that name, to read it again before it
    /// counts.
    package func sync() throws(FileError) -> String {
        guard retrying({ fsync(descriptor) }) == 0 else { throw failure("sync") }
        return partial
    }

    /// Gives the file its name, durably. Nothing may be done with the draft after it.
    package func commit() throws(FileError) {
        _ = try sync()
        guard rename(partial, path) == 0 else { throw failure("rename") }
        isOpen = false
        close(descriptor)
        try SmallFile.syncFolder(of: path)
    }

    /// Whether `path` is free, or a regular file. Links below `/dev` name open files of a process.
    private static func mayReplace(_ path: String) -> Bool {
        var status = stat()
        if path.hasPrefix("/dev/"), lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
            return false
        }
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    /// A new file, locked; nil when one is there, or another writer took this one for a leftover.
    private static func create(_ path: String, _ permissions: mode_t) throws(FileError) -> Int32? {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = retrying { open(path, flags, permissions) }
        guard descriptor >= 0 else {
            guard errno == EEXIST else { throw .system(call: "create", path: path, code: errno) }
            return nil
        }
        let isLocked = retrying { flock(descriptor, LOCK_EX | LOCK_NB) } == 0
        guard isLocked, isNamed(descriptor, path) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Removes the file at `path`, unless a live writer holds it.
    private static func removeLeftover(_ path: String) throws(FileError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw .system(call: "create", path: path, code: errno) }
            return
        }
        var descriptor: Int32 = -1
        defer { if descriptor >= 0 { close(descriptor) } }
        if status.st_mode & S_IFMT == S_IFREG {
            descriptor = retrying {
                open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            }
            // A file that cannot even be read is not one of this process.
            if descriptor >= 0 {
                guard retrying({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 else {
                    throw .system(call: "lock", path: path, code: errno)
                }
                guard isNamed(descriptor, path) else { return }
            }
        }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw .system(call: "remove", path: path, code: errno)
        }
    }

    private static func isNamed(_ descriptor: Int32, _ path: String) -> Bool {
        var held = stat()
        var named = stat()
        return fstat(descriptor, &held) == 0 && lstat(path, &named) == 0
            && held.st_ino == named.st_ino && held.st_dev == named.st_dev
    }

    private func failure(_ call: String) -> FileError {
        .system(call: call, path: partial, code: errno)
    }
}
