import Gzip
import Transport

/// Makes a gzip stream of text that is written piece by piece.
///
/// It is owned by the jobs of one worker, of which there is one at a time; the loop only makes it.
private final class CompressedText: @unchecked Sendable {
    /// Bytes of the stream, and of its text, after which a job gives way to the next.
    private static let jobByteCount = 64 * 1024
    private static let jobTextByteCount = 1 << 20

    private let deflater = Deflater()
    private let nextText: () -> [UInt8]?

    init(_ nextText: @escaping () -> [UInt8]?) {
        self.nextText = nextText
    }

    /// The next bytes of the stream, and whether they are the last.
    func next() -> (bytes: [UInt8], isLast: Bool) {
        var bytes: [UInt8] = []
        var textByteCount = 0
        while bytes.count < Self.jobByteCount, textByteCount < Self.jobTextByteCount {
            guard let text = nextText() else {
                return (bytes + deflater.deflate([], isLast: true), true)
            }
            textByteCount += text.count
            bytes += deflater.deflate(text, isLast: false)
        }
        return (bytes, false)
    }
}

/// The body of an answer that a worker compresses ahead of the socket, by a bounded number of bytes.
@LoopActor
final class CompressedBody {
    /// Bytes that may wait for the socket before the worker is asked for more.
    private static let waitingByteLimit = 128 * 1024

    private let exchange: HTTPExchange
    private let worker: Worker
    private let text: CompressedText
    private var waiting: [[UInt8]] = []
    private var isAsked = false
    private var isLast = false

    /// Makes a body of a text: `nextText` gives its next bytes, nil behind its end, and is called on the worker.
    init(
        _ exchange: HTTPExchange,
        _ worker: Worker,
        _ nextText: sending @escaping () -> [UInt8]?
    ) {
        self.exchange = exchange
        self.worker = worker
        text = CompressedText(nextText)
    }

    /// Answers with the stream.
    func respond(_ status: Int, _ headers: [(name: String, value: String)]) {
        ask()
        exchange.respondStream(
            status: status,
            headers: headers + [(name: "Content-Encoding", value: "gzip")],
            byteCount: nil
        ) { [self] in
            next()
        }
    }

    private func next() -> StreamStep<[UInt8]> {
        if waiting.isEmpty {
            if isLast { return .end }
            ask()
            return .wait
        }
        let bytes = waiting.removeFirst()
        if waiting.reduce(0, { $0 + $1.count }) < Self.waitingByteLimit { ask() }
        return .next(bytes)
    }

    private func ask() {
        if isAsked || isLast { return }
        isAsked = true
        let text = text
        let isTaken = worker.post(
            .read {
                let (bytes, isLast) = text.next()
                EventLoop.shared.enqueue { [self] in take(bytes, isLast) }
            }
        )
        if isTaken { return }
        // So many jobs wait that there is time.
        isAsked = false
        EventLoop.shared.after(.milliseconds(20)) { [self] in ask() }
    }

    private func take(_ bytes: [UInt8], _ isLast: Bool) {
        isAsked = false
        self.isLast = isLast
        if !bytes.isEmpty { waiting.append(bytes) }
        if waiting.isEmpty, !isLast { return ask() }
        exchange.resumeStream()
    }
}

/// Compressing answers, away from the loop.
extension Server {
    /// Bytes of an answer from which on compressing it is worth a detour.
    static let compressedByteCount = 1024
    /// Bytes that are compressed in one go: some milliseconds.
    private static let compressedAtOnce = 256 * 1024

    static let variesByCoding = (name: "Vary", value: "Accept-Encoding")

    /// Whether an answer of this status may go out compressed, if the client takes that.
    func isCompressible(_ head: RequestHead, _ status: Int) -> Bool {
        head.method == "GET" && status == 200
    }

    /// Sends a whole answer, compressed where that is asked for and worth it.
    func send(_ response: HTTPResponse, to exchange: HTTPExchange) {
        let head = exchange.head
        guard response.body.count >= Server.compressedByteCount,
            isCompressible(head, response.status)
        else {
            exchange.respond(response)
            return
        }
        var response = response
        response.headers.append(Server.variesByCoding)
        let body = response.body
        guard ContentCoding.allowsGzip(head) else {
            exchange.respond(response)
            return
        }
        if body.count > Server.compressedAtOnce {
            let stream = CompressedBody(exchange, workers.compressing, Server.slices(of: body))
            stream.respond(response.status, response.headers)
            return
        }
        response.body = []
        let plain = response
        let isTaken = workers.compressing.post(
            .read {
                let bytes = Deflater.compress(body)
                EventLoop.shared.enqueue {
                    guard exchange.isAnswerable else { return }
                    var answer = plain
                    answer.body = bytes
                    answer.headers.append((name: "Content-Encoding", value: "gzip"))
                    exchange.respond(answer)
                }
            }
        )
        if isTaken { return }
        response.body = body
        exchange.respond(response)
    }

    private nonisolated static func slices(of body: [UInt8]) -> sending () -> [UInt8]? {
        var start = 0
        return {
            if start == body.count { return nil }
            let end = min(body.count, start + 64 * 1024)
            defer { start = end }
            return Array(body[start..<end])
        }
    }
}
