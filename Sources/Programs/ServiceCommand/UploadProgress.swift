import Files
import Glibc
import Synchronization

/// The progress of an upload on standard error, if that is a terminal: one line that is written over.
package final class UploadProgress: Sendable {
    private let shown = Mutex("")

    package init() {}

    /// Shows how much is there.
    package func show(_ completed: Int64, of total: Int64) {
        let text = "\(total == 0 ? 100 : completed * 100 / total) % of \(total) bytes sent"
        shown.withLock { shown in
            guard isatty(STDERR_FILENO) == 1, text != shown else { return }
            StandardError.write(Array("\r\(text)\u{1B}[K".utf8))
            shown = text
        }
    }

    /// Takes the line away.
    package func end() {
        shown.withLock { shown in
            if !shown.isEmpty { StandardError.write(Array("\r\u{1B}[K".utf8)) }
            shown = ""
        }
    }
}
