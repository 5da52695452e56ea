import Glibc

/// The end of standard input.
enum InputEnd {
    /// Reads and forgets standard input until it ends. Blocks.
    static func wait() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count > 0 || count < 0 && errno == EINTR { continue }
            return
        }
    }
}
