import Glibc

/// Whole small files: rules, keys, secrets, settings.
package enum SmallFile {
    /// A file's bytes with the stamp they had and its permission bits.
    package struct Content: Sendable {
        package let bytes: [UInt8]
        package let stamp: FileStamp
        /// The low nine bits of its mode.
        package let permissions: UInt32
    }

    /// Reads the regular file at `path`, at most `byteLimit` bytes of it.
    package static func read(_ path: String, byteLimit: Int) throws(FileError) -> Content {
        let descriptor = retrying { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw .system(call: "open", path: path, code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .system(call: "stat", path: path, code: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = retrying { Glibc.read(descriptor, &chunk, chunk.count) }
            guard count >= 0 else { throw .system(call: "read", path: path, code: errno) }
            guard count > 0 else { break }
            bytes += chunk[..<count]
            guard bytes.count <= byteLimit else {
                throw .tooLarge(path: path, byteLimit: byteLimit)
            }
        }
        return Content(
            bytes: bytes,
            stamp: FileStamp(status),
            permissions: status.st_mode & 0o777
        )
    }

    /// Makes the file at `path` with `bytes`, readable by its owner alone, or leaves what is there.
    ///
    /// Whoever looks sees no file or the whole file, also after a crash: it is written and synced under another
    /// name, then linked into place, and the folder is synced.
    ///
    /// - Returns: Whether it was made; false when something stands at `path` already.
    package static func createPrivate(
        _ path: String,
        _ bytes: [UInt8],
    ) throws(FileError) -> Bool {
        let draft = "\(path).\(getpid()).\(UInt32.random(in: 0...UInt32.max)).draft"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let descriptor = retrying { open(draft, flags, 0o600) }
        guard descriptor >= 0 else { throw .system(call: "create", path: draft, code: errno) }
        defer { unlink(draft) }
        do {
            defer { close(descriptor) }
            try writeAll(bytes, to: descriptor, path: draft)
            guard retrying({ fsync(descriptor) }) == 0 else {
                throw FileError.system(call: "sync", path: draft, code: errno)
            }
        }
        guard link(draft, path) == 0 else {
            guard errno == EEXIST else { throw .system(call: "link", path: path, code: errno) }
            return false
        }
        try syncFolder(of: path)
        return true
    }

    private static func writeAll(
        _ bytes: [UInt8],
        to descriptor: Int32,
        path: String,
    ) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(call: "write", path: path, code: errno) }
            written += count
        }
    }

    /// Makes the names in the folder of the file at `path` durable.
    package static func syncFolder(of path: String) throws(FileError) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = retrying { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .system(call: "open", path: folder, code: errno) }
        defer { close(descriptor) }
        guard retrying({ fsync(descriptor) }) == 0 else {
            throw .system(call: "sync", path: folder, code: errno)
        }
    }
}
