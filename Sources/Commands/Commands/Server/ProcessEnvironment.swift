import Glibc

enum ProcessEnvironment {
    static func variables() -> [String: String] {
        var variables: [String: String] = [:]
        var cursor = environ
        while let entry = cursor.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            cursor += 1
        }
        return variables
    }

    /// Those for a process that this one starts: a service manager looks after this one alone.
    static func variablesForChildren() -> [String: String] {
        variables().filter { !ownNames.contains($0.key) }
    }

    /// Variables that systemd sets for the process. Source: sd_notify(3), sd_watchdog_enabled(3), sd_listen_fds(3).
    private static let ownNames: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS",
        "LISTEN_FDNAMES",
    ]
}
