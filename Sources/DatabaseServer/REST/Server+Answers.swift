import DatabaseCore
import EventProtocol
import JSONTree
import SecurityRules
import Transport
import WireProtocol

/// A request whose answer the engine has yet to give.
@LoopActor
final class PendingExchange {
    let exchange: HTTPExchange
    let parameters: RESTParameters
    /// Where the paths of a multi-path update begin.
    let path: Path
    var conditions = RESTConditions.none
    /// What is done when the engine has nothing against the request, whose body is still to be read.
    var whenAllowed: (@LoopActor () -> Void)?
    /// The setting that is asked for.
    var setting: SettingsRoute?
    /// Which rules the database has while it has none of its own, where that is told.
    var rulesFallback: RulesFallback?
    /// What of the rules' decisions is asked for.
    var inspection: InspectionRequest?
    /// The database, when an administrator asks.
    var administered: DatabaseID?
    /// Why the rules refuse it, where that is told.
    var explanation: String?
    /// The identifier of a ruleset that is stored.
    var rulesetID: String?
    private var timer: LoopTimer?

    /// Nodes from which on an answer is written as a stream.
    private static let largeNodeCount = 4_096
    static let chunkByteCount = 16 * 1024

    init(_ exchange: HTTPExchange, _ parameters: RESTParameters, _ path: Path) {
        self.exchange = exchange
        self.parameters = parameters
        self.path = path
    }

    /// Calls `body` unless the answer is given within this time.
    func limit(to timeout: Duration, _ body: @escaping @LoopActor () -> Void) {
        timer = EventLoop.shared.after(timeout, body)
    }

    func cancelTimer() {
        timer?.cancel()
        timer = nil
    }

    /// Whether an answer is too large to be written between two looks at the sockets.
    func isLarge(_ node: Node) -> Bool {
        if parameters.print == .silent { return false }
        // Of a child that only its key is shown of, the rest does not count.
        if parameters.isShallow, node.isMap { return node.childCount >= Self.largeNodeCount }
        return node.weight(upTo: Self.largeNodeCount) >= Self.largeNodeCount
    }

    /// Whether the values of an update, together, are too large for that.
    func isLarge(_ entries: [(WriteTarget, Node)]) -> Bool {
        if parameters.print == .silent { return false }
        var left = Self.largeNodeCount
        for (_, node) in entries {
            left -= 1 + node.weight(upTo: left)
            if left <= 0 { return true }
        }
        return false
    }
}

/// The engine's answers, as HTTP.
extension Server {
    /// A value on its way out.
    private struct Value {
        let node: Node
        let tag: EntityTag?
        var status = 200
        /// Bytes above which the answer is refused. What is done is told, however long that is.
        var byteLimit = Int.max
        /// Whether it was asked for, and is not what a write has written.
        var isRead = false
    }

    /// An answer that is too large to be written at once.
    private struct LargeAnswer {
        let text: AnswerText
        var tag: EntityTag?
        var status = 200
        var byteLimit = Int.max
        var isRead = false

        init(_ text: AnswerText, tag: EntityTag?) {
            self.text = text
            self.tag = tag
        }

        init(_ text: AnswerText, _ value: Value) {
            self.init(text, tag: value.tag)
            status = value.status
            byteLimit = value.byteLimit
            isRead = value.isRead
        }
    }

    func respond(_ response: Response, to request: RequestID) {
        if let then = ownRequests.removeValue(forKey: request) { return then(response) }
        let pending = exchanges.removeValue(forKey: request)
        if case .streaming(let id) = response {
            pending?.cancelTimer()
            beginStream(id, pending?.exchange)
            return
        }
        guard let pending else { return }
        if let then = pending.whenAllowed {
            pending.whenAllowed = nil
            if case .done = response {
                pending.cancelTimer()
                return then()
            }
        }
        forgetStream(of: pending.exchange)
        let parameters = pending.parameters
        noteDeed(response, pending)
        switch response {
        case .value(let node, let tag):
            if let tag, pending.conditions.known.contains(tag) {
                let headers = [(name: "Cache-Control", value: "no-cache")]
                finish(pending, HTTPResponse(status: 304, headers: headers), tag)
                return
            }
            let byteLimit = configuration.limits.responseByteCount
            finish(pending, Value(node: node, tag: tag, byteLimit: byteLimit, isRead: true))
        case .written(let node, let tag):
            finish(pending, Value(node: node, tag: tag))
        case .mismatch(let node, let tag):
            finish(pending, Value(node: node, tag: tag, status: 412))
        case .merged(let entries, let tag):
            if pending.isLarge(entries) {
                let isPretty = parameters.print == .pretty
                let text = AnswerText(entries, base: pending.path, isPretty: isPretty)
                measure(LargeAnswer(text, tag: tag), pending)
            } else {
                finish(pending, RESTAnswer.merged(entries, base: pending.path, parameters), tag)
            }
        case .pushed(let key, let tag):
            finish(pending, RESTAnswer.pushed(key, parameters), tag)
        case .mayBackUp: streamBackup(to: pending.exchange, token: parameters.token)
        case .mayProfile(let term): beginProfile(pending.exchange, until: term)
        case .mayInspect: answerInspection(pending)
        case .coverage(let coverage): answer(pending, coverage)
        case .shadow(let report): answer(pending, report)
        default:
            finish(pending, http(response, pending))
        }
    }

    /// What is no value.
    private func http(_ response: Response, _ pending: PendingExchange) -> HTTPResponse {
        switch response {
        case .rules(let rules):
            RESTAnswer.json(
                pending.parameters.isStrict ? rules.strictJSON() : Array(rules.text.utf8)
            )
        case .settings(let settings):
            pending.setting.map { RESTAnswer.settings(settings, $0) } ?? RESTAnswer.json([])
        case .rulesHistory(let versions):
            RESTAnswer.rulesHistory(versions, pending.setting, pending.rulesFallback)
        case .rulesPut(let version): RESTAnswer.rulesPut(version: version)
        case .rulesMismatch(let present): RESTAnswer.rulesMismatch(present)
        case .done: done(pending)
        case .simulated(let answer): RESTAnswer.simulated(answer)
        case .status(let summaries): metrics(summaries)
        case .permissionDenied: RESTAnswer.denied(pending.explanation)
        case .notIndexed(let text): RESTAnswer.error(400, text)
        case .badCredential(.invalid(let text)), .badCredential(.expired(let text)):
            RESTAnswer.error(401, text)
        case .unknownDatabase: RESTAnswer.unknownDatabase
        case .refused(let refusal):
            RESTAnswer.error(refusal.isPassing ? 503 : 400, refusal.text)
        case .databases(let databases): RESTAnswer.databases(databases)
        case .value, .written, .merged, .pushed, .mismatch, .streaming, .mayProfile, .mayBackUp,
            .mayInspect, .coverage, .shadow:
            preconditionFailure("values and streams are answered before")
        }
    }

    private func done(_ pending: PendingExchange) -> HTTPResponse {
        if let id = pending.rulesetID {
            return RESTAnswer.json(Array("{\"id\":\"\(id)\"}".utf8))
        }
        return RESTAnswer.statusOK
    }

    // MARK: - Values

    /// Answers with a value: at once, or as a stream.
    private func finish(_ pending: PendingExchange, _ value: Value) {
        let parameters = pending.parameters
        let node = value.node
        if pending.isLarge(node) {
            let isPretty = parameters.print == .pretty
            let text = AnswerText(node, parameters.form, isPretty: isPretty)
            return measure(LargeAnswer(text, value), pending)
        }
        var answer = RESTAnswer.value(node, parameters)
        if answer.body.count > value.byteLimit { answer = RESTAnswer.tooLarge }
        if answer.status == 200, value.isRead { noteExport(pending, answer.body.count) }
        if answer.status == 200 { answer.status = value.status }
        finish(pending, answer, value.tag)
    }

    /// Sends a large answer, written as the socket drains, once a worker knows how long it is.
    ///
    /// Counting is writing, on another thread, and throwing it away. It is worth that: a text that is
    /// too long must be refused before it begins, and with `Content-Length` a client of any
    /// version sees where it was cut.
    private func measure(_ answer: LargeAnswer, _ pending: PendingExchange) {
        let isTaken = workers.values.post(
            .count(TextCount(answer.text), byteLimit: answer.byteLimit) { byteCount in
                EventLoop.shared.enqueue { [self] in
                    if let byteCount {
                        stream(answer, byteCount, to: pending)
                    } else {
                        finish(pending, RESTAnswer.tooLarge)
                    }
                }
            }
        )
        if !isTaken { finish(pending, Server.tooMuchIsRead) }
    }

    private func stream(_ answer: LargeAnswer, _ byteCount: Int, to pending: PendingExchange) {
        pending.cancelTimer()
        guard pending.exchange.isAnswerable else { return }
        if answer.isRead { noteExport(pending, byteCount) }
        let callback = pending.parameters.callback
        let head = pending.exchange.head
        if callback == nil, isCompressible(head, answer.status), ContentCoding.allowsGzip(head) {
            streamCompressed(answer, to: pending)
            return
        }
        var text = answer.text
        var prefix = callback?.prefix ?? []
        var suffix = callback == nil ? [] : ScriptCallback.suffix
        var isMore = true
        let base = callback == nil ? RESTAnswer.jsonHeaders : ScriptCallback.headers
        pending.exchange.respondStream(
            status: callback == nil ? answer.status : 200,
            headers: base + RESTAnswer.headers(answer.tag, pending.parameters)
                + crossOriginHeaders(head) + [Server.variesByCoding],
            byteCount: prefix.count + byteCount + suffix.count,
        ) {
            var chunk = prefix
            prefix = []
            if isMore {
                isMore = text.next(into: &chunk, atLeast: PendingExchange.chunkByteCount)
            }
            if !isMore {
                chunk += suffix
                suffix = []
            }
            return chunk.isEmpty ? .end : .next(chunk)
        }
    }

    private func streamCompressed(_ answer: LargeAnswer, to pending: PendingExchange) {
        let exchange = pending.exchange
        let headers =
            RESTAnswer.jsonHeaders + RESTAnswer.headers(answer.tag, pending.parameters)
            + crossOriginHeaders(exchange.head) + [Server.variesByCoding]
        let pieces = Server.pieces(of: answer.text)
        CompressedBody(exchange, workers.compressing, pieces).respond(answer.status, headers)
    }

    private nonisolated static func pieces(of text: AnswerText) -> sending () -> [UInt8]? {
        var text = text
        return { text.piece(atLeast: 64 * 1024) }
    }

    private static let tooMuchIsRead = RESTAnswer.error(
        503,
        "Too many large values are being read."
    )

    // MARK: - Out

    /// Sends the answer to a request that the engine had, or should have had.
    func finish(_ pending: PendingExchange, _ response: HTTPResponse, _ tag: EntityTag? = nil) {
        pending.cancelTimer()
        var response = response
        let isHeaded = tag != nil || pending.parameters.download != nil
        if isHeaded, response.status < 400 || response.status == 412 {
            response.headers += RESTAnswer.headers(tag, pending.parameters)
        }
        if let callback = pending.parameters.callback { response = callback.wrap(response) }
        answer(pending.exchange, response)
    }

    /// Sends the answer to a request that makes no sense.
    func refuse(_ exchange: HTTPExchange, _ response: HTTPResponse) {
        answer(exchange, ScriptCallback(exchange.head)?.wrap(response) ?? response)
    }

    /// Sends an answer with what a browser needs to let a page see it.
    func answer(_ exchange: HTTPExchange, _ response: HTTPResponse) {
        guard exchange.isAnswerable else { return }
        let headers = crossOriginHeaders(exchange.head)
        // Adding nothing would copy the ones that are there.
        if headers.isEmpty { return send(response, to: exchange) }
        var response = response
        response.headers += headers
        send(response, to: exchange)
    }

    /// Answers what is asked about the server itself.
    func receive(_ exchange: HTTPExchange, about route: Route) {
        guard route.methods?.contains(exchange.head.method) == true else {
            answer(exchange, methodNotAllowed(route))
            return
        }
        switch route {
        case .live: answer(exchange, RESTAnswer.text(200, "live\n"))
        case .ready: answerReadiness(exchange)
        default: answer(exchange, rootAnswer(exchange.head))
        }
    }

    private func answerReadiness(_ exchange: HTTPExchange) {
        if isReady, !isStopping {
            // Reads go on, and so do removals, which make room: whoever asks whether to send requests is told yes.
            var text = "ready\n"
            if let writeRefusal { text += "warning: \(writeRefusal)\n" }
            if failedCheckpoint != nil { text += "warning: the last checkpoint failed\n" }
            answer(exchange, RESTAnswer.text(200, text))
        } else {
            answer(exchange, RESTAnswer.text(503, isStopping ? "stopping\n" : "starting\n"))
        }
    }

    func abandon(_ exchange: HTTPExchange) {
        abandonStream(exchange)
        exchanges.removeValue(forKey: RequestID(exchange.id))?.cancelTimer()
        if let poll = exchange.userData as? PollSession { poll.abandoned(exchange) }
    }
}
