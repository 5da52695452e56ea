import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// The wire protocol: its messages as operations.
extension SessionRequest {
    init(_ message: ClientMessage, text: [UInt8]) {
        switch message {
        case .ping: self.init(number: 0, operation: .ping)
        case .upgradeAck, .endOfTransmission, .unknownControl:
            // Steps of an upgrade between transports, which this server never begins.
            self.init(number: 0, operation: .answered(nil))
        case .request(let request):
            self.init(number: request.number, operation: Operation(request), text: text)
        }
    }
}

extension Operation {
    fileprivate init(_ request: ClientRequest) {
        func answered(_ body: ReplyBody, advice: String? = nil) -> Operation {
            .answered(.wireReply(request.number, body), advice: advice)
        }
        switch request.action {
        case .stats, .appCheck, .unAppCheck: self = answered(.ok)
        case .auth(let credential), .gauth(let credential):
            self = .authenticate(token: credential.token, credential.override)
        case .unauth: self = .signOut
        case .listen(let target, let tag, let hash):
            let asked = Database.ListenRequest(
                name: .target(target),
                path: target.path,
                query: target.query,
                number: tag,
                encoding: .wire
            )
            self = .listen(asked, hash)
        case .unlisten(let target, _): self = .unlisten(.target(target))
        case .get(let target):
            self = .get(WriteTarget(path: target.path), target.query, .none, .export)
        case .put(let target, let draft, let hash):
            let entry = MergeEntry(target: target, draft: draft)
            self = .put(entry, hash.map { .hash($0) }, pushed: nil, .none)
        case .merge(let base, let entries, let hash):
            self = .update(base, entries, hash.map { .hash($0) }, .none)
        case .onDisconnectPut(let target, let draft):
            self = .storeOnDisconnect([MergeEntry(target: target, draft: draft)])
        case .onDisconnectMerge(_, let entries): self = .storeOnDisconnect(entries)
        case .onDisconnectCancel(let target): self = .cancelOnDisconnect(target)
        case .echo(let text): self = answered(.json(text))
        case .unknown(let name): self = answered(.refused(.error, "Unknown action: \(name)"))
        case .tooBig(let byteLimit):
            let text = RequestRefusal.tooLarge.text + " One message has at most \(byteLimit) bytes."
            let advice =
                "--max-message is the limit; write in parts, or over REST, which has a larger one."
            self = answered(
                .refused(.writeTooBig, text),
                advice: "request \(request.number) refused: \(text)\n\(advice)"
            )
        case .malformed(let text): self = answered(.refused(.error, text))
        }
    }
}

/// The wire protocol: answers in its words.
extension OutgoingMessage {
    static func wire(_ answer: Answer, to number: Int64) -> OutgoingMessage {
        let body: ReplyBody
        switch answer {
        case .pong: return .text(ServerMessage.pong.encoded())
        case .value(let node, _, _) where node.isLarge(from: Limits.nodesEncodedAtOnce):
            return .stream(StreamedMessage.reply(number, node))
        case .value(let node, _, _): body = .value(node)
        case .done, .written, .pushed, .key: body = .ok
        case .authenticated(let identity): body = .authenticated(identity.auth?.value)
        case .signedOut: body = .text("unauthenticated")
        case .listening(_, let isIndexed):
            body = .listening(warnings: isIndexed ? [] : ["no_index"])
        // A client tries again at once, with the data that it has received by then.
        case .mismatch, .refused(.changing):
            body = .refused(.dataStale, "Transaction hash does not match")
        case .denied: body = .refused(.permissionDenied, "Permission denied")
        case .failed(_, let text): body = .refused(.failed, text)
        case .refused(let refusal): body = .refused(refusal.status, refusal.text)
        case .badCredential(.invalid(let text)): body = .refused(.invalidToken, text)
        case .badCredential(.expired(let text)): body = .refused(.expiredToken, text)
        }
        return .wireReply(number, body)
    }

    fileprivate static func wireReply(_ number: Int64, _ body: ReplyBody) -> OutgoingMessage {
        .text(ServerMessage.reply(number, body).encoded())
    }
}

extension RequestRefusal {
    fileprivate var status: Status {
        if isPassing { return .unavailable }
        return self == .tooLarge ? .writeTooBig : .failed
    }
}
