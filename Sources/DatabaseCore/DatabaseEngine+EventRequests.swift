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
        case .set(let target, let draft, let tag?):
            return set(target, draft, ifMatch: tag, id, session, now, &effects)
        case .remove(let target, let tag?):
            return set(target, Draft(.absent), ifMatch: tag, id, session, now, &effects)
        case .set(let target, let draft, nil):
            return put(target, draft, session, now, &effects)
        case .remove(let target, nil):
            return put(target, Draft(.absent), session, now, &effects)
        case .push(let path, let key, let draft):
            let target = WriteTarget(path: path.appending(key), isPriority: false)
            let reply = put(target, draft, session, now, &effects)
            if case .written = reply { return .pushed(key) }
            return reply
        case .update(let base, let entries):
            let write = Write(
                entries: entries,
                base: base,
                identity: session.identity,
                writer: session
            )
            return reply(for: perform(write, session.database, now, &effects))
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

    private func put(
        _ target: WriteTarget,
        _ draft: Draft,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> EventReply {
        let write = Write.put(target, draft, as: session.identity, by: session)
        return reply(for: perform(write, session.database, now, &effects))
    }

    /// A set that counts only if the client saw what is there.
    private func set(
        _ target: WriteTarget,
        _ draft: Draft,
        ifMatch tag: EntityTag,
        attempt: Int = 1,
        _ id: Int64,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> EventReply? {
        let current = session.database.node(at: target)
        if current.isLarge(from: policy.nodesHashedAtOnce) {
            let set = Session.TaggedSet(
                target: target,
                draft: draft,
                tag: tag,
                attempt: attempt
            )
            askHash(of: current, .set(id, set), session, &effects)
            return nil
        }
        return set(target, draft, ifMatch: tag, current, EntityTag(current), session, now, &effects)
    }

    /// Sets what has been compared, or says what is there instead.
    private func set(
        _ target: WriteTarget,
        _ draft: Draft,
        ifMatch tag: EntityTag,
        _ current: Node,
        _ currentTag: EntityTag,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> EventReply {
        var write = Write.put(target, draft, as: session.identity, by: session)
        write.isTransaction = true
        let database = session.database
        switch perform(write, if: tag, is: currentTag, database, now, &effects) {
        case .mismatch: return .mismatch(current, currentTag)
        case .denied: return .denied
        case .performed(.done): break
        case .performed(let outcome): return reply(for: outcome)
        }
        let value = database.node(at: target)
        // A tag that takes long to work out is had by reading.
        if value.isLarge(from: policy.nodesHashedAtOnce) { return .written(nil) }
        return .written(EntityTag(value))
    }

    /// Goes on with a set whose comparison was too large for the loop: nil when what was hashed is there
    /// no longer, and it is compared anew.
    func compared(
        _ asked: Session.TaggedSet,
        _ compared: Node,
        _ tag: EntityTag,
        _ id: Int64,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> EventReply? {
        let (target, draft) = (asked.target, asked.draft)
        let current = session.database.node(at: target)
        // Another tag is an answer whatever came later.
        if asked.tag != tag || current.isIdentical(to: compared) {
            return set(target, draft, ifMatch: asked.tag, compared, tag, session, now, &effects)
        }
        if asked.attempt >= Limits.comparisons {
            return .refused(.unavailable, RequestRefusal.changing.text)
        }
        let attempt = asked.attempt + 1
        return set(
            target,
            draft,
            ifMatch: asked.tag,
            attempt: attempt,
            id,
            session,
            now,
            &effects
        )
    }

    // MARK: - Answers

    private func reply(for outcome: WriteOutcome) -> EventReply {
        switch outcome {
        case .done: .written(nil)
        case .denied: .denied
        case .refused(let refusal): .refused(refusal.eventCode, refusal.text)
        }
    }

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
    fileprivate var eventCode: EventErrorCode {
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
