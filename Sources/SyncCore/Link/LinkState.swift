import JSONTree

/// How far a link is from being able to send requests.
enum LinkState: Equatable {
    /// Nothing was asked for so far.
    case idle
    /// The app, or the server for good, wants no connection.
    case offline
    /// The next try to connect is made at this time.
    case waiting(until: Timestamp)
    /// The token to connect with is being fetched.
    case fetchingToken
    /// The socket is being opened.
    case opening(SocketID, until: Timestamp)
    /// The socket is open; the server's hello is due.
    case greeting(SocketID, until: Timestamp)
    /// The server was told the credential and has not answered.
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

    /// Whether all that is pending was sent.
    var isConnected: Bool {
        switch self {
        case .idle, .offline, .waiting, .fetchingToken, .opening, .greeting, .authenticating: false
        case .connected: true
        }
    }

    /// Whether the server has said hello.
    var isGreeted: Bool {
        switch self {
        case .idle, .offline, .waiting, .fetchingToken, .opening, .greeting: false
        case .authenticating, .connected: true
        }
    }
}
