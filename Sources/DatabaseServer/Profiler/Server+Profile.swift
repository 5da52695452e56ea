import DatabaseCore
import JSONTree
import Transport

/// The profiler: `GET /.settings/profile.json` with `Accept: text/event-stream`.
///
/// The engine tells operations only while somebody reads; a worker counts their bytes and writes the
/// events, so that watching a database does not hold it up.
extension Server {
    /// The engine has found that an admin asks.
    func beginProfile(_ exchange: HTTPExchange, until term: CredentialTerm) {
        let database: DatabaseID
        do throws(BadRequest) { database = try self.database(of: exchange.head) } catch {
            answer(exchange, RESTAnswer.bad(error))
            return
        }
        // It may have been revoked while the answer waited for the log.
        guard accountDirectory.stillCounts(term), !term.isOver(at: Clock.now()) else {
            answer(exchange, RESTAnswer.error(401, CredentialRefusal.revoked.text))
            return
        }
        guard profiles[database].count < ProfileStreams.streamLimit, !isStopping else {
            answer(exchange, RESTAnswer.error(503, "Too many watch this database already."))
            return
        }
        let headers = Server.streamHeaders + crossOriginHeaders(exchange.head)
        guard let response = exchange.respondPushed(status: 200, headers: headers) else { return }
        let stream = ProfileStream(database, response, until: term)
        exchange.userData = stream
        // So that the reader knows that it is heard.
        response.send(Server.keepAlive)
        if profileTimer == nil {
            profileTimer = EventLoop.shared.every(configuration.limits.keepAliveInterval) {
                [self] in
                for stream in profiles.all where stream.response.isIdle {
                    stream.response.send(Server.keepAlive)
                }
            }
        }
        if profiles.add(stream) { step(.profile(database, true)) }
    }

    /// The reader has left.
    func endProfile(_ stream: ProfileStream) {
        if profiles.remove(stream) { step(.profile(stream.database, false)) }
        guard profiles.isEmpty else { return }
        profileTimer?.cancel()
        profileTimer = nil
    }

    /// Ends streams whose reader's credential has run out.
    func endOverdueProfiles() {
        if profiles.isEmpty { return }
        let now = Clock.now()
        endProfiles { $0.isOver(at: now) }
    }

    /// Ends streams by their terms: all of them, when the server ends.
    func endProfiles(where isOver: (CredentialTerm) -> Bool = { _ in true }) {
        for stream in profiles.all where isOver(stream.term) {
            stream.response.end()
            endProfile(stream)
        }
    }

    /// Takes a record of the step under way.
    func profile(_ database: DatabaseID, _ record: OperationRecord) {
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
                stepNanoseconds: profiledStep.end - profiledStep.start,
                waitNanoseconds: EventLoop.shared.turnNanoseconds(before: profiledStep.start),
            )
        )
        guard profiles.batch.count == 1 else { return }
        EventLoop.shared.enqueue { [self] in sendBatch() }
    }

    /// Has what was taken written out, once every commit it tells of is durable.
    private func sendBatch() {
        let batch = profiles.batch
        profiles.batch = []
        let values = workers.values
        commits.barrier { _, _ in
            let isTaken = values.post(
                .read {
                    let texts = batch.map { (database: $0.database, text: $0.text()) }
                    EventLoop.shared.enqueue { [self] in
                        profiles.underWayCount -= texts.count
                        send(texts)
                    }
                }
            )
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
            guard isLast || joined.count > Server.joinedProfileByteCount else { continue }
            let chunk = SharedChunk(text: joined)
            for stream in profiles[database] { stream.send(chunk, count: count, now: now) }
            joined = []
            count = 0
        }
    }

    private static let joinedProfileByteCount = 16 * 1024
}
