import EventProtocol
import JSONTree
import Queries
import WireProtocol

/// Listens, observers and event streams.
extension DatabaseEngine {
    /// Registers a listen and sends its client the present state, as far as the client lacks it.
    ///
    /// Data, registration and rules all see the same tree: no commit comes in between.
    ///
    /// - Returns: the index that it must wait for.
    func listen(
        _ asked: Database.ListenRequest,
        _ hash: ListenHash?,
        on session: Session,
        for asker: Asker,
        _ step: inout Step
    ) -> IndexNeed? {
        let database = session.database
        if let present = session.listens[asked.name] {
            if case .observer(let id) = asked.name {
                let text = "An observer has the id \(id) already."
                answer(.failed(.idInUse, text), to: asker, &step)
                return nil
            }
            database.remove(present)
        }
        let requester = asker.requester(.listen)
        let id = nextListen()
        let outcome = database.register(asked, session, id: id, for: requester, &step)
        if asker.session == nil, case .registered = outcome {
            database.profileOperation(.connect, .root, &step)
        }
        database.profileListen(asked, outcome, &step)
        switch outcome {
        case .mustWait(let need): return need
        case .denied:
            step.counts.refusedReads += 1
            answer(.denied, to: asker, &step)
        case .refused(let text):
            if session.dialect == .wire {
                // SDKs print a status that they do not know as "unknown error", without its text.
                tellDeveloper("listen \(asked.path) refused: \(text)", session, &step)
            }
            answer(.failed(.tooManyObservers, text), to: asker, &step)
        case .notIndexed(let text): answer(.failed(.indexNotDefined, text), to: asker, &step)
        case .registered(let listen, let isIndexed):
            step.counts.reads += 1
            if asker.session != nil { noteRead(of: asked.path, asked.query, session, &step) }
            let done = Answer.listening(listen, isIndexed: isIndexed)
            switch asked.encoding {
            case .wire: begin(listen, hash, done, asker, &step)
            case .events:
                database.beginObserving(listen, &step)
                answer(done, to: asker, &step)
            case .serverSent:
                enter(session)
                step.counts.streams += 1
                answer(done, to: asker, &step)
                let shown = database.shown(by: listen.view)
                database.putWhole(shown, of: listen.view, toListens: [listen], &step)
            }
        }
        return nil
    }

    func unlisten(_ name: Listen.Name, for asker: Asker, _ step: inout Step) {
        let (database, listen) = (asker.database, asker.ownSession.listens[name])
        if let listen { database.remove(listen) }
        switch name {
        case .observer(let id) where listen == nil:
            let text = "No observer has the id \(id)."
            return answer(.failed(.unknownObserver, text), to: asker, &step)
        case .target(let target): database.profileOperation(.unlisten, target.path, &step)
        case .observer, .stream:
            if let listen { database.profileOperation(.unlisten, listen.path, &step) }
        }
        answer(.done, to: asker, &step)
    }

    /// A session of one listen, for an event stream: its credential is checked, and it can only receive. It ends with
    /// its connection, when the rules no longer allow the read, or when its token expires.
    ///
    /// The engine does not know it before the stream has begun.
    func streamSession(_ connection: ConnectionID, for asker: Asker) -> Session {
        let asked = asker.singleRequest
        return Session(
            connection: connection,
            // Never entered by its name, so no client can ask for it to be replaced.
            id: SessionID("stream-\(connection.value)"),
            database: asked.database,
            dialect: .serverSent,
            identity: asked.principal.identity,
            term: asked.principal.term
        )
    }

    // MARK: - What the client has already

    /// Sends the first data of a listen of the wire protocol, and then the answer.
    private func begin(
        _ listen: Listen,
        _ hash: ListenHash?,
        _ done: Answer,
        _ asker: Asker,
        _ step: inout Step
    ) {
        let shown = asker.database.shown(by: listen.view)
        // Nothing on one side needs no hash.
        if let hash, !hash.hash.isEmpty, shown.isLarge(from: policy.bounds.nodesHashedAtOnce) {
            listen.view.suspend(listen)
            wait(for: .compare(shown, hash), .listen(listen, shown, done), asker, &step)
            return
        }
        sendMissing(hash?.compare(with: shown) ?? .different, of: shown, to: listen, &step)
        answer(done, to: asker, &step)
    }

    /// Continues a listen when the work has found what its client lacks of the snapshot.
    ///
    /// Commits were made meanwhile: their changes are sent behind the difference, before the answer.
    func compared(
        _ listen: Listen,
        _ snapshot: Node,
        _ comparison: ListenComparison,
        _ done: Answer,
        _ asker: Asker,
        _ step: inout Step
    ) {
        let database = asker.database
        guard database.isStillAllowed(listen, &step) else {
            step.counts.refusedReads += 1
            database.remove(listen)
            return answer(.denied, to: asker, &step)
        }
        listen.view.resume(listen)
        let shown = database.shown(by: listen.view)
        let changes = snapshot.update(to: shown, limit: Limits.changesWhileComparing)
        if let changes {
            // Of data that differs altogether, the present state is as good as the snapshot.
            sendMissing(comparison, of: shown, to: listen, &step)
            if !changes.isEmpty, comparison.isPartial {
                let (path, tag) = (listen.path, listen.number)
                let message = OutgoingMessage.merge(base: path, changes, tag: tag)
                database.emit(.send(message, to: [listen.session.connection]), &step)
            }
        } else {
            sendMissing(.different, of: shown, to: listen, &step)
        }
        answer(done, to: asker, &step)
    }

    /// Sends the client of a listen what it lacks of the data that the listen shows.
    private func sendMissing(
        _ comparison: ListenComparison,
        of shown: Node,
        to listen: Listen,
        _ step: inout Step
    ) {
        let path = listen.view.node.path
        let message: OutgoingMessage
        switch comparison {
        case .same: return
        case .ranges(let merges): message = .rangeMerge(path, merges, tag: listen.number)
        case .different: message = .put(WriteTarget(path: path), shown, tag: listen.number)
        }
        let session = listen.session
        session.database.emit(.send(message, to: [session.connection]), &step)
    }
}

extension ListenComparison {
    /// Whether the client keeps some of what it has.
    fileprivate var isPartial: Bool {
        switch self {
        case .same, .ranges: true
        case .different: false
        }
    }
}
