import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// Requests of the plain event protocol, strictly in order for each connection.
extension DatabaseEngine {
    /// Whether a session may begin in this database: it exists, or naming it makes it.
    package func serves(_ id: DatabaseID) -> Bool {
        if isReserved(id) { return false }
        return databases[id] != nil
            || policy.createsDatabases && databases.count < Limits.databases
    }

    func answer(
        _ request: EventRequest,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        guard let id = request.id else {
            if case .refused(let error) = request.action {
                session.database.reply(nil, .refused(error), to: session, &effects)
            }
            return
        }
        guard let reply = reply(to: request, id, session, now, &effects) else { return }
        session.database.reply(id, reply, to: session, &effects)
    }

    /// The answer to a request; nil when it comes later.
    private func reply(
        to request: EventRequest,
        _ id: Int64,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> EventReply? {
        switch request.action {
        case .ping:
            return .pong(now: now)
        case .auth(let token):
            authenticate(token, override: nil, request: id, session, &effects)
            return nil
        case .unauth:
            become(.nobody, .unlimited, session, now, &effects)
            return .done
        case .observe(let observation):
            return observe(observation, request, session, now, &effects)
        case .unobserve(let observer):
            guard let listen = session.listens[.observer(observer)] else {
                return .refused(.unknownObserver, "No observer has the id \(observer).")
            }
            session.database.remove(listen)
            session.database.profile(.unlisten, listen.path, &effects)
            return .done
        case .get(let path, let query, let isExport):
            return get(path, query, isExport, request, id, session, now, &effects)
        case .set(let target, let draft, let tag):
            let write = put(target, draft, ifMatch: tag, session)
            perform(SessionWrite(id, write), session, now, &effects)
            return nil
        case .remove(let target, let tag):
            let write = put(target, Draft(.absent), ifMatch: tag, session)
            perform(SessionWrite(id, write), session, now, &effects)
            return nil
        case .push(let path, let key, let draft):
            let target = WriteTarget(path: path.appending(key), isPriority: false)
            let write = put(target, draft, ifMatch: nil, session)
            perform(SessionWrite(id, write, key: key), session, now, &effects)
            return nil
        case .update(let base, let entries):
            let write = Write(
                entries: entries,
                base: base,
                identity: session.identity,
                writer: session
            )
            perform(SessionWrite(id, write), session, now, &effects)
            return nil
        case .onDisconnectSet(let target, let draft):
            let entry = MergeEntry(target: target, draft: draft)
            return reply(for: storeOnDisconnect([entry], session, now, &effects))
        case .onDisconnectUpdate(_, let entries):
            return reply(for: storeOnDisconnect(entries, session, now, &effects))
        case .onDisconnectCancel(let target):
            return reply(for: cancelOnDisconnect(target, session, now, &effects))
        case .refused(let error):
            return .refused(error)
        }
    }

    // MARK: - Reading

    /// Registers an observer and sends the events that lead to the present, before the answer.
    private func observe(
        _ observation: Observation,
        _ request: EventRequest,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> EventReply? {
        let database = session.database
        let name = Listen.Name.observer(observation.id)
        if session.listens[name] != nil {
            return .refused(.idInUse, "An observer has the id \(observation.id) already.")
        }
        let asked = Database.ListenRequest(
            name: name,
            path: observation.path,
            query: observation.query,
            number: observation.id,
            encoding: .events(observation.events, isExport: observation.isExport),
        )
        let outcome = database.register(asked, session, id: nextListen(), now: now, &effects)
        database.profile(asked, outcome, &effects)
        switch outcome {
        case .denied:
            counts.refusedReads += 1
            return .denied
        case .refused(let text):
            return .refused(.tooManyObservers, text)
        case .notIndexed:
            preconditionFailure("without an index such a listen is but warned")
        case .mustWait(let need):
            wait(for: need, in: database, .message(.events(request), session), &effects)
            return nil
        case .registered(let listen, let isIndexed):
            database.tellPresent(listen, &effects)
            return .observing(warning: isIndexed ? nil : .noIndex)
        }
    }

    private func get(
        _ path: Path,
        _ query: QuerySpec,
        _ isExport: Bool,
        _ request: EventRequest,
        _ id: Int64,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> EventReply? {
        let database = session.database
        let requester = Requester(session, .read)
        let outcome = database.read(path, query, for: requester, now: now, &effects)
        database.profile(.read, path, query, outcome, &effects)
        switch outcome {
        case .mustWait(let need):
            wait(for: need, in: database, .message(.events(request), session), &effects)
            return nil
        case .denied:
            counts.refusedReads += 1
            return .denied
        case .notIndexed(let text):
            return .refused(.indexNotDefined, text)
        case .value(let node):
            guard query == .everything else { return .value(node, nil, isExport: isExport) }
            if node.isLarge(from: policy.nodesHashedAtOnce) {
                let get = Session.TaggedGet(
                    request: id,
                    path: path,
                    isExport: isExport,
                    reader: session.identity
                )
                askHash(of: node, .tag(get), session, &effects)
                return nil
            }
            return .value(node, EntityTag(node), isExport: isExport)
        }
    }

    // MARK: - Writing

    /// A set, which counts only if the client saw what is there when it brings a tag.
    private func put(
        _ target: WriteTarget,
        _ draft: Draft,
        ifMatch tag: EntityTag?,
        _ session: Session
    ) -> Write {
        var write = Write.put(target, draft, as: session.identity, by: session)
        write.condition = tag.map { .tag($0) }
        write.isTransaction = tag != nil
        return write
    }

    // MARK: - Answers

    /// What the wire protocol says of an on-disconnect write, in the words of this one.
    private func reply(for body: ReplyBody) -> EventReply {
        guard case .refused(let status, let text) = body else { return .done }
        switch status {
        case .permissionDenied: return .denied
        case .unavailable: return .refused(.unavailable, text)
        default: return .refused(.tooManyWrites, text)
        }
    }
}

extension EventReply {
    static let denied = EventReply.refused(
        .permissionDenied,
        "The rules do not allow it."
    )

    static func refused(_ code: EventErrorCode, _ text: String) -> EventReply {
        .refused(EventError(code, text))
    }
}

extension RequestRefusal {
    var eventCode: EventErrorCode {
        switch self {
        case .noSpace, .logBehind, .busy, .changing, .unknownRuleset, .unusableRuleset,
            .tooManyListens:
            .unavailable
        case .tooDeep: .tooDeep
        case .tooManyEntries: .tooManyWrites
        case .tooLarge: .tooBig
        }
    }
}
