/// One request and the way to answer it, once.
@LoopActor
package final class HTTPExchange {
    /// Unique among the connections and exchanges of its listener.
    package let id: UInt64
    /// The request line and headers.
    package let head: RequestHead
    /// The body, transfer coding removed; as far as it has come when it is received in parts. Assign `[]`
    /// to let it go early.
    package var body: [UInt8] = []
    /// Whether all of the body has come.
    package internal(set) var isBodyComplete = true
    /// The application's own; not looked at.
    package var userData: AnyObject?

    /// Whether the application takes the body in parts.
    var takesParts = false
    /// Whether the application has the request, though not yet all of its body.
    var isDelivered = false
    /// Whether the application has enough of the body for now.
    private(set) var isBodyPaused = false
    private var bodyReceiver: (@LoopActor (BodyEvent) -> Void)?
    /// Whether the connection ends with the answer, whatever the peer wishes.
    var closesAfterAnswer = false
    var isStreaming = false
    /// Nil when the answer is complete or the peer has left.
    private var connection: HTTPConnection?
    private var isAnswered = false

    init(id: UInt64, head: RequestHead, connection: HTTPConnection) {
        self.id = id
        self.head = head
        self.connection = connection
    }

    /// The answer is complete, or nobody is there to take it.
    func detach() {
        connection = nil
        isStreaming = false
        bodyReceiver = nil
    }

    /// Whether an answer would still reach somebody: none was given and the peer is there.
    package var isAnswerable: Bool { !isAnswered && connection != nil }

    /// Takes the body without copying it, leaving it empty here.
    package func takeBody() -> [UInt8] {
        let taken = body
        body = []
        return taken
    }

    /// Takes the body as it comes, what is there already within this call.
    ///
    /// `receiver` is called until `.end` or `.cut`, or until the request is answered: the rest of the body is
    /// then thrown away, and the connection ends with the answer.
    package func receiveBody(_ receiver: @escaping @LoopActor (BodyEvent) -> Void) {
        bodyReceiver = receiver
        handOverBody()
    }

    /// Asks for no more of the body for now: the socket is not read on.
    package func pauseBody() { isBodyPaused = true }

    /// Goes on with the body.
    package func resumeBody() {
        guard isBodyPaused else { return }
        isBodyPaused = false
        connection?.resumeBody()
    }

    /// Takes the body as a whole after all: the request is given to the application once more when it is complete.
    package func awaitBody() {
        takesParts = false
        isDelivered = false
        isBodyPaused = true
        resumeBody()
    }

    /// Gives what has come of the body to the receiver.
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
        precondition(!isAnswered, "a request is answered once")
        isAnswered = true
        connection?.respond(self, response)
    }

    /// Answers with a body that is pulled as the socket drains.
    ///
    /// `next` is asked whenever all before was taken by the socket; after `.wait` not before
    /// `resumeStream`. It is dropped when the peer leaves. `byteCount` is the length of the body;
    /// nil sends it chunked (until the connection closes, for HTTP/1.0). A stream that gives more
    /// or fewer bytes than it promised ends with a cut connection.
    package func respondStream(
        status: Int,
        headers: [(name: String, value: String)],
        byteCount: Int?,
        next: @escaping @LoopActor () -> StreamStep<[UInt8]>
    ) {
        precondition(!isAnswered, "a request is answered once")
        isAnswered = true
        connection?.respondStream(
            self,
            status: status,
            headers: headers,
            byteCount: byteCount,
            next: next
        )
    }

    /// Answers with a body that is pushed, for as long as both sides like. Nil when nobody is there to take
    /// it, or the request wants no body.
    package func respondPushed(
        status: Int,
        headers: [(name: String, value: String)]
    ) -> PushedResponse? {
        precondition(!isAnswered, "a request is answered once")
        isAnswered = true
        return connection?.respondPushed(self, status: status, headers: headers)
    }

    /// Says that a stream which answered `.wait` has more.
    package func resumeStream() {
        guard isStreaming else { return }
        connection?.resumeStream()
    }
}

/// What becomes of a body that is received in parts.
package enum BodyEvent {
    /// The next bytes; never none.
    case part([UInt8])
    /// The body is complete.
    case end
    /// The body ended before it was complete, or against the rules; nobody waits for an answer.
    case cut
}
