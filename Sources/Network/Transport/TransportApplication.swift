/// The application of a listener. Every call comes on the loop and must not wait.
@LoopActor
package protocol TransportApplication: AnyObject {
    /// Accepts or refuses a request by its head alone: before its body is read, and before an upgrade.
    ///
    /// `head.isWebSocketUpgrade` says which of the two acceptance would mean. What is put into the exchange's `userData`
    /// stays there, and goes over to the WebSocket.
    func admit(_ exchange: HTTPExchange) -> Admission

    /// A WebSocket is open; it can be sent to from now on. Its `userData` is that of the exchange it began with.
    func opened(_ connection: WebSocketConnection, _ head: RequestHead)

    /// One whole text message arrived, valid UTF-8.
    func received(_ connection: WebSocketConnection, _ message: [UInt8])

    /// The WebSocket has ended; called once per `opened`: when the peer's Close frame arrives (not when TCP ends),
    /// when the socket ends without one, or at the end of the tick in which this side closed it. Nothing is received
    /// after it.
    func closed(_ connection: WebSocketConnection)

    /// A request is complete, or, accepted in parts, its body has begun to arrive. Answer it, now or later, with one
    /// of its `respond` calls.
    func request(_ exchange: HTTPExchange)

    /// The answer to a request leaves, so many nanoseconds after its head was read: its whole, or its beginning.
    func answered(_ exchange: HTTPExchange, after nanoseconds: UInt64)

    /// The peer left before its request was answered, or before the whole answer was sent.
    func aborted(_ exchange: HTTPExchange)

    /// The tick ends: what is sent now leaves in it.
    func tickEnded()

    /// Bytes that the body of the request may have where the limit of the listener is not meant for it; else nil.
    func bodyByteLimit(_ head: RequestHead) -> Int?

    /// The client that sends the request, for limits per client; asked when part of a body or message has to wait.
    func client(_ head: RequestHead) -> String
}

extension TransportApplication {
    /// That of the listener.
    package func bodyByteLimit(_ head: RequestHead) -> Int? { nil }

    /// Is not measured.
    package func answered(_ exchange: HTTPExchange, after nanoseconds: UInt64) {}

    /// The other end of the socket.
    package func client(_ head: RequestHead) -> String { head.peerAddress }
}

/// The application's decision about a request head.
package enum Admission {
    /// Read the body and deliver the request, or open the WebSocket with this subprotocol.
    case accept(subprotocol: String? = nil)
    /// Read the body. Deliver the request before its body is complete if it is large, or if the peer expects `100
    /// Continue`: the application then asks for the body with `receiveBody`.
    case acceptInParts
    /// Answer this and nothing else.
    case refuse(HTTPResponse)
}

/// Headers in the order they are sent.
package typealias HTTPHeaders = [(name: String, value: String)]

/// A whole answer. The transport adds Content-Length, Date and Connection, and leaves the body out where HTTP says so
/// (HEAD, 204, 304).
package struct HTTPResponse: Sendable {
    /// The status code; not 1xx.
    package var status: Int
    /// Headers in the order they are sent.
    package var headers: HTTPHeaders
    /// The whole body.
    package var body: [UInt8]

    /// Creates an answer. When it is sent, control characters in header values become spaces.
    package init(status: Int, headers: HTTPHeaders = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer of one line of plain text, which ends with a newline.
    package static func text(
        _ status: Int,
        _ line: String,
        headers: HTTPHeaders = []
    ) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
            body: Array("\(line)\n".utf8)
        )
    }
}

/// The next step of a stream.
package enum StreamStep<Chunk> {
    /// Send this, then ask again. Tens of KiB are a good size.
    case next(Chunk)
    /// Nothing yet; ask again after `resumeStream`.
    case wait
    /// The stream is over.
    case end
}
