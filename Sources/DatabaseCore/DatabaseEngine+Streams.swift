import JSONTree
import Queries
import WireProtocol

/// Event streams: requests whose answer goes on.
///
/// A stream is a session of one listen. It has shown its credential, so it can only receive; it ends
/// when its connection does, when the rules no longer allow the read, or when its token has run out.
extension DatabaseEngine {
    /// A session for a stream, which is not known to anybody before the stream has begun.
    func streamSession(
        _ connection: ConnectionID,
        _ database: Database,
        as standing: Standing
    ) -> Session {
        Session(
            connection: connection,
            // Never entered by its name, so no client can ask for it to be replaced.
            id: SessionID("stream-\(connection.value)"),
            database: database,
            dialect: .serverSent,
            identity: standing.identity,
            term: standing.term
        )
    }

    /// Begins a stream. The verdict, the first put and the registration all see the same tree.
    ///
    /// - Returns: the refusal; nil when the stream has begun or an index must be waited for.
    func stream(
        _ asked: Database.ListenRequest,
        _ session: Session,
        _ id: RequestID,
        _ asker: Asker,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> Response? {
        let database = session.database
        let outcome = database.register(
            asked,
            session,
            id: nextListen(),
            for: Requester(session.identity, .stream(id), .listen),
            now: now,
            &effects
        )
        if case .registered = outcome { database.profile(.connect, .root, &effects) }
        database.profile(asked, outcome, &effects)
        switch outcome {
        case .denied:
            counts.refusedReads += 1
            return .permissionDenied
        case .refused:
            return .refused(.tooManyListens)
        case .notIndexed(let text):
            return .notIndexed(text)
        case .mustWait(let need):
            wait(for: need, in: database, asker, &effects)
            return nil
        case .registered(let listen, _):
            let connection = session.connection
            enter(session)
            counts.streams += 1
            database.emit(.respond(id, .streaming(connection)), &effects)
            database.putPresent(listen, &effects)
            return nil
        }
    }
}
