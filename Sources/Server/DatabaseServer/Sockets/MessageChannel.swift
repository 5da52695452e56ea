import Transport

/// What takes messages to the client of a connection, and what ends with it.
///
/// An enumeration of objects, so that sending to thousands of sockets is one test and one call for each.
@LoopActor
enum MessageChannel {
    case socket(WebSocketConnection)
    case poll(PollSession)

    /// The client, for the limits of each.
    var client: String {
        switch self {
        case .socket(let socket): socket.client
        case .poll(let poll): poll.client
        }
    }

    /// Queues frames. Ignored once the channel is over.
    func send(_ frame: SharedFrame) {
        switch self {
        case .socket(let socket): socket.send(frame)
        case .poll(let poll): poll.send(frame)
        }
    }

    /// Queues a large value that is made as the client takes it; what comes later waits behind it.
    func sendStream(_ source: MessageSource) {
        switch self {
        case .socket(let socket): socket.sendStream { source.next() }
        case .poll(let poll): poll.sendStream(source)
        }
    }

    /// Says that a source which had to wait has more, or has ended.
    func resumeStream() {
        switch self {
        case .socket(let socket): socket.resumeStream()
        case .poll(let poll): poll.wake()
        }
    }

    /// Ends the connection behind everything queued. Long polling has no code and reason.
    func close(code: UInt16, reason: String) {
        switch self {
        case .socket(let socket): socket.close(code: code, reason: reason)
        case .poll(let poll): poll.close()
        }
    }

    /// Gives the server no message until `resumeMessages`.
    func holdMessages() {
        switch self {
        case .socket(let socket): socket.holdMessages()
        case .poll(let poll): poll.isHeld = true
        }
    }

    /// Goes on with messages after `holdMessages`.
    func resumeMessages() {
        switch self {
        case .socket(let socket): socket.resumeMessages()
        case .poll(let poll): poll.resumeMessages()
        }
    }
}
