import Files
import Glibc
import JSONTree
package import WriteAheadLog

extension FileLogStorage: BlobStorage {
    package func createNew(_ path: String) throws(LogError) -> any LogFile {
        let full = fullPath(path)
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = retrying { Glibc.open(full, flags, 0o600) }
        guard descriptor >= 0 else { throw .posix(.create, full) }
        return file(owning: descriptor, path)
    }

    package func openToRead(_ path: String) throws(LogError) -> (any LogFile)? {
        let full = fullPath(path)
        // A pipe must not be waited for.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = retrying { Glibc.open(full, flags) }
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw .posix(.open, full) }
        return file(owning: descriptor, path)
    }

    package func link(_ path: String, to newPath: String) throws(LogError) -> Bool {
        guard Glibc.link(fullPath(path), fullPath(newPath)) != 0 else { return true }
        guard errno == EEXIST else { throw .posix(.link, fullPath(path)) }
        return false
    }

    package func protect(_ path: String) throws(LogError) {
        let full = fullPath(path)
        let descriptor = retrying { Glibc.open(full, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .posix(.protect, full) }
        defer { Glibc.close(descriptor) }
        guard retrying({ fchmod(descriptor, 0o400) }) == 0 else { throw .posix(.protect, full) }
        guard retrying({ fsync(descriptor) }) == 0 else { throw .posix(.sync, full) }
    }

    package func status(_ path: String) throws(LogError) -> FileStatus? {
        let full = fullPath(path)
        var status = stat()
        guard lstat(full, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw .posix(.status, full)
        }
        let kind: FileStatus.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        let time = status.st_mtim
        let milliseconds = Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        return FileStatus(
            kind: kind,
            byteCount: Int64(status.st_size),
            modified: Timestamp(milliseconds: milliseconds),
            isProtected: status.st_mode & S_IWUSR == 0
        )
    }
}
