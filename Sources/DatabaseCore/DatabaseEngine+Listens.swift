import JSONTree
import Queries
import WireProtocol

/// Listens of the wire protocol.
extension DatabaseEngine {
    /// Registers a listen and sends its first data, as far as the client has not got it already.
    ///
    /// The data, the registration and the rules all see the same tree: no commit falls in between.
    ///
    /// - Returns: the answer, to be sent behind the data; nil when it comes later.
    func listen(
        _ target: ListenTarget,
        _ tag: Int64?,
        _ hash: ListenHash?,
        _ request: ClientRequest,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> ReplyBody? {
        let database = session.database
        if let replaced = session.listens[.target(target)] { database.remove(replaced) }
        let asked = Database.ListenRequest(
            name: .target(target),
            path: target.path,
            query: target.query,
            number: tag,
            encoding: .wire,
        )
        let outcome = database.register(asked, session, id: nextListen(), now: now, &effects)
        database.profile(asked, outcome, &effects)
        switch outcome {
        case .denied:
            counts.refusedReads += 1
            return .refused(.permissionDenied, "Permission denied")
        case .refused(let text):
            // SDKs print a status that they do not know as "unknown error", without its text.
            tellDeveloper("listen \(target.path) refused: \(text)", session, &effects)
            return .refused(.failed, text)
        case .notIndexed:
            preconditionFailure("without an index such a listen is but warned")
        case .mustWait(let need):
            wait(for: need, in: database, .message(.wire(.request(request)), session), &effects)
            return nil
        case .registered(let listen, let isIndexed):
            let answer = ReplyBody.listening(warnings: isIndexed ? [] : ["no_index"])
            let shown = database.shown(by: listen.view)
            // To find out that there is nothing on one side takes no time.
            if let hash, !hash.hash.isEmpty, shown.isLarge(from: policy.nodesHashedAtOnce) {
                listen.view.hold(listen)
                let waiting = Session.ComparedListen(
                    listen: listen,
                    request: request.number,
                    answer: answer,
                    snapshot: shown
                )
                compare(hash, waiting, session, &effects)
                return nil
            }
            send(hash?.compare(with: shown) ?? .different, of: shown, to: listen, &effects)
            return answer
        }
    }

    /// Has a large value compared with what a client has; its later messages wait for the outcome.
    private func compare(
        _ hash: ListenHash,
        _ listen: Session.ComparedListen,
        _ session: Session,
        _ effects: inout [Effect]
    ) {
        let inquiry = nextInquiry()
        session.waiting = .comparison(inquiry, listen)
        inquiringSessions[inquiry] = session
        effects.append(.work(inquiry, .compare(listen.snapshot, hash)))
    }

    /// Goes on with a listen when it is known what its client lacked of the snapshot.
    ///
    /// Commits went on meanwhile: what they changed is told behind the difference, before the answer.
    func compared(
        _ waited: Session.ComparedListen,
        _ comparison: ListenComparison,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let database = session.database
        let listen = waited.listen
        guard database.isStillAllowed(listen, now: now, &effects) else {
            counts.refusedReads += 1
            database.remove(listen)
            let refusal = ReplyBody.refused(.permissionDenied, "Permission denied")
            database.reply(waited.request, refusal, to: session, &effects)
            return
        }
        listen.view.resume(listen)
        let shown = database.shown(by: listen.view)
        let changes = waited.snapshot.update(to: shown, limit: Limits.changesWhileComparing)
        if let changes {
            // Of data that differs altogether, the present state is as good as the snapshot.
            send(comparison, of: shown, to: listen, &effects)
            if !changes.isEmpty, comparison.isPartial {
                let message = OutgoingMessage.merge(
                    base: listen.path,
                    changes,
                    tag: listen.number
                )
                database.emit(.send(message, to: [session.connection]), &effects)
            }
        } else {
            send(.different, of: shown, to: listen, &effects)
        }
        database.reply(waited.request, waited.answer, to: session, &effects)
    }

    /// Tells the client of a listen what it lacks of the data that the listen shows.
    private func send(
        _ comparison: ListenComparison,
        of shown: Node,
        to listen: Listen,
        _ effects: inout [Effect]
    ) {
        let path = listen.view.node.path
        let message: OutgoingMessage
        switch comparison {
        case .same: return
        case .ranges(let merges):
            message = .rangeMerge(path, merges, tag: listen.number)
        case .different:
            let place = WriteTarget(path: path, isPriority: false)
            message = .put(place, shown, tag: listen.number)
        }
        let database = listen.session.database
        database.emit(.send(message, to: [listen.session.connection]), &effects)
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
