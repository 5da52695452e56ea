import Glibc

/// What tells one state of a file from another without reading it.
package struct FileStamp: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    package var byteCount: Int64
    /// Last change of the content, nanoseconds since 1970.
    package var modified: Int64

    package init(device: UInt64, inode: UInt64, byteCount: Int64, modified: Int64) {
        self.device = device
        self.inode = inode
        self.byteCount = byteCount
        self.modified = modified
    }

    init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            byteCount: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec),
        )
    }

    /// The stamp of the file at `path` (links followed); nil when nothing can be read there.
    package static func of(_ path: String) -> FileStamp? {
        var status = stat()
        return stat(path, &status) == 0 ? FileStamp(status) : nil
    }
}
