import Glibc

/// An input that a command reads whole: a file, a pipe, a device or standard input.
package enum InputFile {
    /// Reads the file at `path`, at most `byteLimit` bytes of it; `-` is standard input.
    ///
    /// Waits for the writer of a pipe. Throws: `isFolder`, `tooLarge`, or `system`.
    package static func read(_ path: String, byteLimit: Int) throws(FileError) -> [UInt8] {
        guard path != "-" else {
            return try readAll(STDIN_FILENO, "standard input", byteLimit: byteLimit)
        }
        let descriptor = retrying { open(path, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .system(call: "open", path: path, code: errno) }
        defer { close(descriptor) }
        return try readAll(descriptor, path, byteLimit: byteLimit)
    }

    /// Reads an open file to its end, at most `byteLimit` bytes of it.
    static func readAll(
        _ descriptor: Int32,
        _ name: String,
        byteLimit: Int
    ) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = retrying { Glibc.read(descriptor, &chunk, chunk.count) }
            if count < 0, errno == EISDIR { throw .isFolder(path: name) }
            guard count >= 0 else { throw .system(call: "read", path: name, code: errno) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= byteLimit else {
                throw .tooLarge(path: name, byteLimit: byteLimit)
            }
        }
    }
}
