package import Glibc

/// A file that is written under another name and takes its own when it is whole.
///
/// Whoever looks at `path` sees what stood there before, or the whole new file, also after a crash.
/// The bytes are in `path.partial` until then, which is always a new file with the owner and
/// permissions that were asked for: what a killed process or a stranger left under that name, a link
/// too, is removed and never written to. A lock keeps two writers of one file apart.
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
    /// Throws: `notAFile` when a device, a pipe or a folder stands at `path`, which must not be replaced;
    /// `system`, of the call `lock` when somebody else is writing this file.
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
        try bytes.withUnsafeBufferPointer { bytes throws(FileError) in
            try write(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Appends all of `bytes`.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write") }
            written += count
        }
    }

    /// Makes what was written durable, still under the draft's name, and returns that name: for
    /// whoever wants to read it again before it counts.
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

    /// Whether nothing is at `path`, or a regular file. Links below `/dev` stand for what a process has open.
    private static func mayReplace(_ path: String) -> Bool {
        var status = stat()
        if path.hasPrefix("/dev/"), lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
            return false
        }
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    /// A new file, locked; nil when one is there, or another writer took this one for a leftover.
    private static func create(
        _ path: String,
        _ permissions: mode_t
    ) throws(FileError) -> Int32? {
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

    /// Removes what is at `path`, unless a writer that lives holds it.
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
            // A file that we may not even read is none of ours.
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
