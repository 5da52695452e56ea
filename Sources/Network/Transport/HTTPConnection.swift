/// HTTP/1.1 on one connection: one request at a time, the next one waits in the inbox.
@LoopActor
final class HTTPConnection {
    private enum State {
        case head
        case body(HTTPExchange, Body)
        /// The application has the request, or its answer is being streamed.
        case answering(HTTPExchange)
        case closing
    }

    private enum Body {
        /// Bytes still to come.
        case length(Int)
        case chunked(ChunkedBodyDecoder)
    }

    /// Input kept while an earlier request is answered; the socket is not read beyond it.
    private static let inboxByteCount = 64 * 1024
    /// Answers unsent above which no further request is looked at.
    private static let outputByteCount = 64 * 1024

    /// Bytes of a body after which a request that is taken in parts is delivered.
    private static let partByteCount = 64 * 1024

    /// From this many bytes of a body on, room for all of it is reserved.
    private static let keptPromiseByteCount = 1024 * 1024

    unowned let connection: Connection
    private var state = State.head
    /// Input not consumed yet: `inbox[inboxStart...]`.
    private var inbox: [UInt8] = []
    private var inboxStart = 0
    /// Up to where the inbox was searched for the end of the head.
    private var scannedEnd = 0
    private var hasRequestStarted = false
    /// Whether the last request is a HEAD: its answer has no body, even if it is an error.
    private var isHead = false
    private var isAdvancing = false
    private var isWaitingForOutput = false
    private var receivedInWindow = 0
    private var wasPausedInWindow = false
    /// Whether the peer waits for a word before it sends the body, and the application has yet to ask for that.
    private var isContinueDue = false
    /// The answer under way when its body is pushed.
    private var pushed: PushedResponse?

    init(_ connection: Connection) {
        self.connection = connection
        // Counted from now: a tick that accepts many connections may have begun long ago.
        connection.setDeadline(monotonicNanoseconds() + connection.timeouts.head.nanoseconds)
    }

    private var now: UInt64 { EventLoop.shared.now }
    private var listener: Listener { connection.listener }

    /// Whether the answer under way is pushed.
    var isPushing: Bool { pushed != nil }

    /// Whether input should wait in the kernel.
    var isFull: Bool {
        isWaitingForOutput || isBodyPaused || inbox.count - inboxStart > Self.inboxByteCount
    }

    private var isBodyPaused: Bool {
        if case .body(let exchange, _) = state { exchange.isBodyPaused } else { false }
    }

    // MARK: Input

    func received(_ bytes: UnsafeBufferPointer<UInt8>) {
        receivedInWindow += bytes.count
        inbox.append(contentsOf: bytes)
        advance()
    }

    /// Consumes as much of the inbox as can be.
    func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        do throws(RequestFault) {
            while connection.isActive, try step() {}
        } catch {
            refuse(error)
        }
        compactInbox()
    }

    /// One step. Returns whether another may follow.
    private func step() throws(RequestFault) -> Bool {
        switch state {
        case .head: try readHead()
        case .body(let exchange, let body): try readBody(exchange, body)
        case .answering, .closing: false
        }
    }

    private func compactInbox() {
        if case .closing = state { inboxStart = inbox.count }
        guard inboxStart > 0 else { return }
        if inboxStart == inbox.count {
            inbox = []
        } else {
            inbox.removeSubrange(..<inboxStart)
        }
        scannedEnd = max(0, scannedEnd - inboxStart)
        inboxStart = 0
    }

    // MARK: Head

    private func readHead() throws(RequestFault) -> Bool {
        isWaitingForOutput = connection.output.byteCount > Self.outputByteCount
        guard !isWaitingForOutput else { return false }
        skipEmptyLines()
        guard inboxStart < inbox.count else { return false }
        if !hasRequestStarted {
            hasRequestStarted = true
            scannedEnd = inboxStart
            // The first byte of a TLS handshake record, and of no request.
            guard inbox[inboxStart] != 0x16 else { throw .tlsOnPlainPort }
            connection.setDeadline(now + connection.timeouts.head.nanoseconds)
        }
        isHead = inbox[inboxStart...].starts(with: "HEAD ".utf8)
        let limit = connection.limits.headByteCount
        let end = try RequestHeadParser.findEnd(of: inbox, start: inboxStart, from: scannedEnd)
        guard (end ?? inbox.count) - inboxStart <= limit else {
            throw inbox[inboxStart...].prefix(limit).contains(0x0a)
                ? .headTooLarge(limit: limit) : .targetTooLong(limit: limit)
        }
        guard end == nil || connection.mayTake() else { return false }
        scannedEnd = inbox.count
        guard let end else { return false }
        let bytes = Array(inbox[inboxStart..<end])
        inboxStart = end
        hasRequestStarted = false
        listener.counters.requestCount += 1
        let parts = try RequestHeadParser.parse(bytes, limits: connection.limits)
        try begin(RequestHead(parts, peer: connection.peer, isTLS: listener.isTLS))
        return true
    }

    /// Old clients send an empty line after a body (RFC 9112, section 2.2).
    private func skipEmptyLines() {
        guard !hasRequestStarted else { return }
        while inboxStart + 1 < inbox.count, inbox[inboxStart] == 0x0d, inbox[inboxStart + 1] == 0x0a
        {
            inboxStart += 2
        }
    }

    private func begin(_ head: RequestHead) throws(RequestFault) {
        connection.setDeadline(.max)
        if connection.speaksForOthers { connection.belongs(to: head) }
        let limit = bodyByteLimit(head)
        let exchange = HTTPExchange(
            id: listener.nextID(),
            head: head,
            connection: self,
            bodyByteLimit: limit
        )
        if case .length(let length) = head.framing, length > limit {
            throw .bodyTooLarge(limit: limit)
        }
        guard let application = listener.application else { throw .overloaded }
        switch application.admit(exchange) {
        case .refuse(let response):
            listener.counters.refusedCount += 1
            state = .answering(exchange)
            exchange.closesAfterAnswer = head.framing != .none || head.isWebSocketUpgrade
            exchange.respond(response)
        case .accept(let subprotocol):
            if head.isWebSocketUpgrade {
                try upgrade(exchange, subprotocol)
            } else {
                beginBody(exchange)
            }
        case .acceptInParts:
            exchange.takesParts = true
            beginBody(exchange)
        }
    }

    /// Bytes that the body may have. The application is asked only about one that may be longer than usual.
    private func bodyByteLimit(_ head: RequestHead) -> Int {
        let usual = connection.limits.bodyByteCount
        switch head.framing {
        case .none: return usual
        case .length(let length) where length <= usual: return usual
        case .length, .chunked: return listener.application?.bodyByteLimit(head) ?? usual
        }
    }

    private func upgrade(_ exchange: HTTPExchange, _ subprotocol: String?) throws(RequestFault) {
        let head = exchange.head
        let answer = try WebSocketHandshake.accept(
            head,
            subprotocol: subprotocol,
            unixSeconds: EventLoop.unixSeconds
        )
        connection.enqueue(answer)
        let rest = Array(inbox[inboxStart...])
        inbox = []
        inboxStart = 0
        state = .closing
        connection.belongs(to: head)
        let webSocket = WebSocketConnection(connection)
        webSocket.userData = exchange.userData
        connection.become(webSocket)
        webSocket.open(head, rest)
    }

    // MARK: Body

    private func beginBody(_ exchange: HTTPExchange) {
        switch exchange.head.framing {
        case .none:
            deliver(exchange)
            return
        case .length(let length):
            exchange.isBodyComplete = false
            // A promise is not worth the memory before it is kept.
            exchange.body.reserveCapacity(min(length, 256 * 1024))
            state = .body(exchange, .length(length))
        case .chunked:
            exchange.isBodyComplete = false
            state = .body(exchange, .chunked(ChunkedBodyDecoder()))
        }
        receivedInWindow = 0
        isContinueDue = false
        connection.setDeadline(now + connection.timeouts.progress.nanoseconds)
        guard exchange.head.expectsContinue, inboxStart == inbox.count else { return }
        // An application that refuses a request by its head does so before its body is asked for.
        if exchange.takesParts { handOver(exchange) }
        guard case .body = state else { return }
        if exchange.isBodyPaused { isContinueDue = true } else { askForBody() }
    }

    private func askForBody() {
        isContinueDue = false
        connection.enqueue(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }

    private func readBody(_ exchange: HTTPExchange, _ body: Body) throws(RequestFault) -> Bool {
        guard inboxStart < inbox.count, !exchange.isBodyPaused else { return false }
        switch body {
        case .length(let due):
            let count = min(due, inbox.count - inboxStart)
            let known = exchange.body.count
            if known >= Self.keptPromiseByteCount, exchange.body.capacity < known + due {
                // The peer has sent so much that the rest may have its (untouched) memory: growing by doubling would
                // copy hundreds of megabytes in one tick.
                exchange.body.reserveCapacity(known + due)
            }
            exchange.body += inbox[inboxStart..<inboxStart + count]
            inboxStart += count
            exchange.isBodyComplete = count == due
            state = .body(exchange, .length(due - count))
        case .chunked(var decoder):
            let consumed = try decode(&decoder, into: exchange)
            inboxStart += consumed
            exchange.isBodyComplete = decoder.isDone
            state = .body(exchange, .chunked(decoder))
        }
        if exchange.isDelivered {
            passOn(exchange)
        } else if exchange.isBodyComplete {
            deliver(exchange)
        } else if exchange.takesParts, exchange.body.count >= Self.partByteCount {
            handOver(exchange)
        } else {
            if connection.heldByteCount == 0 { connection.belongs(to: exchange.head) }
            guard listener.hold(exchange.body.count, on: connection) else { throw .overloaded }
        }
        return true
    }

    /// Delivers a request before its body is complete.
    private func handOver(_ exchange: HTTPExchange) {
        listener.release(connection)
        exchange.isDelivered = true
        listener.application?.request(exchange)
    }

    /// Gives more of a body to the application that has the request already.
    private func passOn(_ exchange: HTTPExchange) {
        listener.release(connection)
        if exchange.isBodyComplete {
            connection.setDeadline(.max)
            state = .answering(exchange)
        }
        exchange.handOverBody()
    }

    /// Continues with a body that the application paused.
    func resumeBody() {
        wasPausedInWindow = true
        if isContinueDue, case .body = state { askForBody() }
        connection.resumeLater()
    }

    private func decode(
        _ decoder: inout ChunkedBodyDecoder,
        into exchange: HTTPExchange
    ) throws(RequestFault) -> Int {
        let limit = exchange.bodyByteLimit
        let start = inboxStart
        return try inbox.withUnsafeBufferPointer { buffer throws(RequestFault) in
            let rest = UnsafeBufferPointer(rebasing: buffer[start...])
            return try decoder.decode(rest, into: &exchange.body, limit: limit)
        }
    }

    private func deliver(_ exchange: HTTPExchange) {
        connection.setDeadline(.max)
        listener.release(connection)
        state = .answering(exchange)
        listener.application?.request(exchange)
    }

    // MARK: Answers

    /// Sends a whole answer.
    func respond(_ exchange: HTTPExchange, _ response: HTTPResponse) {
        let head = exchange.head
        let isBodiless = response.status == 204 || response.status == 304
        let body: ResponseEncoder.Body =
            isBodiless
            ? .none(byteCount: nil)
            : head.method == "HEAD"
                ? .none(byteCount: response.body.count) : .length(response.body.count)
        let keepsAlive = keepsAlive(after: exchange)
        let headers = answerHeaders(response.headers, head)
        sendHead(response.status, headers, body, keepsAlive: keepsAlive)
        if case .length = body { connection.enqueue(response.body) }
        complete(exchange, keepsAlive: keepsAlive)
    }

    /// Sends an answer whose body is pulled; `byteCount` is the length if known.
    func respondStream(
        _ exchange: HTTPExchange,
        status: Int,
        headers: HTTPHeaders,
        byteCount: Int?,
        next: @escaping @LoopActor () -> StreamStep<[UInt8]>
    ) {
        let head = exchange.head
        let isWithoutBody = head.method == "HEAD"
        var body = byteCount.map { ResponseEncoder.Body.length($0) } ?? .chunked
        if isWithoutBody {
            body = .none(byteCount: byteCount)
        } else if byteCount == nil, head.isHTTP10 {
            body = .untilClose
        }
        let keepsAlive = keepsAlive(after: exchange) && body != .untilClose
        sendHead(status, answerHeaders(headers, head), body, keepsAlive: keepsAlive)
        guard !isWithoutBody else {
            complete(exchange, keepsAlive: keepsAlive)
            return
        }
        exchange.isStreaming = true
        var stream = BodyStream(body: body, pull: next)
        connection.enqueueSource(
            // Dropped with the output of the connection, so it keeps nothing alive longer.
            OutputSource { [self] in
                switch stream.next() {
                case .broken:
                    connection.fail()
                    return .end
                case .end:
                    complete(exchange, keepsAlive: keepsAlive)
                    return .end
                case .wait: return .wait
                case .next(let bytes): return .next(bytes)
                }
            }
        )
    }

    /// Sends an answer whose body is copied as the socket takes it.
    func respondCopying(
        _ exchange: HTTPExchange,
        status: Int,
        headers: HTTPHeaders,
        byteCount: Int,
        copy: @escaping OutputSource.Copier,
        taken: @escaping @LoopActor (Int) -> Void
    ) {
        let head = exchange.head
        let isWithoutBody = head.method == "HEAD"
        let keepsAlive = keepsAlive(after: exchange)
        sendHead(
            status,
            answerHeaders(headers, head),
            isWithoutBody ? .none(byteCount: byteCount) : .length(byteCount),
            keepsAlive: keepsAlive
        )
        guard !isWithoutBody else {
            complete(exchange, keepsAlive: keepsAlive)
            return
        }
        exchange.isStreaming = true
        var due = byteCount
        connection.enqueueSource(
            OutputSource { [self] room in
                guard due > 0 else {
                    complete(exchange, keepsAlive: keepsAlive)
                    return .end
                }
                switch copy(room) {
                case .next(let count) where count > 0 && count <= due: return .next(count)
                case .wait: return .wait
                case .next, .end:
                    connection.fail()
                    return .end
                }
            } taken: { count in
                due -= count
                taken(count)
            }
        )
    }

    /// Sends the head of an answer whose body is pushed. An answer to HEAD ends with it.
    func respondPushed(
        _ exchange: HTTPExchange,
        status: Int,
        headers: HTTPHeaders
    ) -> PushedResponse? {
        let isWithoutBody = exchange.head.method == "HEAD"
        let isChunked = !exchange.head.isHTTP10
        let body: ResponseEncoder.Body =
            isWithoutBody ? .none(byteCount: nil) : isChunked ? .chunked : .untilClose
        let keepsAlive = isWithoutBody && keepsAlive(after: exchange)
        sendHead(status, answerHeaders(headers, exchange.head), body, keepsAlive: keepsAlive)
        if isWithoutBody {
            complete(exchange, keepsAlive: keepsAlive)
            return nil
        }
        let response = PushedResponse(exchange, self, isChunked: isChunked)
        pushed = response
        return response
    }

    /// The pushed body has ended.
    func completePush(_ exchange: HTTPExchange) {
        pushed = nil
        complete(exchange, keepsAlive: false)
    }

    /// The socket takes no more for now.
    func blocked() {
        pushed?.checkQueue()
    }

    /// Asks the source of a stream again after it answered `.wait`.
    func resumeStream() {
        connection.markDirty()
    }

    private func sendHead(
        _ status: Int,
        _ headers: HTTPHeaders,
        _ body: ResponseEncoder.Body,
        keepsAlive: Bool
    ) {
        connection.enqueue(
            ResponseEncoder.head(
                status: status,
                headers: headers,
                body: body,
                keepsAlive: keepsAlive,
                unixSeconds: EventLoop.unixSeconds
            )
        )
    }

    /// The headers of an answer. If so configured, an answer over TLS tells browsers to use only TLS from now on.
    ///
    /// Not for `localhost`: the browser would then use TLS for all other servers of a developer there.
    private func answerHeaders(_ headers: HTTPHeaders, _ head: RequestHead) -> HTTPHeaders {
        guard head.isTLS, connection.listener.configuration.demandsTLS,
            !head.host.lowercased().hasPrefix("localhost")
        else { return headers }
        return headers + [(name: "Strict-Transport-Security", value: "max-age=31536000")]
    }

    private func keepsAlive(after exchange: HTTPExchange) -> Bool {
        exchange.head.keepsAlive && !exchange.closesAfterAnswer && !listener.isDraining
            && exchange.isBodyComplete
    }

    private func complete(_ exchange: HTTPExchange, keepsAlive: Bool) {
        listener.release(connection)
        exchange.detach()
        guard keepsAlive else {
            state = .closing
            connection.finish()
            return
        }
        state = .head
        connection.setDeadline(now + connection.timeouts.idle.nanoseconds)
        if !isAdvancing { connection.resumeLater() }
    }

    /// Answers a request the application shall not see, and ends the connection.
    private func refuse(_ fault: RequestFault) {
        listener.counters.badRequestCount += 1
        if fault == .tlsOnPlainPort { listener.counters.tlsOnPlainPortCount += 1 }
        if case .body(let exchange, _) = state { abandon(exchange) }
        state = .closing
        let response = fault.response
        let body = ResponseEncoder.Body.length(response.body.count)
        sendHead(response.status, response.headers, body, keepsAlive: false)
        if !isHead { connection.enqueue(response.body) }
        connection.finish()
    }

    /// Refuses a request because unfinished bodies take too many bytes, most of them here.
    func overload() {
        guard case .body = state else { return }
        refuse(.overloaded)
    }

    /// Drops a request whose body will not be complete.
    private func abandon(_ exchange: HTTPExchange) {
        listener.release(connection)
        let isDelivered = exchange.isDelivered
        exchange.cutBody()
        exchange.detach()
        if isDelivered { listener.application?.aborted(exchange) }
    }

    // MARK: Time and end

    func outputDrained() {
        guard isWaitingForOutput else { return }
        isWaitingForOutput = false
        connection.resumeLater()
    }

    func deadlinePassed(_ now: UInt64) {
        switch state {
        case .head where !hasRequestStarted:
            // Idle between requests, or never used: no answer is due.
            connection.hangUp()
        case .head:
            listener.counters.timeoutCount += 1
            refuse(.headTimeout)
        case .body(let exchange, _):
            // A peer cannot send while its input is paused.
            let isExcused = exchange.isBodyPaused || wasPausedInWindow
            wasPausedInWindow = false
            guard receivedInWindow >= connection.timeouts.progressByteCount || isExcused else {
                listener.counters.timeoutCount += 1
                refuse(.bodyTimeout)
                return
            }
            receivedInWindow = 0
            connection.setDeadline(now + connection.timeouts.progress.nanoseconds)
        case .answering, .closing:
            break
        }
    }

    func drain() {
        guard case .head = state, !hasRequestStarted, inboxStart == inbox.count else { return }
        state = .closing
        connection.hangUp()
    }

    func ended() {
        pushed?.ended()
        pushed = nil
        switch state {
        case .body(let exchange, _): abandon(exchange)
        case .answering(let exchange):
            exchange.detach()
            listener.application?.aborted(exchange)
        case .head, .closing: break
        }
        state = .closing
    }
}
