/// One request and the way to answer it, once.
@LoopActor
package final class HTTPExchange {
    /// Unique among the connections and exchanges of its listener.
    package let id: UInt64
    /// The request line and headers.
    package let head: RequestHead
    /// The whole body, transfer coding removed. Assign `[]` to let it go early.
    package var body: [UInt8] = []
    /// The application's own; not looked at.
    package var userData: AnyObject?

    /// Whether the connection ends with the answer, whatever the peer wishes.
    var closesAfterAnswer = false
    var isStreaming = false
    /// Bytes of `body` that count as unfinished input of the listener.
    var heldByteCount = 0
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
    }

    /// Whether an answer would still reach somebody: none was given and the peer is there.
    package var isAnswerable: Bool { !isAnswered && connection != nil }

    /// Takes the body without copying it, leaving it empty here.
    package func takeBody() -> [UInt8] {
        let taken = body
        body = []
        return taken
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

    /// Says that a stream which answered `.wait` has more.
    package func resumeStream() {
        guard isStreaming else { return }
        connection?.resumeStream()
    }
}
