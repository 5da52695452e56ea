/// Where a listener listens and how patient it is.
package struct TransportConfiguration: Sendable {
    /// An address or a name to bind; the first of its addresses that can be bound is used.
    package var host = "127.0.0.1"
    /// The port to bind; 0 lets the system choose (see `Listener.port`).
    package var port = 9000
    /// With files the port speaks TLS only, without them plain text only.
    package var tls: TLSFiles?
    /// Whether answers over TLS tell browsers to use only TLS for a year (RFC 6797).
    package var demandsTLS = false
    /// Limits of everything that peers can make grow.
    package var limits = TransportLimits()
    /// How long peers may take.
    package var timeouts = TransportTimeouts()
    /// Whether the limits of one peer do not count for an address: it speaks for others.
    package var speaksForOthers: (@Sendable (String) -> Bool)?

    /// Creates a configuration with every setting at its default.
    package init() {}
}

/// The PEM files of a TLS identity.
package struct TLSFiles: Sendable, Equatable {
    /// The certificate, followed by the chain that leads to its root.
    package let certificate: String
    /// The private key of the certificate.
    package let key: String

    /// Names the two files; they are read by `Listener.init` and `Listener.reloadTLS`.
    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// Everything a peer can make grow, with its number.
package struct TransportLimits: Sendable {
    /// Open connections of one listener; more are accepted and closed at once. Somewhat less than
    /// `EventLoop.descriptorLimit`.
    package var connectionCount = 60_000
    /// Bytes of a request line and all header lines together; more is answered 431.
    package var headByteCount = 32 * 1024
    /// Header lines of one request; more is answered 431.
    package var headerCount = 100
    /// Bytes of one request body, decoded; more is answered 413. REST writes may have 256 MB.
    package var bodyByteCount = 256 * 1024 * 1024
    /// Bytes of one WebSocket message; more closes with 1009. SDK writes may have 16 MB, and
    /// a client may send such a message in many frames, each a message of its own.
    package var messageByteCount = 16 * 1024 * 1024
    /// Connections of one peer; more are reset at once, before TLS.
    package var peer = PeerLimits()
    /// Bytes of all unfinished bodies and messages of a listener. Beyond it the largest of the client that holds most
    /// ends: 503, or close code 1013.
    package var inboundByteCount = 512 * 1024 * 1024
    /// Bytes that one client may hold in several unfinished bodies and messages. A single one has its own limit.
    package var inboundShareByteCount = 64 * 1024 * 1024
    /// Bytes of all whole answers that wait for sockets that take no more, and how many of them one client may have.
    /// Beyond its share a connection is cut; beyond the limit the one with most of the client that has most.
    package var outboundByteCount = 512 * 1024 * 1024
    package var outboundShareByteCount = 64 * 1024 * 1024
    /// Bytes that may wait for one WebSocket behind the message being sent; more closes it.
    package var queueByteCount = 8 * 1024 * 1024
}

/// How long a silent or slow peer is kept.
package struct TransportTimeouts: Sendable {
    /// From the first byte of a request (or from the accept) to the end of its head, TLS included.
    package var head: Duration = .seconds(10)
    /// Between two requests of one connection.
    package var idle: Duration = .seconds(60)
    /// The period in which a body, or a reader of output, must progress by `progressByteCount` bytes.
    package var progress: Duration = .seconds(20)
    /// Bytes per `progress` period that count as alive; fewer are a drip-feed.
    package var progressByteCount = 4096
    /// Silence of a WebSocket after which it is sent a ping.
    package var ping: Duration = .seconds(45)
    /// Silence of a WebSocket after which it is dropped; more than `ping`.
    package var hangup: Duration = .seconds(90)
    /// How long a closed connection may take to say goodbye before it is cut.
    package var goodbye: Duration = .seconds(5)
}
