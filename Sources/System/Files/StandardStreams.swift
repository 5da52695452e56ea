import Glibc

/// The three descriptors that every process expects to be open.
package enum StandardStreams {
    /// Puts `/dev/null` where standard input, output or error is closed.
    ///
    /// Otherwise the first files and sockets that the process opens get these numbers, and receive the printed text.
    /// Call it before anything else is opened. Throws: `system` when there is no `/dev/null`.
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
    /// Writes a line, with control characters as escapes. If the reader is gone, the line is lost: there is no other
    /// way to report it.
    package static func print(_ line: String) {
        write(Array((TerminalText.shown(line) + "\n").utf8))
    }

    /// Writes bytes as they are, with the same fate.
    package static func write(_ bytes: [UInt8]) {
        do throws(FileError) { try writeAll(bytes, to: STDERR_FILENO, "standard error") } catch {
            return
        }
    }
}

/// The process's standard output.
package enum StandardOutput {
    /// Writes a line, with control characters as escapes.
    ///
    /// Throws: `system` when it cannot be written; `isClosedPipe` when that is for its reader is gone, which takes
    /// that the process ignores SIGPIPE.
    package static func print(_ line: String) throws(FileError) {
        let bytes = Array((TerminalText.shown(line) + "\n").utf8)
        try writeAll(bytes, to: STDOUT_FILENO, "standard output")
    }
}
