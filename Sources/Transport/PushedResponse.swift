/// An answer whose body comes bit by bit for as long as both sides like: events and the like.
///
/// Chunked; to HTTP/1.0 until the connection closes. It is never kept alive, and what the peer sends
/// meanwhile is not looked at. `aborted` of the application tells that the peer has left, or was cut.
@LoopActor
package final class PushedResponse {
    /// What waited for the peer when it was cut as too slow; nil while it keeps up.
    package private(set) var slowReaderByteCount: Int?

    private let exchange: HTTPExchange
    private let isChunked: Bool
    /// Nil when the answer has ended or nobody is there to take it.
    private var http: HTTPConnection?
    /// Where what was queued before the end still leaves: a stream among it may have to be waited for.
    private weak var ending: HTTPConnection?

    init(_ exchange: HTTPExchange, _ http: HTTPConnection, isChunked: Bool) {
        self.exchange = exchange
        self.http = http
        self.isChunked = isChunked
    }

    /// Whether what is sent still goes to somebody.
    package var isOpen: Bool { http != nil }

    /// Bytes queued and not yet taken by the socket; streams count with the chunk at hand only.
    package var queuedByteCount: Int { http?.connection.output.byteCount ?? 0 }

    /// Whether nothing is queued, streams included.
    package var isIdle: Bool { http?.connection.output.isEmpty ?? true }

    /// Queues a chunk, which leaves at the end of the turn. Ignored once the answer has ended.
    ///
    /// When more than the limit then waits behind the chunk being sent, and the socket takes no more,
    /// the connection is cut, as that of a WebSocket is.
    package func send(_ chunk: SharedChunk) {
        guard let http else { return }
        let waiting = http.connection.enqueuePush(isChunked ? chunk.bytes : chunk.text)
        if let waiting { cut(waiting) }
    }

    /// Queues chunks that are pulled as the socket drains; later ones wait behind the last of them.
    ///
    /// `next` is asked whenever all before was taken by the socket; after `.wait` not before
    /// `resumeStream`. They do not count against the queue limit, but streams that wait do a little.
    package func sendStream(_ next: @escaping @LoopActor () -> StreamStep<[UInt8]>) {
        guard let http else { return }
        let isChunked = isChunked
        http.connection.enqueue(
            OutputSource {
                let step = next()
                guard isChunked, case .next(let text) = step, !text.isEmpty else { return step }
                return .next(SharedChunk(text: text).bytes)
            }
        )
        checkQueue()
    }

    /// Says that a stream which answered `.wait` has more, or has ended; also after `end`.
    package func resumeStream() {
        (http ?? ending)?.connection.markDirty()
    }

    /// Ends the body, and with it the connection, behind everything queued.
    package func end() {
        guard let http else { return }
        self.http = nil
        ending = http
        if isChunked { http.connection.enqueue(SharedChunk.end) }
        http.completePush(exchange)
    }

    /// Cuts the connection at the end of the turn: what was sent is no whole body.
    package func drop() {
        http?.connection.fail()
    }

    /// Cuts a reader for whom too much waits while its socket takes no more.
    func checkQueue() {
        if let waiting = http?.connection.overflow { cut(waiting) }
    }

    /// The socket is gone.
    func ended() {
        http = nil
    }

    private func cut(_ waiting: Int) {
        guard let http, slowReaderByteCount == nil else { return }
        slowReaderByteCount = waiting
        http.connection.listener.counters.slowReaderCount += 1
        http.connection.fail()
    }
}
