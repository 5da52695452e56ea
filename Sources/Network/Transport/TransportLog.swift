import CTransport
import Synchronization

/// Where libwebsockets' errors and warnings go. Without a sink they are dropped: the typed errors report the same.
package enum TransportLog {
    private static let sink = Mutex<(@Sendable (_ isError: Bool, _ line: String) -> Void)?>(nil)

    /// Passes every error and warning to `body`, one line each, from any thread.
    package static func setSink(
        _ body: @escaping @Sendable (_ isError: Bool, _ line: String) -> Void
    ) {
        sink.withLock { $0 = body }
        install()
    }

    static func install() {
        hearth_set_log { level, line in
            guard let line else { return }
            var text = String(cString: line)
            while text.last?.isNewline == true { text.removeLast() }
            guard let body = TransportLog.sink.withLock({ $0 }) else { return }
            body(level == 1, text)
        }
    }
}
