import Glibc

/// Whole small files: rules, keys, secrets, settings.
package enum SmallFile {
    /// A file's bytes and its permission bits.
    package struct Content: Sendable {
        package let bytes: [UInt8]
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
        let bytes = try InputFile.readAll(descriptor, path, byteLimit: byteLimit)
        return Content(bytes: bytes, permissions: status.st_mode & 0o777)
    }

    /// Reads a file that only its owner may read, at most `byteLimit` bytes of it.
    ///
    /// - Throws: `readableByOthers`, which calls the content `what`, and as `read`.
    package static func readPrivate(
        _ path: String,
        _ what: String,
        byteLimit: Int
    ) throws(FileError) -> [UInt8] {
        let content = try read(path, byteLimit: byteLimit)
        guard content.permissions & 0o077 == 0 else {
            throw .readableByOthers(path: path, what: what, mode: "600")
        }
        return content.bytes
    }

    /// Reads the secret in a file that only its owner may read, without the white space around it.
    package static func readSecret(_ path: String, byteLimit: Int) throws(FileError) -> [UInt8] {
        let bytes = try readPrivate(path, "this secret", byteLimit: byteLimit)
        let isSpace: (UInt8) -> Bool = { $0 == 32 || (9...13).contains($0) }
        return bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
    }

    /// Makes the file at `path` with `bytes`, readable only by its owner, unless it exists.
    ///
    /// A reader sees no file or the whole file, also after a crash: it is written and synced under another name, then
    /// linked into place, and the folder is synced.
    ///
    /// - Returns: Whether it was made; false when `path` exists already.
    package static func createPrivate(_ path: String, _ bytes: [UInt8]) throws(FileError) -> Bool {
        let draft = "\(path).\(getpid()).\(UInt32.random(in: 0...UInt32.max)).draft"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let descriptor = retrying { open(draft, flags, 0o600) }
        guard descriptor >= 0 else { throw .system(call: "create", path: draft, code: errno) }
        defer { unlink(draft) }
        do {
            defer { close(descriptor) }
            try writeAll(bytes, to: descriptor, draft)
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
