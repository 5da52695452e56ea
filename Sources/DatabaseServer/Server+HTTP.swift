import DatabaseCore
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

    /// Nodes from which on an answer is streamed.
    private static let streamedNodeCount = 4_096
    static let chunkByteCount = 16 * 1024

    init(_ exchange: HTTPExchange, _ parameters: RESTParameters, _ path: Path) {
        self.exchange = exchange
        self.parameters = parameters
        self.path = path
    }

    /// Whether an answer is too large to be written between two looks at the sockets.
    func isLarge(_ node: Node) -> Bool {
        node.isMap && node.weight(upTo: Self.streamedNodeCount) >= Self.streamedNodeCount
    }

    /// Whether a large value is sent as it is written, and not as one text.
    var streams: Bool { parameters.print == .compact && !parameters.isShallow }
}

extension Server {
    /// Answers a request whose body is complete, or hands it to the engine.
    func receive(_ exchange: HTTPExchange) {
        counts.requests += 1
        let route = Route(exchange.head.pathSegments)
        if exchange.head.method == "OPTIONS" {
            answer(exchange, HTTPResponse(status: 204, headers: [], body: []))
            return
        }
        switch route {
        case .live: answer(exchange, RESTAnswer.text(200, "live\n"))
        case .ready: answerReadiness(exchange)
        case .root: answer(exchange, RESTAnswer.text(200, "Hearth \(Version.text)\n"))
        case .unknown:
            let text = "append .json to your request URI to use the REST API.\n"
            answer(exchange, RESTAnswer.text(404, text))
        case .webSocket, .events:
            let text = "This address takes WebSocket connections only.\n"
            answer(exchange, RESTAnswer.text(426, text))
        case .badPath: answer(exchange, RESTAnswer.bad(.path))
        case .metrics, .rules, .simulate, .data:
            do throws(BadRequest) {
                try ask(exchange, route)
            } catch {
                answer(exchange, RESTAnswer.bad(error))
            }
        }
    }

    /// Makes the engine's request out of the exchange.
    private func ask(_ exchange: HTTPExchange, _ route: Route) throws(BadRequest) {
        let head = exchange.head
        let method = Server.method(of: head)
        guard let methods = route.methods, methods.contains(method) else {
            answer(exchange, methodNotAllowed(route))
            return
        }
        let database = try database(of: head)
        let parameters = try RESTParameters(head)
        let operation: Request.Operation
        switch route {
        case .data(let target):
            askForData(exchange, method, target, database, parameters)
            return
        case .rules:
            switch method {
            case "PUT":
                guard let rules = loadRules(exchange) else { return }
                operation = .putRules(rules, isDryRun: parameters.isDryRun)
            case "DELETE": operation = .putRules(nil, isDryRun: parameters.isDryRun)
            default: operation = .getRules
            }
        case .simulate:
            guard let simulation = try simulation(exchange) else { return }
            operation = .simulate(simulation)
        case .metrics: operation = .status
        case .live, .ready, .root, .unknown, .webSocket, .events, .badPath:
            preconditionFailure("these are answered before")
        }
        submit(operation, exchange, .root, database, parameters, isForAdmins: route.isForAdmins)
    }

    /// Reads a data request's body, away from the loop when it is large, and submits it.
    private func askForData(
        _ exchange: HTTPExchange,
        _ method: String,
        _ target: WriteTarget,
        _ database: DatabaseID,
        _ parameters: RESTParameters
    ) {
        let head = exchange.head
        let body = exchange.takeBody()
        let key = method == "POST" ? pushIDs.next(now: Clock.now()) : nil
        let read: @Sendable () -> Result<Request.Operation, BadRequest> = {
            Result { () throws(BadRequest) in
                try Request.Operation(method, head, target, body: body, key: key)
            }
        }
        let submit: @Sendable @LoopActor (Result<Request.Operation, BadRequest>) -> Void = {
            [weak self] outcome in
            switch outcome {
            case .success(let operation):
                self?.submit(operation, exchange, target.path, database, parameters)
            case .failure(let error): self?.answer(exchange, RESTAnswer.bad(error))
            }
        }
        if body.count < Server.readAwayByteCount {
            submit(read())
        } else if !readAway(body.count, read, then: submit) {
            answer(exchange, RESTAnswer.error(503, "Too many large bodies are being read."))
        }
    }

    /// Hands a request to the engine. `path` is where the paths of a multi-path update begin.
    private func submit(
        _ operation: Request.Operation,
        _ exchange: HTTPExchange,
        _ path: Path,
        _ database: DatabaseID,
        _ parameters: RESTParameters,
        isForAdmins: Bool = false
    ) {
        guard exchange.isAnswerable else { return }
        let id = RequestID(exchange.id)
        exchanges[id] = PendingExchange(exchange, parameters, path)
        let isOpen = isForAdmins && opensAdminRoutes(to: exchange.head)
        let credential: RequestCredential =
            if let token = parameters.token {
                .token(token, override: parameters.override)
            } else {
                isOpen ? .admin(override: nil) : .none
            }
        let request = Request(database: database, credential: credential, operation: operation)
        step(.requested(request, id: id))
    }

    /// The method that is meant: a POST may name another one, for clients that can send no other.
    private static func method(of head: RequestHead) -> String {
        let name = "x-http-method-override"
        guard head.method == "POST", let meant = head.header(name) ?? head.queryValue(name) else {
            return head.method
        }
        return meant.uppercased()
    }

    /// In development, callers on this machine need no credential for admin routes.
    private func opensAdminRoutes(to head: RequestHead) -> Bool {
        guard configuration.mode == .development else { return false }
        let text = head.peerAddress.contains(":") ? "[\(head.peerAddress)]" : head.peerAddress
        guard Authority.Host(text)?.isLoopback == true else { return false }
        // On other binds the guard let every page through; here it must not come from elsewhere.
        if case .accept = originGuard.judgeAsLoopback(OriginGuard.Request(head)) { return true }
        return false
    }

    /// The database that a request means.
    func database(of head: RequestHead) throws(BadRequest) -> DatabaseID {
        do throws(DatabaseNameError) {
            let name = try configuration.selection.database(
                ns: head.queryValue("ns"),
                host: head.header("host")
            )
            return DatabaseID(name.text)
        } catch {
            throw BadRequest("The database name \(error).")
        }
    }

    /// Rules from a request's body; answers it when they do not load.
    private func loadRules(_ exchange: HTTPExchange) -> Ruleset? {
        guard let text = String(validating: exchange.takeBody(), as: UTF8.self) else {
            answer(exchange, RESTAnswer.error(400, "The rules are not UTF-8 text."))
            return nil
        }
        do throws(RulesError) { return try Ruleset.load(text) } catch {
            answer(exchange, RESTAnswer.badRules(error))
            return nil
        }
    }

    private func simulation(_ exchange: HTTPExchange) throws(BadRequest) -> SimulationRequest? {
        do throws(SimulationBodyError) {
            return try SimulationRequest(body: exchange.takeBody())
        } catch {
            switch error {
            case .malformed(let text): throw BadRequest(text)
            case .rules(let fault):
                answer(exchange, RESTAnswer.badRules(fault))
                return nil
            }
        }
    }

    private func answerReadiness(_ exchange: HTTPExchange) {
        if isReady, !isStopping {
            answer(exchange, RESTAnswer.text(200, "ready\n"))
        } else {
            answer(exchange, RESTAnswer.text(503, isStopping ? "stopping\n" : "starting\n"))
        }
    }

    private func methodNotAllowed(_ route: Route) -> HTTPResponse {
        let methods = (route.methods ?? []).joined(separator: ", ")
        var response = RESTAnswer.error(405, "This address takes \(methods).")
        response.headers.append((name: "Allow", value: methods))
        return response
    }

    // MARK: - Answers

    /// The engine's answer, as HTTP.
    func respond(_ response: Response, to request: RequestID) {
        guard let pending = exchanges.removeValue(forKey: request) else { return }
        if case .value(let node) = response, pending.isLarge(node) {
            answer(pending, large: node, byteLimit: configuration.limits.responseByteCount)
        } else if case .written(let node) = response, pending.isLarge(node) {
            // It is done, however long it takes to say so.
            answer(pending, large: node, byteLimit: .max)
        } else {
            answer(pending.exchange, http(response, pending))
        }
    }

    /// Answers with a large value: as a stream, or as a text that a worker writes.
    private func answer(_ pending: PendingExchange, large node: Node, byteLimit: Int) {
        guard !pending.streams else {
            stream(node, to: pending, byteLimit: byteLimit)
            return
        }
        let parameters = pending.parameters
        let isTaken = workers.values.post(
            .read {
                let answer =
                    parameters.isShallow
                    ? RESTAnswer.shallow(node, parameters) : RESTAnswer.value(node, parameters)
                EventLoop.shared.enqueue { [weak self] in
                    let isTooLarge = answer.body.count > byteLimit
                    self?.answer(pending.exchange, isTooLarge ? RESTAnswer.tooLarge : answer)
                }
            }
        )
        if !isTaken {
            answer(pending.exchange, RESTAnswer.error(503, "Too many large values are being read."))
        }
    }

    /// Sends a large value from its snapshot, written as the socket drains, once a worker knows
    /// how long it is.
    private func stream(_ node: Node, to pending: PendingExchange, byteLimit: Int) {
        let form = pending.parameters.form
        let isTaken = workers.values.post(
            .count(TextCount(node, form), byteLimit: byteLimit) { byteCount in
                EventLoop.shared.enqueue { [weak self] in
                    self?.stream(node, byteCount, to: pending)
                }
            }
        )
        if !isTaken {
            answer(pending.exchange, RESTAnswer.error(503, "Too many large values are being read."))
        }
    }

    private func stream(_ node: Node, _ byteCount: Int?, to pending: PendingExchange) {
        guard pending.exchange.isAnswerable else { return }
        guard let byteCount else {
            answer(pending.exchange, RESTAnswer.tooLarge)
            return
        }
        var source = JSONStream(node, pending.parameters.form)
        var isMore = true
        pending.exchange.respondStream(
            status: 200,
            headers: RESTAnswer.jsonHeaders + crossOriginHeaders(pending.exchange.head),
            byteCount: byteCount,
        ) {
            if !isMore { return .end }
            var chunk: [UInt8] = []
            isMore = source.next(into: &chunk, atLeast: PendingExchange.chunkByteCount)
            return chunk.isEmpty ? .end : .next(chunk)
        }
    }

    private func http(_ response: Response, _ pending: PendingExchange) -> HTTPResponse {
        let parameters = pending.parameters
        switch response {
        case .value(let node):
            let answer =
                parameters.isShallow
                ? RESTAnswer.shallow(node, parameters) : RESTAnswer.value(node, parameters)
            let isTooLarge = answer.body.count > configuration.limits.responseByteCount
            return isTooLarge ? RESTAnswer.tooLarge : answer
        case .written(let node): return RESTAnswer.value(node, parameters)
        case .merged(let entries):
            return RESTAnswer.merged(entries, base: pending.path, parameters)
        case .pushed(let key):
            var body = Array("{\"name\":".utf8)
            appendJSONString(key.string, to: &body)
            body.append(UInt8(ascii: "}"))
            return parameters.print == .silent
                ? RESTAnswer.value(.absent, parameters) : RESTAnswer.json(body)
        case .rules(let text): return RESTAnswer.json(Array(text.utf8))
        case .done: return RESTAnswer.json(Array("{\"status\":\"ok\"}".utf8))
        case .simulated(let decision, let newData):
            return RESTAnswer.json(decision.simulatorJSON(newData: newData))
        case .status(let summaries): return metrics(summaries)
        case .permissionDenied: return RESTAnswer.error(401, "Permission denied")
        case .notIndexed(let text): return RESTAnswer.error(400, text)
        case .badCredential(.invalid(let text)), .badCredential(.expired(let text)):
            return RESTAnswer.error(401, text)
        case .unknownDatabase: return RESTAnswer.unknownDatabase
        case .refused(let refusal):
            return RESTAnswer.error(refusal.isPassing ? 503 : 400, refusal.text)
        }
    }

    /// Sends an answer with what a browser needs to let a page see it.
    func answer(_ exchange: HTTPExchange, _ response: HTTPResponse) {
        guard exchange.isAnswerable else { return }
        var response = response
        response.headers += crossOriginHeaders(exchange.head)
        exchange.respond(response)
    }

    func abandon(_ exchange: HTTPExchange) {
        exchanges[RequestID(exchange.id)] = nil
    }

    /// CORS: data routes are open to every page that passed the guard; admin routes to none, except
    /// on a loopback bind, where the guard has already asked for a local or a listed origin.
    private func crossOriginHeaders(_ head: RequestHead) -> [(name: String, value: String)] {
        guard let origin = head.header("origin") else { return [] }
        if Route(head.pathSegments).isForAdmins, !configuration.bindIsLoopback { return [] }
        var headers = [
            (
                name: "Access-Control-Allow-Origin",
                value: configuration.bindIsLoopback ? origin : "*"
            ),
            (name: "Access-Control-Expose-Headers", value: "ETag"),
            (name: "Vary", value: "Origin"),
        ]
        if head.method != "OPTIONS" { return headers }
        headers += [
            (
                name: "Access-Control-Allow-Methods",
                value: "GET, PUT, POST, PATCH, DELETE, HEAD, OPTIONS"
            ),
            (name: "Access-Control-Max-Age", value: "86400"),
        ]
        if let names = head.header("access-control-request-headers") {
            headers.append((name: "Access-Control-Allow-Headers", value: names))
        }
        if head.header("access-control-request-private-network") == "true" {
            headers.append((name: "Access-Control-Allow-Private-Network", value: "true"))
        }
        return headers
    }
}

extension Route {
    /// The methods it answers, `OPTIONS` aside; nil when it does not look at them.
    fileprivate var methods: [String]? {
        switch self {
        case .data: ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE"]
        case .rules: ["GET", "HEAD", "PUT", "DELETE"]
        case .simulate: ["POST"]
        case .metrics: ["GET", "HEAD"]
        case .webSocket, .events, .live, .ready, .badPath, .root, .unknown: nil
        }
    }
}
