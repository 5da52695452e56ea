/// Why a listener or the loop could not start or reload.
package enum TransportError: Error, Equatable {
    /// The event loop did not start; the text is libuv's or libwebsockets'.
    case loopUnavailable(reason: String)
    /// The address could not be bound. `errorNumber` is an errno value, or 0 when the host is unknown.
    case cannotListen(host: String, port: Int, errorNumber: Int32, reason: String)
    /// A certificate or key file is missing, unreadable, or does not fit the other.
    case badTLSFiles(reason: String)
}

extension TransportError: CustomStringConvertible {
    /// One line for the operator: the error, its location, and where to look.
    package var description: String {
        switch self {
        case .loopUnavailable(let reason):
            "the event loop cannot start: \(reason)"
        case .cannotListen(let host, let port, _, let reason):
            "cannot listen on \(host) port \(port): \(reason)"
        case .badTLSFiles(let reason):
            "cannot use the TLS certificate and key: \(reason)"
        }
    }
}
