import JSONTree
import WireProtocol

/// Requests of the wire protocol, strictly in order for each connection.
extension DatabaseEngine {
    func receive(
        _ message: SessionMessage,
        from connection: ConnectionID,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        guard let session = sessions[connection] else { return }
        if session.waiting != nil {
            park(message, session, now, &effects)
            return
        }
        switch message {
        case .wire(.ping):
            let pong = ServerMessage.pong.encoded()
            session.database.emit(.send(.text(pong), to: [connection]), &effects)
        case .wire(.request(let request)):
            answer(request, session, now, &effects)
        case .wire(.upgradeAck), .wire(.endOfTransmission), .wire(.unknownControl):
            // Steps of an upgrade between transports, which this server never begins.
            break
        case .events(let request):
            answer(request, session, now, &effects)
        }
    }

    /// Whether a message from `connection` would be parked behind an inquiry now.
    package func isWaiting(_ connection: ConnectionID) -> Bool {
        sessions[connection]?.waiting != nil
    }

    /// How many messages of `connection` are parked.
    package func parkedCount(_ connection: ConnectionID) -> Int {
        sessions[connection]?.parked.count ?? 0
    }

    private func park(
        _ message: SessionMessage,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        if session.parked.count >= Limits.parkedMessages {
            close(session.connection, .tooManyParkedMessages, now, &effects)
            return
        }
        session.parked.append(message)
    }

    /// Goes on with some of what was parked, until something must be waited for again; with the rest
    /// when its turn comes.
    func receiveParked(_ session: Session, _ now: Timestamp, _ effects: inout [Effect]) {
        for _ in 0..<Limits.messagesAtOnce {
            guard session.waiting == nil, let message = session.parked.popFirst() else { break }
            receive(message, from: session.connection, now, &effects)
        }
        if session.waiting == nil, !session.parked.isEmpty {
            session.waiting = .turn
            portions.append(.parked(session))
        }
        // What was taken out lives on in the slice's storage until that is given up.
        if session.parked.isEmpty { session.parked = [] }
    }

    private func answer(
        _ request: ClientRequest,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        let number = request.number
        let database = session.database
        let body: ReplyBody
        switch request.action {
        case .stats, .appCheck, .unAppCheck:
            body = .ok
        case .auth(let credential), .gauth(let credential):
            authenticate(
                credential.token,
                override: credential.override,
                request: number,
                session,
                &effects
            )
            return
        case .unauth:
            become(.nobody, .unlimited, session, now, &effects)
            body = .text("unauthenticated")
        case .listen(let target, let tag, let hash):
            guard let reply = listen(target, tag, hash, request, session, now, &effects) else {
                return
            }
            body = reply
        case .unlisten(let target, _):
            if let listen = session.listens[.target(target)] { database.remove(listen) }
            database.profile(.unlisten, target.path, &effects)
            body = .ok
        case .get(let target):
            let outcome = database.read(
                target.path,
                target.query,
                for: Requester(session, .read),
                now: now,
                &effects
            )
            database.profile(.read, target.path, target.query, outcome, &effects)
            if case .mustWait(let need) = outcome {
                wait(for: need, in: database, .message(.wire(.request(request)), session), &effects)
                return
            }
            body = replyBody(for: outcome)
            if case .value(let node) = body, node.isLarge(from: Limits.nodesEncodedAtOnce) {
                let message = OutgoingMessage.stream(StreamedMessage.reply(number, node))
                database.emit(.send(message, to: [session.connection]), &effects)
                return
            }
        case .put(let target, let draft, let hash):
            var write = Write.put(target, draft, as: session.identity, by: session)
            write.condition = hash.map { .hash($0) }
            write.isTransaction = hash != nil
            return perform(SessionWrite(number, write), session, now, &effects)
        case .merge(let base, let entries, let hash):
            var write = Write(
                entries: entries,
                base: base,
                identity: session.identity,
                writer: session
            )
            write.condition = hash.map { .hash($0) }
            return perform(SessionWrite(number, write), session, now, &effects)
        case .onDisconnectPut(let target, let draft):
            let entry = MergeEntry(target: target, draft: draft)
            body = storeOnDisconnect([entry], session, now, &effects)
        case .onDisconnectMerge(_, let entries):
            body = storeOnDisconnect(entries, session, now, &effects)
        case .onDisconnectCancel(let target):
            body = cancelOnDisconnect(target, session, now, &effects)
        case .echo(let text):
            body = .json(text)
        case .unknown(let name):
            body = .refused(.error, "Unknown action: \(name)")
        case .tooBig(let byteLimit):
            let text = RequestRefusal.tooLarge.text + " One message has at most \(byteLimit) bytes."
            let advice =
                "--max-message is the limit; write in parts, or over REST, which has a larger one."
            tellDeveloper("request \(number) refused: \(text)\n\(advice)", session, &effects)
            body = .refused(.writeTooBig, text)
        case .malformed(let text):
            body = .refused(.error, text)
        }
        database.reply(number, body, to: session, &effects)
    }

    /// In development, tells a client what its SDK would not say of a refusal, ahead of it.
    func tellDeveloper(_ text: String, _ session: Session, _ effects: inout [Effect]) {
        let database = session.database
        guard database.explainsRefusals, database.inspection != .off else { return }
        let message = ServerMessage.securityDebug(text).encoded()
        database.emit(.send(.text(message), to: [session.connection]), &effects)
    }

    // MARK: - On-disconnect writes

    func storeOnDisconnect(
        _ entries: [MergeEntry],
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> ReplyBody {
        if let refusal = logCondition.refusal { return replyBody(for: .refused(refusal)) }
        return session.database.storeOnDisconnect(entries, for: session, now: now, &effects)
    }

    func cancelOnDisconnect(
        _ target: WriteTarget,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> ReplyBody {
        if let refusal = logCondition.refusal { return replyBody(for: .refused(refusal)) }
        return session.database.cancelOnDisconnect(target, for: session, now: now, &effects)
    }

    // MARK: - Answers

    func replyBody(for outcome: WriteOutcome) -> ReplyBody {
        switch outcome {
        case .done: .ok
        case .stale: .stale
        case .mustCompare, .mustDecide: preconditionFailure("it is answered when that is done")
        case .denied: .refused(.permissionDenied, "Permission denied")
        case .refused(let refusal):
            .refused(refusal.status, refusal.text)
        }
    }

    private func replyBody(for outcome: ReadOutcome) -> ReplyBody {
        switch outcome {
        case .value(let node): return .value(node)
        case .denied:
            counts.refusedReads += 1
            return .refused(.permissionDenied, "Permission denied")
        case .notIndexed(let text): return .refused(.failed, text)
        case .mustWait: preconditionFailure("who must wait is asked again")
        }
    }
}

extension ReplyBody {
    static let stale = ReplyBody.refused(.dataStale, "Transaction hash does not match")
}

extension RequestRefusal {
    /// For the person who reads the answer.
    package var text: String {
        switch self {
        case .noSpace:
            "The server's disk is nearly full: writes are refused until there is room again."
        case .tooDeep:
            "The data would be deeper than \(JSONTree.Limits.depth) keys."
        case .tooManyEntries:
            "One update can change at most \(Limits.mergeEntries) paths."
        case .tooLarge:
            "Data to write exceeds the maximum size that can be modified with a single request."
        case .logBehind:
            "The server's disk cannot keep up: try again in a moment."
        case .tooManyListens:
            "The server has too many listens at the moment: try again later."
        case .busy:
            "The server has too much to work out at the moment: try again soon."
        case .changing:
            "The data changes faster than it can be compared."
        case .unknownRuleset:
            "There is no stored ruleset with this identifier."
        case .unusableRuleset:
            "The stored ruleset does not load in this version of the server: store it anew."
        }
    }

    /// Whether the same write may be taken later.
    package var isPassing: Bool {
        switch self {
        case .noSpace, .logBehind, .busy, .changing, .tooManyListens: true
        case .tooDeep, .tooManyEntries, .tooLarge, .unknownRuleset, .unusableRuleset: false
        }
    }
}

extension RequestRefusal {
    fileprivate var status: Status {
        if isPassing { return .unavailable }
        return self == .tooLarge ? .writeTooBig : .failed
    }
}

extension LogCondition {
    /// Why writes are refused in this condition.
    var refusal: RequestRefusal? {
        switch self {
        case .ready: nil
        case .diskLow, .diskFull: .noSpace
        case .behind: .logBehind
        }
    }
}

extension Node {
    /// Whether it is a map of at least that many nodes, itself included; 256 bytes of a long text count as
    /// another one. O(nodeCount).
    func isLarge(from nodeCount: Int) -> Bool {
        isMap && weight(upTo: nodeCount) >= nodeCount
    }
}
