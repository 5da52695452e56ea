import JSONTree

/// How far a link is from being able to send requests.
enum LinkState: Equatable {
    /// Nothing was asked for so far.
    case idle
    /// The app chose to be offline, or the server refused for good.
    case offline
    /// The next try to connect is made at this time.
    case waiting(until: Timestamp)
    case fetchingToken
    case opening(SocketID, until: Timestamp)
    /// The socket is open; the server's hello is due.
    case greeting(SocketID, until: Timestamp)
    /// The credential was sent; the server has not answered.
    case authenticating(SocketID)
    /// Requests can be sent, and all that is pending was.
    case connected(SocketID)

    /// The socket in use, open or not.
    var socket: SocketID? {
        switch self {
        case .idle, .offline, .waiting, .fetchingToken: nil
        case .opening(let socket, _), .greeting(let socket, _): socket
        case .authenticating(let socket), .connected(let socket): socket
        }
    }

    var isConnected: Bool {
        if case .connected = self { true } else { false }
    }

    /// Whether the server's hello has arrived.
    var isGreeted: Bool {
        switch self {
        case .idle, .offline, .waiting, .fetchingToken, .opening, .greeting: false
        case .authenticating, .connected: true
        }
    }
}
