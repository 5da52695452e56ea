/// Hard limits of one WebSocket of a client.
package enum SocketLimits {
    /// Bytes given to `send` that the network has not taken; more closes the socket. Twice the longest message that
    /// the server accepts, and room for those behind it.
    package static let queuedByteCount = 64 << 20
    /// Bytes of one message of the server: four times its largest answer.
    package static let messageByteCount = 256 << 20
    /// Addresses of one host that are tried.
    package static let addressCount = 8
    /// Frames and bytes written for one socket before others are served.
    static let frameCountPerTick = 256
    static let byteCountPerTick = 1 << 20
}

/// How long one WebSocket of a client may take.
struct SocketTimes {
    /// From `open` to the end of the WebSocket handshake, all addresses of the host together.
    var opening = Duration.seconds(30)
    /// To connect to one address of a host while another is left to try.
    var address = Duration.seconds(8)
    /// From `close` until the server has taken all that waits and answered the close frame.
    var closing = Duration.seconds(10)
}
