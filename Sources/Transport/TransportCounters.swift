/// What one listener has done since it was made. Totals only grow; `open` counts are as of now.
package struct TransportCounters: Sendable {
    /// Connections accepted.
    package var connectionCount = 0
    /// Connections open now, WebSockets included.
    package var openConnectionCount = 0
    /// WebSockets opened.
    package var webSocketCount = 0
    /// WebSockets whose end was not yet told.
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
    /// WebSockets closed because too much waited for them.
    package var slowReaderCount = 0
    /// Connections cut or answered 408 because the peer was silent or too slow.
    package var timeoutCount = 0
    /// Requests answered with an error by the transport itself, before the application saw them.
    package var badRequestCount = 0
    /// Connections on which a peer spoke TLS to a plain port.
    package var tlsOnPlainPortCount = 0
    /// WebSockets closed for a breach of the protocol.
    package var badFrameCount = 0
    /// Requests and upgrades the application refused.
    package var refusedCount = 0
    /// Accepts that failed, over the connection limit or in the TLS layer.
    package var failedAcceptCount = 0
    /// Connections reset at once because their peer had too many.
    package var refusedConnectionCount = 0
    /// Unfinished bodies and messages ended because their client, or all, held too many bytes of them.
    package var overloadCount = 0
    /// Bytes of unfinished bodies and messages held now.
    package var inboundByteCount = 0
}

/// What waits for the sockets of one listener now.
package struct QueuedOutput: Sendable, Equatable {
    /// Bytes queued for all of them. What several queues share counts once for each.
    package var byteCount = 0
    /// Bytes queued for the one with the most.
    package var greatestByteCount = 0
}

/// What the event loop has done since it started.
package struct LoopCounters: Sendable {
    /// Times the loop went round.
    package var turnCount = 0
    /// The longest time one turn kept every other connection waiting.
    package var longestTurnNanoseconds: UInt64 = 0
    /// Turns that took more than 50 ms: nothing may hold the loop for so long.
    package var slowTurnCount = 0
    /// Turns whose flush was cut short so that new input could interleave.
    package var flushSliceCount = 0
}
