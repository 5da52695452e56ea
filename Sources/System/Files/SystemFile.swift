import Glibc

/// Files that the system makes up as they are read, such as those of `/proc`.
package enum SystemFile {
    /// Bytes of one that are read.
    private static let byteLimit = 1 << 20

    /// The text of one, whose length is not known before, up to 1 MiB of it; empty when it cannot be read.
    package static func text(of path: String) -> String {
        let descriptor = retrying { open(path, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count < byteLimit {
            let count = retrying { read(descriptor, &chunk, chunk.count) }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
