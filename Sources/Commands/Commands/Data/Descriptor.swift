import Files
import Glibc

/// An open file, pipe or terminal.
///
/// Owns the number and closes it, but for the three standard ones.
final class Descriptor {
    let number: Int32

    /// For errors: the file's name, or `standard output`.
    let name: String

    init(_ number: Int32, _ name: String) {
        self.number = number
        self.name = name
    }

    deinit {
        if number > STDERR_FILENO { close(number) }
    }

    static var standardInput: Descriptor { Descriptor(STDIN_FILENO, "standard input") }
    static var standardOutput: Descriptor { Descriptor(STDOUT_FILENO, "standard output") }

    /// Opens a file to be read; a folder is refused.
    static func reading(_ path: String) throws(CommandError) -> Descriptor {
        let descriptor = try opened(path, O_RDONLY)
        guard try descriptor.status().st_mode & S_IFMT != S_IFDIR else {
            throw .failed("\(path): is a folder")
        }
        return descriptor
    }

    static func opened(_ path: String, _ flags: Int32) throws(CommandError) -> Descriptor {
        let number = retrying { open(path, flags | O_CLOEXEC, 0o644) }
        guard number >= 0 else { throw systemError(path) }
        return Descriptor(number, path)
    }

    static func systemError(_ path: String) -> CommandError {
        .failed("\(path): \(String(cString: strerror(errno)))")
    }

    var isTerminal: Bool { isatty(number) == 1 }

    func status() throws(CommandError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw Self.systemError(name) }
        return status
    }

    /// The length of a file of this status; nil for what has none, as a pipe.
    static func byteCount(_ status: stat) -> Int? {
        status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    /// Fills a part of the buffer from its start; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(CommandError) -> Int {
        while true {
            let count = Glibc.read(number, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.systemError(name) }
            return count
        }
    }

    /// Fills a part of the buffer from its start, and returns it; nothing at the end.
    func read(into buffer: inout [UInt8]) throws(CommandError) -> ArraySlice<UInt8> {
        let count = try buffer.withUnsafeMutableBufferPointer { (bytes) throws(CommandError) in
            try read(into: UnsafeMutableRawBufferPointer(bytes))
        }
        return buffer[..<count]
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(CommandError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(number, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw errno == EPIPE ? .outputClosed : Self.systemError(name)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    func write(_ bytes: [UInt8]) throws(CommandError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(CommandError) in
            try write(UnsafeRawBufferPointer(buffer))
        }
    }

    /// Reads all there is, of a file with a limit.
    func readAll(byteLimit: Int) throws(CommandError) -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let read = try read(into: &part)
            if read.isEmpty { return bytes }
            bytes += read
            guard bytes.count <= byteLimit else {
                throw .failed("\(name): has more than \(byteLimit) bytes")
            }
        }
    }
}
