/// Opens WebSockets as a client.
package protocol ClientTransport: AnyObject, Sendable {
    /// Opens a WebSocket; `tell` receives its events in order, on a thread of the transport. Returns at once. The last
    /// event is always `closed`, also when it never opened.
    func open(
        _ request: SocketRequest,
        tell: @escaping @Sendable (SocketEvent) -> Void,
    ) -> any ClientSocket
}

/// One WebSocket of a client. All functions return at once and may be called on any thread. It lives until either side
/// or the network closes it, even without a reference to it.
package protocol ClientSocket: AnyObject, Sendable {
    /// Sends text frames in order, with none between them; dropped once the socket is closed.
    func send(_ frames: [[UInt8]])
    /// Says goodbye with a close frame and closes. Frames given before go out first.
    func close()
}

/// The data for opening a WebSocket.
package struct SocketRequest: Sendable {
    /// Host and port as in a URL: `localhost:9000`, `[::1]:9000`, `db.example.org`.
    package var host: String
    /// Whether with TLS.
    package var isSecure: Bool
    /// Path and query.
    package var target: String
    /// Further header lines, by name.
    package var headers: [(name: String, value: String)] = []
    /// A PEM file of the authorities that the server's certificate is checked against; nil: the system's.
    package var authorityFile: String?

    /// Makes a request.
    package init(host: String, isSecure: Bool, target: String) {
        self.host = host
        self.isSecure = isSecure
        self.target = target
    }
}

/// An event of a WebSocket.
package enum SocketEvent: Sendable {
    /// The handshake is done.
    case opened
    /// One whole text frame.
    case received([UInt8])
    /// It is gone or could not be opened, for this reason; the last event.
    case closed(reason: String)
}

/// The transport of this platform: libwebsockets on Linux, the system's `URLSession` on Apple's. One transport carries
/// any number of sockets. Its resources are freed when it is released and its sockets are closed.
package func makeClientTransport() -> any ClientTransport {
    #if canImport(Darwin)
        return URLSessionTransport()
    #else
        return LibwebsocketsTransport()
    #endif
}
