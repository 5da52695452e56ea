import Glibc

/// A private file that only grows, by bytes that are durable when `append` returns.
package final class GrowingFile {
    package let path: String
    package private(set) var byteCount: Int
    private let descriptor: Int32

    /// Opens the file at `path`, or makes it, readable only by its owner.
    package init(_ path: String) throws(FileError) {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC
        let descriptor = retrying { open(path, flags, 0o600) }
        guard descriptor >= 0 else { throw .system(call: "open", path: path, code: errno) }
        self.path = path
        self.descriptor = descriptor
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notAFile(path: path)
        }
        byteCount = Int(status.st_size)
        if byteCount == 0 {
            do { try SmallFile.syncFolder(of: path) } catch {
                close(descriptor)
                throw error
            }
        }
    }

    deinit {
        close(descriptor)
    }

    /// Appends all of `bytes` and syncs, or leaves the file as it was.
    package func append(_ bytes: [UInt8]) throws(FileError) {
        do throws(FileError) {
            try writeAll(bytes, to: descriptor, path)
            guard retrying({ fdatasync(descriptor) }) == 0 else {
                throw .system(call: "sync", path: path, code: errno)
            }
            byteCount += bytes.count
        } catch {
            // What is left of a line would be read as a torn one.
            _ = retrying { ftruncate(descriptor, off_t(byteCount)) }
            throw error
        }
    }
}
