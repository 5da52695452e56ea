import Glibc

/// The three descriptors that every process expects to be open.
package enum StandardStreams {
    /// Puts `/dev/null` where standard input, output or error is closed.
    ///
    /// Otherwise the first files and sockets that the process opens take these numbers, and receive what is printed. To
    /// be called before anything else is opened. Throws: `system` when there is no `/dev/null`.
    package static func fillGaps() throws(FileError) {
        let path = "/dev/null"
        while true {
            // Not closed in children: these numbers are theirs too.
            let descriptor = retrying { open(path, O_RDWR) }
            guard descriptor >= 0 else { throw .system(call: "open", path: path, code: errno) }
            guard descriptor <= STDERR_FILENO else {
                close(descriptor)
                return
            }
        }
    }
}

/// The process's standard error.
package enum StandardError {
    /// Writes a line, in which control characters are shown as escapes; one that cannot be written (the
    /// reader is gone) is lost: there is nowhere to say so.
    package static func print(_ line: String) {
        write(Array((TerminalText.shown(line) + "\n").utf8))
    }

    /// Writes bytes as they are, with the same fate.
    package static func write(_ bytes: [UInt8]) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            written += count
        }
    }
}

/// The process's standard output.
package enum StandardOutput {
    /// Writes a line, in which control characters are shown as escapes.
    ///
    /// Throws: `system` when it cannot be written; `isClosedPipe` when that is for its reader is gone, which takes
    /// that the process ignores SIGPIPE.
    package static func print(_ line: String) throws(FileError) {
        let bytes = Array((TerminalText.shown(line) + "\n").utf8)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw .system(call: "write", path: "standard output", code: errno)
            }
            written += count
        }
    }
}
