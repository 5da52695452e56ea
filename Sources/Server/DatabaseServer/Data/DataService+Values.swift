import DatabaseCore
import EventProtocol
import JSONTree
import Transport
import WireProtocol

/// Values on their way out, at once or as a stream.
extension DataService {
    /// What goes with the text of an answer.
    private struct Terms {
        let tag: EntityTag?
        var status = 200
        /// Bytes above which the answer is refused; that of a write never is.
        var byteLimit = Int.max
        /// Whether it was asked for, and is not what a write has written.
        var isRead = false
    }

    /// Answers with a value that was read.
    func finish(_ pending: PendingExchange, read node: Node, _ tag: EntityTag?) {
        let byteLimit = configuration.limits.responseByteCount
        finishValue(pending, node, Terms(tag: tag, byteLimit: byteLimit, isRead: true))
    }

    /// Answers with what a write has written, or was to find.
    func finish(
        _ pending: PendingExchange,
        written node: Node,
        _ tag: EntityTag?,
        status: Int = 200
    ) {
        finishValue(pending, node, Terms(tag: tag, status: status))
    }

    /// Answers with what an update has written.
    func finish(
        _ pending: PendingExchange,
        merged entries: [(WriteTarget, Node)],
        _ tag: EntityTag?
    ) {
        let (path, parameters) = (pending.path, pending.parameters)
        guard pending.isLarge(entries) else {
            return server.requests.finish(pending, .merged(entries, base: path, parameters), tag)
        }
        let text = AnswerText(entries, base: path, isPretty: parameters.print == .pretty)
        measure(text, Terms(tag: tag), pending)
    }

    /// Answers with a value: at once, or as a stream.
    private func finishValue(_ pending: PendingExchange, _ node: Node, _ terms: Terms) {
        let parameters = pending.parameters
        if pending.isLarge(node) {
            let isPretty = parameters.print == .pretty
            return measure(AnswerText(node, parameters.form, isPretty: isPretty), terms, pending)
        }
        var answer = HTTPResponse.value(node, parameters)
        if answer.body.count > terms.byteLimit { answer = .tooLarge }
        if answer.status == 200, terms.isRead {
            server.admin.noteExport(pending, answer.body.count)
        }
        if answer.status == 200 { answer.status = terms.status }
        server.requests.finish(pending, answer, terms.tag)
    }

    /// Sends a large answer, written as the socket drains, once a worker knows how long it is.
    ///
    /// Counting is writing, on another thread, and throwing it away. It is worth that: a text that is too long must be
    /// refused before it begins, and with `Content-Length` a client of any version sees where it was cut.
    private func measure(_ text: AnswerText, _ terms: Terms, _ pending: PendingExchange) {
        let isTaken = workers.values.post(
            .count(TextCount(text), byteLimit: terms.byteLimit) { byteCount in
                EventLoop.shared.enqueue { [self] in
                    if let byteCount {
                        streamAnswer(text, byteCount, terms, to: pending)
                    } else {
                        finish(pending, .tooLarge)
                    }
                }
            }
        )
        if !isTaken { finish(pending, Self.tooMuchIsRead) }
    }

    private func streamAnswer(
        _ answer: AnswerText,
        _ byteCount: Int,
        _ terms: Terms,
        to pending: PendingExchange
    ) {
        pending.cancelTimer()
        let exchange = pending.exchange
        guard exchange.isAnswerable else { return }
        if terms.isRead { server.admin.noteExport(pending, byteCount) }
        let callback = pending.parameters.callback
        let headers =
            (callback == nil ? HTTPResponse.jsonHeaders : ScriptCallback.headers)
            + HTTPResponse.headers(terms.tag, pending.parameters)
            + server.requests.crossOriginHeaders(exchange) + [RequestService.variesByCoding]
        if callback == nil, server.requests.isCompressible(exchange.head, terms.status),
            ContentCoding.allowsGzip(exchange.head)
        {
            let pieces = Self.pieces(of: answer)
            if server.requests.respondCompressed(exchange, terms.status, headers, pieces) { return }
        }
        var text = answer
        var prefix = callback?.prefix ?? []
        var suffix = callback == nil ? [] : ScriptCallback.suffix
        var isMore = true
        exchange.respondStream(
            status: callback == nil ? terms.status : 200,
            headers: headers,
            byteCount: prefix.count + byteCount + suffix.count,
        ) {
            var chunk = prefix
            prefix = []
            if isMore {
                isMore = text.next(into: &chunk, atLeast: PendingExchange.chunkByteCount)
            }
            if !isMore {
                chunk += suffix
                suffix = []
            }
            return chunk.isEmpty ? .end : .next(chunk)
        }
    }

    private nonisolated static func pieces(of text: AnswerText) -> sending () -> [UInt8]? {
        var text = text
        return { text.piece(atLeast: 64 * 1024) }
    }

    private static let tooMuchIsRead = HTTPResponse.error(
        503,
        "Too many large values are being read."
    )
}
