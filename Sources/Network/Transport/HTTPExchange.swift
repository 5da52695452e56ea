/// One request and the way to answer it, once.
@LoopActor
package final class HTTPExchange {
    /// Unique among the connections and exchanges of its listener.
    package let id: UInt64
    /// The request line and headers.
    package let head: RequestHead
    /// The body, transfer coding removed; when it is received in parts, the part so far. Assign `[]` to free it early.
    package var body: [UInt8] = []
    /// Whether all of the body has come.
    package internal(set) var isBodyComplete = true
    /// The application's own; not looked at.
    package var userData: AnyObject?
    /// Bytes that the body may have.
    let bodyByteLimit: Int

    /// Whether the application takes the body in parts.
    var takesParts = false
    /// Whether the application has the request, though not yet all of its body.
    var isDelivered = false
    /// Whether the application has enough of the body for now.
    private(set) var isBodyPaused = false
    private var bodyReceiver: (@LoopActor (BodyEvent) -> Void)?
    /// Whether the connection ends with the answer, even if the peer asked to keep it.
    var closesAfterAnswer = false
    var isStreaming = false
    /// Nil when the answer is complete or the peer has left.
    private var connection: HTTPConnection?
    private var isAnswered = false
    /// When its head was read: nanoseconds of the clock that never goes back.
    private let begin = EventLoop.shared.now

    init(id: UInt64, head: RequestHead, connection: HTTPConnection, bodyByteLimit: Int) {
        self.bodyByteLimit = bodyByteLimit
        self.id = id
        self.head = head
        self.connection = connection
    }

    /// The answer is complete, or the peer is gone.
    func detach() {
        connection = nil
        isStreaming = false
        bodyReceiver = nil
    }

    /// Whether an answer would still reach the peer: none was given, and the peer is connected.
    package var isAnswerable: Bool { !isAnswered && connection != nil }

    /// Takes the body without copying it, leaving it empty here.
    package func takeBody() -> [UInt8] {
        let taken = body
        body = []
        return taken
    }

    /// Receives the body as it comes; what has arrived is delivered within this call.
    ///
    /// Calls `receiver` until `.end` or `.cut`, or until the request is answered. The rest of the body is then
    /// discarded, and the connection ends with the answer.
    package func receiveBody(_ receiver: @escaping @LoopActor (BodyEvent) -> Void) {
        bodyReceiver = receiver
        handOverBody()
    }

    /// Asks for no more of the body for now: the socket is not read on.
    package func pauseBody() { isBodyPaused = true }

    /// Continues with the body.
    package func resumeBody() {
        guard isBodyPaused else { return }
        isBodyPaused = false
        connection?.resumeBody()
    }

    /// Takes the whole body instead: the application gets the request again when it is complete.
    package func awaitBody() {
        takesParts = false
        isDelivered = false
        isBodyPaused = true
        resumeBody()
    }

    /// Delivers the buffered part of the body to the receiver.
    func handOverBody() {
        guard let receiver = bodyReceiver else { return }
        if !body.isEmpty { receiver(.part(takeBody())) }
        guard isBodyComplete, bodyReceiver != nil else { return }
        bodyReceiver = nil
        receiver(.end)
    }

    /// There will be no more of the body.
    func cutBody() {
        let receiver = bodyReceiver
        bodyReceiver = nil
        receiver?(.cut)
    }

    /// Answers the request. Without effect when the peer has left.
    package func respond(_ response: HTTPResponse) {
        takeConnection()?.respond(self, response)
    }

    /// The connection for the one answer; nil when the peer has left.
    private func takeConnection() -> HTTPConnection? {
        precondition(!isAnswered, "a request is answered once")
        isAnswered = true
        if let application = connection?.connection.listener.application {
            let now = monotonicNanoseconds()
            application.answered(self, after: now > begin ? now - begin : 0)
        }
        return connection
    }

    /// Answers with a body that is pulled as the socket drains.
    ///
    /// `next` is asked whenever all before was taken by the socket; after `.wait` not before `resumeStream`. It is
    /// dropped when the peer leaves. `byteCount` is the length of the body; nil sends it chunked (until the connection
    /// closes, for HTTP/1.0). A stream that gives more or fewer bytes than it promised ends with a cut connection.
    package func respondStream(
        status: Int,
        headers: HTTPHeaders,
        byteCount: Int?,
        next: @escaping @LoopActor () -> StreamStep<[UInt8]>
    ) {
        takeConnection()?.respondStream(
            self,
            status: status,
            headers: headers,
            byteCount: byteCount,
            next: next
        )
    }

    /// Answers with `byteCount` bytes that are copied as the socket takes them, so that none wait in memory.
    ///
    /// `copy` puts the next bytes into the room that it is given and says how many; after `.wait` it is not asked before
    /// `resumeStream`. `taken` says how many of them are sent. Those that are not must come again, at least as many, with
    /// the next `copy`. Both are dropped when the peer leaves. `.end` before the last byte cuts the connection.
    package func respondCopying(
        status: Int,
        headers: HTTPHeaders,
        byteCount: Int,
        copy: @escaping @LoopActor (UnsafeMutableRawBufferPointer) -> StreamStep<Int>,
        taken: @escaping @LoopActor (Int) -> Void
    ) {
        takeConnection()?.respondCopying(
            self,
            status: status,
            headers: headers,
            byteCount: byteCount,
            copy: copy,
            taken: taken
        )
    }

    /// Answers with a body that is pushed, of any length and duration. Nil if the peer is gone or the request takes
    /// no body.
    package func respondPushed(status: Int, headers: HTTPHeaders) -> PushedResponse? {
        takeConnection()?.respondPushed(self, status: status, headers: headers)
    }

    /// Resumes a stream that answered `.wait`: it has more.
    package func resumeStream() {
        guard isStreaming else { return }
        connection?.resumeStream()
    }
}

/// An event of a body that is received in parts.
package enum BodyEvent {
    /// The next bytes; never none.
    case part([UInt8])
    /// The body is complete.
    case end
    /// The body ended early or broke the protocol; no answer is due.
    case cut
}
