import Glibc

/// Identifies a state of a file without reading it.
package struct FileStamp: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    package var byteCount: Int64
    /// Last change of the content, nanoseconds since 1970.
    package var modified: Int64

    /// The stamp of the file at `path` (links followed); nil when nothing can be read there.
    package static func of(_ path: String) -> FileStamp? {
        var status = stat()
        return stat(path, &status) == 0 ? FileStamp(status) : nil
    }

    /// Whether there is certainly nothing at `path`; a file that cannot be looked at is not missing.
    package static func isMissing(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }
}

extension FileStamp {
    init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            byteCount: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec),
        )
    }
}
