import Glibc

/// The descriptors that the system lets this process have; sockets and files share them.
enum Descriptors {
    /// Kept for everything that is no connection: a log that finds none left has to stop the server.
    static let reserve = 64

    /// Raises the limit as far as the system allows.
    ///
    /// - Returns: the connections that may be open under it; at least one.
    static func raiseLimit() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 1 }
        var raised = limit
        raised.rlim_cur = raised.rlim_max
        if setrlimit(resource, &raised) == 0 { limit = raised }
        return max(1, Int(min(limit.rlim_cur, rlim_t(Int32.max))) - reserve)
    }
}
