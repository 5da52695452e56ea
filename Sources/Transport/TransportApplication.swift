/// What runs on a listener. Every call comes on the loop and must not wait.
@LoopActor
package protocol TransportApplication: AnyObject {
    /// Decides over a request by its head alone: before its body is read, and before an upgrade.
    ///
    /// `head.isWebSocketUpgrade` says which of the two acceptance would mean.
    func judge(_ head: RequestHead) -> Verdict

    /// A WebSocket is open; it can be sent to from now on.
    func opened(_ connection: WebSocketConnection, _ head: RequestHead)

    /// One whole text message arrived; it is valid UTF-8.
    func received(_ connection: WebSocketConnection, _ message: [UInt8])

    /// The WebSocket is over. Once per `opened`: when the peer's Close frame arrives (not when TCP
    /// ends), when the socket ends without one, or at the end of the turn in which it was closed
    /// from this side. Nothing is received after it.
    func closed(_ connection: WebSocketConnection)

    /// A request is complete, or, accepted in parts, its body has begun to come. It must be answered, now or later, with one of its `respond` calls.
    func request(_ exchange: HTTPExchange)

    /// The peer left before its request was answered, or before the answer was sent whole.
    func aborted(_ exchange: HTTPExchange)

    /// The turn ends: what is sent now leaves in it.
    func turnEnded()

    /// Whose request it is, for what each client may hold; asked when part of a body or message has to wait.
    func client(_ head: RequestHead) -> String
}

extension TransportApplication {
    /// The other end of the socket.
    package func client(_ head: RequestHead) -> String { head.peerAddress }
}

/// An application's decision over a request head.
package enum Verdict {
    /// Read the body and deliver the request, or open the WebSocket with this subprotocol.
    case accept(subprotocol: String? = nil)
    /// Read the body, and deliver the request before it is complete when it is large, or when the peer waits
    /// for a word before it sends it: the application then asks for the body with `receiveBody`.
    case acceptInParts
    /// Answer this and nothing else.
    case refuse(HTTPResponse)
}

/// A whole answer. Content-Length, Date and Connection are added by the transport, and the body
/// is left out where HTTP says so (HEAD, 204, 304).
package struct HTTPResponse: Sendable {
    /// The status code; not 1xx.
    package var status: Int
    /// Headers in the order they are sent.
    package var headers: [(name: String, value: String)]
    /// The whole body.
    package var body: [UInt8]

    /// Creates an answer; control characters in header values become spaces when it is sent.
    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer of one line of plain text, which ends with a newline.
    package static func text(
        _ status: Int,
        _ line: String,
        headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
            body: Array("\(line)\n".utf8)
        )
    }
}

/// What a stream says when it is asked for more.
package enum StreamStep<Chunk> {
    /// Send this, then ask again. Tens of KiB are a good size.
    case next(Chunk)
    /// There is nothing yet; ask again after `resumeStream`.
    case wait
    /// The stream is over.
    case end
}
