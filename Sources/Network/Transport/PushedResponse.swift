/// An answer whose body the application pushes in chunks, for any length of time: events and the like.
///
/// Chunked; for HTTP/1.0 it ends with the connection. It is never kept alive, and input of the peer is ignored. The
/// application's `aborted` reports that the peer left or was cut.
@LoopActor
package final class PushedResponse {
    /// The waiting bytes when the peer was cut as too slow; nil while it keeps up.
    package private(set) var slowReaderByteCount: Int?

    private let exchange: HTTPExchange
    private let isChunked: Bool
    /// Nil when the answer has ended or the peer is gone.
    private var http: HTTPConnection?
    /// Sends what was queued before the end; a stream among it may have to wait.
    private weak var ending: HTTPConnection?

    init(_ exchange: HTTPExchange, _ http: HTTPConnection, isChunked: Bool) {
        self.exchange = exchange
        self.http = http
        self.isChunked = isChunked
    }

    /// Whether sent chunks still reach the peer.
    package var isOpen: Bool { http != nil }

    /// Bytes queued and not yet taken by the socket; streams count with the chunk at hand only.
    package var queuedByteCount: Int { http?.connection.output.byteCount ?? 0 }

    /// Whether nothing is queued, streams included.
    package var isIdle: Bool { http?.connection.output.isEmpty ?? true }

    /// Queues a chunk, which leaves at the end of the tick. Ignored after the end of the answer.
    ///
    /// Cuts the connection, as a WebSocket's, when more than the limit waits behind the chunk being sent and the
    /// socket is full.
    package func send(_ chunk: SharedChunk) {
        guard let http else { return }
        let waiting = http.connection.enqueuePush(isChunked ? chunk.bytes : chunk.text)
        if let waiting { cut(waiting) }
    }

    /// Queues chunks that are pulled as the socket drains; later chunks wait behind them.
    ///
    /// `next` is called when the socket has taken everything before it; after `.wait`, only after `resumeStream`.
    /// Streamed chunks do not count against the queue limit, but each waiting stream counts a little.
    package func sendStream(_ next: @escaping @LoopActor () -> StreamStep<[UInt8]>) {
        guard let http else { return }
        let isChunked = isChunked
        http.connection.enqueueSource(
            OutputSource {
                let step = next()
                guard isChunked, case .next(let text) = step, !text.isEmpty else { return step }
                return .next(SharedChunk(text: text).bytes)
            }
        )
        checkQueue()
    }

    /// Resumes a stream that answered `.wait`: it has more, or has ended. Also works after `end`.
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

    /// Cuts the connection at the end of the tick; the body stays incomplete.
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
