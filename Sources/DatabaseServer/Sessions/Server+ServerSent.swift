import DatabaseCore
import JSONTree
import Logging
import Transport
import WireProtocol

/// Event streams: a GET of a data path that takes `text/event-stream`.
extension Server {
    static let streamHeaders = [
        // Readers that are not told the character set take text for Latin-1.
        (name: "Content-Type", value: "text/event-stream; charset=utf-8"),
        (name: "Cache-Control", value: "no-cache"),
        // Reverse proxies that collect answers before they pass them on let this one through.
        (name: "X-Accel-Buffering", value: "no"),
    ]

    static let keepAlive = SharedChunk(text: ServerSentEvent.keepAlive.encoded(.value))

    // MARK: - The beginning

    /// Whether a request asks for an event stream and not for the value as it is.
    func wantsEvents(_ head: RequestHead, _ method: String) -> Bool {
        (method == "GET" || method == "HEAD")
            && AcceptedTypes(head.headers("accept")).contains("text/event-stream")
    }

    /// What the engine is asked for, with a number for the stream.
    func openStream(
        _ exchange: HTTPExchange,
        _ target: WriteTarget,
        _ parameters: RESTParameters
    ) throws(BadRequest) -> Request.Operation {
        if target.isPriority { throw .path }
        if parameters.isShallow {
            throw BadRequest("Mixing 'shallow' and event streams is not supported")
        }
        let query = parameters.query
        let stream = streams.add()
        exchange.userData = stream
        return .stream(stream.id, target.path, query, isExport: parameters.isExport)
    }

    /// The engine has begun a stream: the head of the answer leaves, the first event is next.
    func beginStream(_ id: ConnectionID, _ exchange: HTTPExchange?) {
        let headers = exchange.map { Server.streamHeaders + crossOriginHeaders($0.head) }
        if isStopping, let exchange {
            answer(exchange, RESTAnswer.error(503, "The server is stopping."))
        } else if let exchange, let stream = streams[id],
            let response = exchange.respondPushed(status: 200, headers: headers ?? [])
        {
            streams.open(stream, response)
            return
        }
        // The client has left or was answered meanwhile, or its HEAD wants no more.
        exchange?.userData = nil
        if let stream = streams[id] { streams.remove(stream) }
        stepLater(.disconnected(id))
    }

    /// A stream that was asked for is refused.
    func forgetStream(of exchange: HTTPExchange) {
        guard let stream = exchange.userData as? StreamConnection else { return }
        exchange.userData = nil
        streams.remove(stream)
    }

    // MARK: - Events

    /// Queues events for all their receivers.
    func sendEvents(_ text: [UInt8], to receivers: [ConnectionID]) {
        let chunk = SharedChunk(text: text)
        // Read once: sending does not open or close a stream before the turn ends.
        let streams = streams
        for receiver in receivers { streams[receiver]?.response?.send(chunk) }
    }

    /// Sends an event with large values from their snapshots; what follows on a stream waits behind it.
    ///
    /// How long it is must be known before it begins, since one that is too large must not be cut
    /// short; a worker finds it out, once for all streams.
    func stream(_ event: StreamedServerSentEvent, to receivers: [ConnectionID]) {
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

    /// Ends a stream that cannot be told a value.
    private func refuseValue(_ id: ConnectionID, _ reason: String) {
        guard let stream = streams[id] else { return }
        log.warning(
            "ended an event stream whose value cannot be sent: \(reason)",
            metadata: ["connection": "\(id.shortText)"]
        )
        stream.response?.send(SharedChunk(text: ServerSentEvent.cancel.encoded(.value)))
        endStream(id)
    }

    /// Begins to tell all streams from time to time that they are alive.
    func keepStreamsAlive() {
        let period = configuration.limits.keepAliveInterval / StreamConnections.groupCount
        timers.append(
            EventLoop.shared.every(period) { [self] in
                streams.keepAlive(with: Server.keepAlive)
            }
        )
    }

    // MARK: - The end

    /// Ends a stream behind all that was sent to it.
    func endStream(_ id: ConnectionID) {
        guard let stream = streams[id] else { return }
        stream.response?.end()
        streams.remove(stream)
        stepLater(.disconnected(id))
    }

    /// The client of a request has left, or was cut; if it has a stream, that is over.
    func abandonStream(_ exchange: HTTPExchange) {
        if let profile = exchange.userData as? ProfileStream { return endProfile(profile) }
        guard let stream = exchange.userData as? StreamConnection else { return }
        if let byteCount = stream.response?.slowReaderByteCount {
            log.info(
                "cut an event stream that is read too slowly",
                metadata: ["connection": "\(stream.id.shortText)", "waitingBytes": "\(byteCount)"]
            )
        }
        forgetStream(of: exchange)
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

    /// Bytes of a chunk.
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
