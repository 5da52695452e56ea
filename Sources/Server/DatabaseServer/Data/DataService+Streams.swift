import DatabaseCore
import JSONTree
import Logging
import Transport
import WireProtocol

/// Event streams: a GET of a data path that takes `text/event-stream`.
extension DataService {
    static let streamHeaders = [
        // Without a character set readers take text for Latin-1.
        (name: "Content-Type", value: "text/event-stream; charset=utf-8"),
        (name: "Cache-Control", value: "no-cache"),
        // Reverse proxies that collect answers before they pass them on let this one through.
        (name: "X-Accel-Buffering", value: "no"),
    ]

    static let keepAlive = SharedChunk(text: ServerSentEvent.keepAlive.encoded(.value))

    // MARK: - The beginning

    /// Whether a request asks for an event stream and not for the value as it is.
    func wantsEvents(_ pending: PendingExchange) -> Bool {
        (pending.method == .get || pending.method == .head)
            && AcceptedTypes(pending.exchange.head.headers("accept")).contains("text/event-stream")
    }

    /// What the engine is asked for, with a number for the stream.
    func openStream(_ pending: PendingExchange) throws(BadRequest) -> Request.Operation {
        let (target, parameters) = (pending.target, pending.parameters)
        if target.isPriority { throw .path }
        if parameters.isShallow {
            throw BadRequest("Mixing 'shallow' and event streams is not supported")
        }
        let query = parameters.query
        let stream = streams.add(from: clientAddress(of: pending.exchange.head))
        pending.request.use = .stream(stream)
        return .stream(stream.id, target.path, query, isExport: parameters.isExport)
    }

    /// The engine has begun a stream: the head of the answer leaves, the first event is next.
    func beginStream(_ id: ConnectionID, _ pending: PendingExchange?) {
        let exchange = pending?.exchange
        let headers = exchange.map { Self.streamHeaders + server.requests.crossOriginHeaders($0) }
        if server.isStopping, let exchange {
            answer(exchange, RequestService.stoppingAnswer)
        } else if let exchange, let stream = streams[id],
            let response = exchange.respondPushed(status: 200, headers: headers ?? [])
        {
            streams.open(stream, response)
            return
        }
        // The client has left or was answered meanwhile, or its HEAD wants no more.
        pending?.request.use = .single
        if let stream = streams[id] { streams.remove(stream) }
        server.stepLater(.disconnected(id))
    }

    /// A stream that was asked for is refused.
    func forgetStream(of request: ResolvedRequest) {
        guard case .stream(let stream) = request.use else { return }
        request.use = .single
        streams.remove(stream)
    }

    // MARK: - Events

    /// Queues events for all their receivers.
    func sendEvents(_ text: [UInt8], to receivers: [ConnectionID]) {
        let chunk = SharedChunk(text: text)
        for receiver in receivers { streams[receiver]?.response?.send(chunk) }
    }

    /// Sends an event with large values from their snapshots; what follows on a stream waits behind it.
    ///
    /// How long it is must be known before it begins, since one that is too large must not be cut
    /// short; a worker finds it out, once for all streams.
    func streamEvent(_ event: StreamedServerSentEvent, to receivers: [ConnectionID]) {
        let parts = receivers.compactMap { id in
            streams[id]?.response.map { (id, $0, LargeEvent(event)) }
        }
        for (_, response, source) in parts { response.sendStream { source.next() } }
        let limit = configuration.limits.responseByteCount
        let isTaken = workers.values.post(
            .count(TextCount(event), byteLimit: limit) { byteCount in
                EventLoop.shared.enqueue { [self] in
                    for (id, response, source) in parts {
                        source.resume(isSent: byteCount != nil)
                        response.resumeStream()
                        if byteCount == nil { refuseValue(id, "it is too large") }
                    }
                }
            }
        )
        if isTaken { return }
        for (id, response, source) in parts {
            source.resume(isSent: false)
            response.resumeStream()
            refuseValue(id, "too many large values are being sent")
        }
    }

    /// Ends a stream to which a value cannot be sent.
    private func refuseValue(_ id: ConnectionID, _ reason: String) {
        guard let stream = streams[id] else { return }
        log.warning(
            "ended an event stream whose value cannot be sent: \(reason)",
            metadata: ["connection": "\(id.shortText)"]
        )
        stream.response?.send(SharedChunk(text: ServerSentEvent.cancel.encoded(.value)))
        endStream(id)
    }

    /// Begins to send keep-alive events to all streams.
    func keepStreamsAlive() {
        let period = configuration.limits.keepAliveInterval / StreamConnections.groupCount
        EventLoop.shared.every(period) { [self] in streams.keepAlive(with: Self.keepAlive) }
    }

    // MARK: - The end

    /// Ends a stream behind all that was sent to it.
    func endStream(_ id: ConnectionID) {
        guard let stream = streams[id] else { return }
        stream.response?.end()
        streams.remove(stream)
        server.stepLater(.disconnected(id))
    }

    /// The client of a stream has left, or was cut.
    func abandon(_ stream: StreamConnection, _ request: ResolvedRequest) {
        if let byteCount = stream.response?.slowReaderByteCount {
            log.info(
                "cut an event stream that is read too slowly",
                metadata: ["connection": "\(stream.id.shortText)", "waitingBytes": "\(byteCount)"]
            )
        }
        forgetStream(of: request)
        step(.disconnected(stream.id))
    }
}

/// The text of one large event for one stream, made as the socket asks for it.
@LoopActor
private final class LargeEvent {
    private enum State {
        /// The length is being found out.
        case measuring
        case sending
        case ended
    }

    private static let chunkByteCount = 16 * 1024

    private var event: StreamedServerSentEvent
    private var state = State.measuring

    init(_ event: StreamedServerSentEvent) {
        self.event = event
    }

    /// Goes on when the length is known; without being sent it ends.
    func resume(isSent: Bool) {
        state = isSent ? .sending : .ended
    }

    func next() -> StreamStep<[UInt8]> {
        switch state {
        case .measuring: return .wait
        case .ended: return .end
        case .sending:
            var text: [UInt8] = []
            let isMore = event.next(into: &text, atLeast: Self.chunkByteCount)
            if !isMore { state = .ended }
            return .next(text)
        }
    }
}
