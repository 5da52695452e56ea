import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// The plain event protocol: its requests as operations.
extension SessionRequest {
    init(_ request: EventRequest, text: [UInt8]) {
        self.init(number: request.id ?? 0, operation: Operation(request), text: text)
    }
}

extension Operation {
    fileprivate init(_ request: EventRequest) {
        switch request.action {
        case .ping: self = .ping
        case .auth(let token): self = .authenticate(token: token, nil)
        case .unauth: self = .signOut
        case .observe(let observation):
            let asked = Database.ListenRequest(
                name: .observer(observation.id),
                path: observation.path,
                query: observation.query,
                number: observation.id,
                encoding: .events(observation.events, observation.form)
            )
            self = .listen(asked, nil)
        case .unobserve(let observer): self = .unlisten(.observer(observer))
        case .get(let path, let query, let form):
            // A tag is that of a whole node.
            let tagUse = query == .everything ? Request.TagUse.wanted : .none
            self = .get(WriteTarget(path: path), query, tagUse, form)
        case .keyAt(let path, let index): self = .keyAt(path, index)
        case .set(let target, let draft, let tag): self = .put(target, draft, ifMatch: tag)
        case .remove(let target, let tag): self = .put(target, Draft(.absent), ifMatch: tag)
        case .push(let path, let key, let draft):
            let target = WriteTarget(path: path.appending(key))
            self = .put(MergeEntry(target: target, draft: draft), nil, pushed: key, .none)
        case .update(let base, let entries): self = .update(base, entries, nil, .none)
        case .onDisconnectSet(let target, let draft):
            self = .storeOnDisconnect([MergeEntry(target: target, draft: draft)])
        case .onDisconnectUpdate(_, let entries): self = .storeOnDisconnect(entries)
        case .onDisconnectCancel(let target): self = .cancelOnDisconnect(target)
        case .refused(let error): self = .answered(.eventReply(request.id, .refused(error)))
        }
    }

    /// A set; with a tag it is done only if that is the tag of the present data.
    private static func put(
        _ target: WriteTarget,
        _ draft: Draft,
        ifMatch tag: EntityTag?
    ) -> Operation {
        let entry = MergeEntry(target: target, draft: draft)
        return .put(entry, tag.map { .tag($0) }, pushed: nil, tag == nil ? .none : .wanted)
    }
}

/// The plain event protocol: answers in its words.
extension OutgoingMessage {
    static func events(
        _ answer: Answer,
        to number: Int64,
        explanation: @autoclosure () -> String?
    ) -> OutgoingMessage {
        let reply: EventReply =
            switch answer {
            case .done, .signedOut: .done
            case .pong(let now): .pong(now: now)
            case .authenticated(let identity): .authenticated(uid: identity.auth?.uid)
            case .value(let node, let tag, let form): .value(node, tag, form)
            case .listening(_, let isIndexed): .observing(warning: isIndexed ? nil : .noIndex)
            case .written(_, _, let tag): .written(tag)
            case .pushed(let key, _): .key(key)
            case .key(let key): .key(key)
            case .mismatch(let node, let tag): .mismatch(node, tag)
            case .denied:
                .refused(.permissionDenied, explanation() ?? "The rules do not allow it.")
            case .failed(let code, let text): .refused(code, text)
            case .refused(let refusal): .refused(refusal.eventCode, refusal.text)
            case .badCredential(.invalid(let text)): .refused(.invalidToken, text)
            case .badCredential(.expired(let text)): .refused(.expiredToken, text)
            }
        if reply.isLarge { return .event(StreamedEvent.reply(number, reply)) }
        return .eventReply(number, reply)
    }

    fileprivate static func eventReply(_ number: Int64?, _ reply: EventReply) -> OutgoingMessage {
        .text(EventMessage.reply(number, reply).encoded())
    }
}

extension EventReply {
    fileprivate static func refused(_ code: EventErrorCode, _ text: String) -> EventReply {
        .refused(EventError(code, text))
    }

    /// Whether its value is better encoded as the socket drains.
    fileprivate var isLarge: Bool {
        switch self {
        case .value(_, _, .outline): false
        case .value(let node, _, _), .mismatch(let node, _):
            node.isLarge(from: Limits.nodesEncodedAtOnce)
        case .done, .authenticated, .observing, .written, .key, .pong, .refused: false
        }
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
