import CTransport
import Synchronization

/// Where libwebsockets' errors and warnings go; dropped until someone asks for them.
enum TransportLog {
    private static let sink = Mutex<(@Sendable (TransportLogLevel, String) -> Void)?>(nil)

    static func setSink(_ body: @escaping @Sendable (TransportLogLevel, String) -> Void) {
        sink.withLock { $0 = body }
        install()
    }

    static func install() {
        hearth_set_log { level, line in
            guard let line else { return }
            var text = String(cString: line)
            while text.last?.isNewline == true { text.removeLast() }
            guard let body = TransportLog.sink.withLock({ $0 }) else { return }
            body(level == 1 ? .error : .warning, text)
        }
    }
}

extension EventLoop {
    /// Hands every error and warning of libwebsockets to `sink`, one line each, from any thread.
    ///
    /// Without a sink they are dropped: they repeat what the typed errors say.
    package static func setLog(
        _ sink: @escaping @Sendable (TransportLogLevel, String) -> Void
    ) {
        TransportLog.setSink(sink)
    }
}
