import Gzip
import Transport

/// Compressing answers, away from the loop.
extension RequestService {
    /// Bytes of an answer from which on compressing it is worth a detour.
    static let compressedByteCount = 1024
    /// Bytes that are compressed in one go: some milliseconds.
    private static let compressedAtOnce = 256 * 1024
    /// Answers that may be compressed as they leave: each has some 500 KiB while its reader takes its time.
    private static let compressedLimit = 256

    static let variesByCoding = (name: "Vary", value: "Accept-Encoding")

    /// Whether an answer of this status may go out compressed, if the client takes that.
    func isCompressible(_ head: RequestHead, _ status: Int) -> Bool {
        head.method == "GET" && status == 200
    }

    /// Sends a whole answer, compressed where that is asked for and worth it.
    func send(_ response: HTTPResponse, to exchange: HTTPExchange) {
        let head = exchange.head
        guard response.body.count >= Self.compressedByteCount,
            isCompressible(head, response.status)
        else {
            return exchange.respond(response)
        }
        var response = response
        response.headers.append(Self.variesByCoding)
        let body = response.body
        guard ContentCoding.allowsGzip(head) else {
            return exchange.respond(response)
        }
        if body.count > Self.compressedAtOnce {
            let slices = Self.slices(of: body)
            if !respondCompressed(exchange, response.status, response.headers, slices) {
                exchange.respond(response)
            }
            return
        }
        response.body = []
        let plain = response
        let isTaken = workers.compressing.perform {
            Deflater.compress(body)
        } then: { bytes in
            guard exchange.isAnswerable else { return }
            var answer = plain
            answer.body = bytes
            answer.headers.append((name: "Content-Encoding", value: "gzip"))
            exchange.respond(answer)
        }
        if isTaken { return }
        response.body = body
        exchange.respond(response)
    }

    /// Answers with the gzip stream of a text: `nextText` gives its next bytes, nil behind its end, and is called on a
    /// worker. False when so many such answers are under way that it is to be sent as it is.
    func respondCompressed(
        _ exchange: HTTPExchange,
        _ status: Int,
        _ headers: [(name: String, value: String)],
        _ nextText: sending @escaping () -> [UInt8]?
    ) -> Bool {
        guard compressedUnderWay < Self.compressedLimit else { return false }
        compressedUnderWay += 1
        let slot = WorkSlot { EventLoop.shared.enqueue { [self] in compressedUnderWay -= 1 } }
        let body = WorkerBody(
            exchange,
            workers.compressing,
            waitingByteLimit: 128 * 1024,
            Self.compressed(nextText)
        )
        exchange.respondStream(
            status: status,
            headers: headers + [(name: "Content-Encoding", value: "gzip")],
            byteCount: nil
        ) { withExtendedLifetime(slot) { body.next() } }
        return true
    }

    /// Bytes of a gzip stream, and of its text, after which a job gives way to the next.
    private nonisolated static let jobByteCount = 64 * 1024
    private nonisolated static let jobTextByteCount = 1 << 20

    private nonisolated static func compressed(
        _ nextText: sending @escaping () -> [UInt8]?
    ) -> sending WorkerBody.Maker {
        let deflater = Deflater()
        return {
            var bytes: [UInt8] = []
            var textByteCount = 0
            while bytes.count < jobByteCount, textByteCount < jobTextByteCount {
                guard let text = nextText() else {
                    return (bytes + deflater.deflate([], isLast: true), true)
                }
                textByteCount += text.count
                bytes += deflater.deflate(text, isLast: false)
            }
            return (bytes, false)
        }
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
