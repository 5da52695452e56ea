import DatabaseCore
import Transport

/// The profiler: `GET /.settings/profile.json` with `Accept: text/event-stream`.
///
/// The engine reports operations only while there are readers; a worker counts their bytes and writes the
/// events, so that watching a database does not hold it up.
@LoopActor
final class ProfileService: Service {
    let server: Server
    private var profiles = ProfileStreams()
    private var timer: LoopTimer?

    init(_ server: Server) {
        self.server = server
    }

    /// Whether there are readers.
    var isWatched: Bool { !profiles.isEmpty }

    /// Asks the engine whether the caller may.
    func ask(_ pending: PendingExchange) throws(BadRequest) {
        guard server.data.wantsEvents(pending) else {
            throw BadRequest("This is an event stream; ask with 'Accept: text/event-stream'.")
        }
        submit(.profile, pending)
    }

    /// The engine has found that an admin asks.
    func begin(_ pending: PendingExchange, until term: CredentialTerm) {
        let exchange = pending.exchange
        let database = pending.database
        // It may have been revoked while the answer waited for the log.
        guard server.identity.stillCounts(term), !term.isOver(at: Clock.now())
        else {
            return answer(exchange, .error(401, CredentialRefusal.revoked.text))
        }
        guard profiles[database].count < ProfileStreams.streamLimit, !server.isStopping else {
            return answer(exchange, .error(503, "Too many watch this database already."))
        }
        let headers = DataService.streamHeaders + server.requests.crossOriginHeaders(exchange)
        guard let response = exchange.respondPushed(status: 200, headers: headers) else { return }
        let stream = ProfileStream(database, response, until: term)
        pending.request.use = .profile(stream)
        // So that the reader sees that the stream is open.
        response.send(DataService.keepAlive)
        if timer == nil {
            timer = EventLoop.shared.every(configuration.limits.keepAliveInterval) {
                [self] in
                for stream in profiles.all where stream.response.isIdle {
                    stream.response.send(DataService.keepAlive)
                }
            }
        }
        if profiles.add(stream) { step(.profile(database, true)) }
    }

    /// The reader has left.
    func end(_ stream: ProfileStream) {
        if profiles.remove(stream) { step(.profile(stream.database, false)) }
        guard profiles.isEmpty else { return }
        timer?.cancel()
        timer = nil
    }

    /// Ends streams whose reader's credential has run out.
    func endOverdue() {
        if profiles.isEmpty { return }
        let now = Clock.now()
        end { $0.isOver(at: now) }
    }

    /// Ends streams by their terms: all of them, when the server ends.
    func end(where isOver: (CredentialTerm) -> Bool = { _ in true }) {
        for stream in profiles.all where isOver(stream.term) {
            stream.response.end()
            end(stream)
        }
    }

    /// Takes a record of the step under way.
    func take(
        _ record: OperationRecord,
        of database: DatabaseID,
        _ step: (start: UInt64, end: UInt64)
    ) {
        guard profiles.underWayCount < ProfileStreams.underWayLimit else {
            for stream in profiles[database] { stream.drop(1) }
            return
        }
        profiles.underWayCount += 1
        profiles.batch.append(
            ProfileText(
                database: database,
                record: record,
                time: Clock.now(),
                stepNanoseconds: step.end - step.start,
                waitNanoseconds: EventLoop.shared.tickNanoseconds(before: step.start),
            )
        )
        guard profiles.batch.count == 1 else { return }
        EventLoop.shared.enqueue { [self] in sendBatch() }
    }

    /// Has what was taken written out, once every commit in it is durable.
    private func sendBatch() {
        let batch = profiles.batch
        profiles.batch = []
        let values = workers.values
        commits.barrier { _, _ in
            let isTaken = values.perform {
                batch.map { (database: $0.database, text: $0.text()) }
            } then: { [self] texts in
                profiles.underWayCount -= texts.count
                send(texts)
            }
            if isTaken { return }
            EventLoop.shared.enqueue { [self] in
                profiles.underWayCount -= batch.count
                for dropped in batch {
                    for stream in profiles[dropped.database] { stream.drop(1) }
                }
            }
        }
    }

    /// Sends events, those of one database joined.
    private func send(_ texts: [(database: DatabaseID, text: [UInt8])]) {
        let now = Clock.now()
        var joined: [UInt8] = []
        var count = 0
        for (index, (database, text)) in texts.enumerated() {
            joined += text
            count += 1
            let isLast = index + 1 == texts.count || texts[index + 1].database != database
            guard isLast || joined.count > Self.joinedByteCount else { continue }
            let chunk = SharedChunk(text: joined)
            for stream in profiles[database] { stream.send(chunk, count: count, now: now) }
            joined = []
            count = 0
        }
    }

    private static let joinedByteCount = 16 * 1024
}
