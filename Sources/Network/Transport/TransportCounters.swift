/// Totals of one listener since it was made. They only grow; `open` counts are current.
package struct TransportCounters: Sendable {
    /// Connections accepted.
    package var connectionCount = 0
    /// Connections open now, WebSockets included.
    package var openConnectionCount = 0
    /// WebSockets opened.
    package var webSocketCount = 0
    /// WebSockets whose end is not yet reported.
    package var openWebSocketCount = 0
    /// Requests whose head was read, upgrades included.
    package var requestCount = 0
    /// Whole text messages received.
    package var receivedFrameCount = 0
    /// Text frames queued for sending, one per receiver.
    package var sentFrameCount = 0
    /// Bytes received, TLS taken off.
    package var receivedByteCount = 0
    /// Bytes the sockets took, before TLS.
    package var sentByteCount = 0
    /// WebSockets closed because too much output waited.
    package var slowReaderCount = 0
    /// Connections cut or answered 408 because the peer was silent or too slow.
    package var timeoutCount = 0
    /// Requests answered with an error by the transport itself, before the application saw them.
    package var badRequestCount = 0
    /// Connections on which a peer spoke TLS to a plain port.
    package var tlsOnPlainPortCount = 0
    /// WebSockets closed because the peer broke the protocol.
    package var badFrameCount = 0
    /// Requests and upgrades the application refused.
    package var refusedCount = 0
    /// Failed accepts, over the connection limit or in the TLS layer.
    package var failedAcceptCount = 0
    /// Connections reset at once because their peer had too many.
    package var refusedConnectionCount = 0
    /// Unfinished bodies and messages ended because their client, or all clients, held too many bytes.
    package var overloadCount = 0
    /// Bytes of unfinished bodies and messages now.
    package var inboundByteCount = 0
    /// Bytes of answers that wait now for sockets that take no more.
    package var outboundByteCount = 0
    /// Connections cut because answers of their client, or of all, took too many bytes.
    package var cutAnswerCount = 0
}

/// Output that waits for the sockets of one listener now.
package struct QueuedOutput: Sendable, Equatable {
    /// Bytes queued for all sockets. Shared bytes count once for each queue.
    package var byteCount = 0
    /// Bytes queued for the one with the most.
    package var greatestByteCount = 0
}

/// Totals of the event loop since it started.
package struct LoopCounters: Sendable {
    /// Ticks of the loop.
    package var tickCount = 0
    /// The longest time one tick kept every other connection waiting.
    package var longestTickNanoseconds: UInt64 = 0
    /// Ticks longer than 50 ms: nothing may block the loop for so long.
    package var slowTickCount = 0
    /// Ticks whose flush was cut short so that new input could interleave.
    package var flushSliceCount = 0
    /// Times a socket was served: read from or written to when it was ready, steps of TLS handshakes included.
    package var servedCount = 0
    /// The most sockets that were served in one tick.
    package var mostServedCount = 0
}
