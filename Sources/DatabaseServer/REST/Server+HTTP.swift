import DatabaseCore
import IdentityToolkit
import JSONTree
import Logging
import SecurityRules
import Transport
import WireProtocol

extension Server {
    /// Answers a request whose body is complete, or hands it to the engine.
    func receive(_ exchange: HTTPExchange) {
        // One that comes again, now whole, was counted.
        if exchange.userData == nil { counts.requests += 1 }
        let route = Route(exchange.head.pathSegments)
        if admitsFirst(exchange, route) { return }
        if !inflates(exchange) { receiveInflated(exchange) }
    }

    /// The same for a body that is no longer coded, unless it is read in parts.
    func receiveInflated(_ exchange: HTTPExchange) {
        let route = Route(exchange.head.pathSegments)
        if exchange.head.method == "OPTIONS" {
            answer(exchange, preflight(route))
            return
        }
        switch route {
        case .live, .ready, .root: receive(exchange, about: route)
        case .hub(let hub) where configuration.mode == .development: receive(exchange, hub: hub)
        case .hub, .unknown:
            let text = "append .json to your request URI to use the REST API.\n"
            answer(exchange, RESTAnswer.text(404, text))
        case .webSocket, .events:
            let text = "This address takes WebSocket connections only.\n"
            answer(exchange, RESTAnswer.text(426, text))
        case .longPoll: receivePoll(exchange)
        case .sample(let name): receive(exchange, sample: name)
        case .databases: listDatabases(exchange)
        case .identity(let identity): receive(exchange, identity: identity)
        case .accounts(let accounts): receive(exchange, accounts: accounts)
        case .backup: askForAll(exchange, .backUp, .backup)
        case .metrics, .rules, .profile, .settings, .simulate, .inspect, .data, .upload, .badPath:
            do throws(BadRequest) {
                try ask(exchange, route)
            } catch {
                refuse(exchange, RESTAnswer.bad(error))
            }
        }
    }

    /// Makes the engine's request out of the exchange.
    ///
    /// The order of the checks can be seen from outside: method, database, path, parameters, body; whoever asks comes
    /// after these. Of a large or coded body, whoever asks comes before it.
    private func ask(_ exchange: HTTPExchange, _ route: Route) throws(BadRequest) {
        let head = exchange.head
        let method = Server.method(of: head)
        guard let methods = route.methods, methods.contains(method) else {
            refuse(exchange, methodNotAllowed(route))
            return
        }
        let database = try database(of: head)
        guard engine.serves(database) else {
            counts.unknownDatabases += 1
            refuse(exchange, RESTAnswer.unknownDatabase)
            return
        }
        if route == .badPath { throw .path }
        let parameters = try RESTParameters(head, method)
        let pending = PendingExchange(exchange, parameters, .root)
        let operation: Request.Operation
        switch route {
        case .data(let target):
            let pending = PendingExchange(exchange, parameters, target.path)
            if wantsEvents(head, method) {
                submit(try openStream(exchange, target, parameters), pending, database)
                return
            }
            pending.conditions = try RESTConditions(head, method, parameters)
            try askForData(pending, method, target, database)
            return
        case .rules:
            switch method {
            case "PUT":
                read(.rules(rulesChange(parameters)), pending, database)
                return
            case "DELETE": operation = .putRules(nil, rulesChange(parameters))
            default: operation = .getRules
            }
        case .settings(let setting):
            pending.setting = setting
            if let kind = body(method, setting, pending) {
                read(kind, pending, database)
                return
            }
            if setting == .rulesHistory {
                pending.rulesFallback = configuration.rulesFallback(of: database)
            }
            operation = setting.isHistory ? .getRulesHistory : .getSettings
        case .simulate:
            read(.simulation(isAnsweredInWords: wantsWords(head)), pending, database)
            return
        case .inspect(let inspected):
            try ask(inspected, method, pending, database)
            return
        case .profile:
            guard wantsEvents(head, method) else {
                throw BadRequest("This is an event stream; ask with 'Accept: text/event-stream'.")
            }
            operation = .profile
        case .metrics: operation = .status
        case .upload(let path):
            var parameters = parameters
            // Nobody wants all of it back.
            parameters.print = .silent
            upload(PendingExchange(exchange, parameters, path), database)
            return
        case .backup, .databases, .identity, .accounts, .live, .ready, .root, .hub, .sample,
            .unknown, .webSocket, .events, .longPoll, .badPath:
            preconditionFailure("these are answered before")
        }
        submit(operation, pending, database, isForAdmins: true)
    }

    /// Reads a data request's body, away from the loop when it is large, and submits it.
    private func askForData(
        _ pending: PendingExchange,
        _ method: String,
        _ target: WriteTarget,
        _ database: DatabaseID
    ) throws(BadRequest) {
        let exchange = pending.exchange
        let key = method == "POST" ? pushIDs.next(now: Clock.now()) : nil
        let writes = method == "PUT" || method == "POST" || method == "PATCH"
        let coding = ContentCoding(exchange.head) ?? .identity
        let isLarge = exchange.body.count >= Server.readAwayByteCount
        if writes,
            !exchange.isBodyComplete || isLarge || (coding == .gzip && !exchange.body.isEmpty)
        {
            let purpose = BodyPurpose(
                method: method,
                target: target,
                conditions: pending.conditions,
                key: key,
                coding: coding,
                byteLimit: configuration.limits.bodyByteCount
            )
            readInParts(pending, purpose, database)
            return
        }
        let operation = try Request.Operation(
            method,
            target,
            pending.parameters.query,
            pending.conditions,
            body: exchange.takeBody(),
            key: key
        )
        submit(operation, pending, database)
    }

    /// Hands a request to the engine.
    func submit(
        _ operation: Request.Operation,
        _ pending: PendingExchange,
        _ database: DatabaseID,
        isForAdmins: Bool = false
    ) {
        let exchange = pending.exchange
        guard exchange.isAnswerable else { return }
        let id = RequestID(exchange.id)
        let parameters = pending.parameters
        exchanges[id] = pending
        let credential: RequestCredential
        if let token = parameters.token {
            credential = .token(token, override: parameters.override)
        } else {
            let isOpen = isForAdmins && opensAdminRoutes(to: exchange.head)
            credential = isOpen ? .admin(override: nil) : .none
        }
        let request = Request(
            database: database,
            credential: credential,
            operation: operation,
            sizeLimit: parameters.sizeLimit,
            isForAdmins: isForAdmins,
        )
        step(.requested(request, id: id))
        if let timeout = parameters.timeout, exchange.isAnswerable {
            pending.limit(to: timeout) { [self] in
                exchanges[id] = nil
                finish(pending, RESTAnswer.tooSlow)
            }
        }
    }

    /// The method that is meant: a POST may name another one, for clients that can send no other.
    private static func method(of head: RequestHead) -> String {
        let name = "x-http-method-override"
        guard head.method == "POST", let meant = head.header(name) ?? head.queryValue(name) else {
            return head.method
        }
        let method = meant.uppercased()
        // A POST has an answer with a body, and is no preflight.
        return method == "HEAD" || method == "OPTIONS" ? meant : method
    }

    /// In development, callers on this machine need no credential for admin routes.
    func opensAdminRoutes(to head: RequestHead) -> Bool {
        guard configuration.mode == .development else { return false }
        let client = client(of: head)
        // Whoever comes over a proxy that nobody vouches for may be anywhere.
        guard !client.isHearsay else { return false }
        let text = client.address.contains(":") ? "[\(client.address)]" : client.address
        guard Authority.Host(text)?.isLoopback == true else { return false }
        // On other binds the guard let every page through; here it must not come from elsewhere.
        if case .accept = originGuard.judgeAsLoopback(OriginGuard.Request(head)) { return true }
        return false
    }

    /// The database that a request means; most often the one that the request before it meant.
    func database(of head: RequestHead) throws(BadRequest) -> DatabaseID {
        let ns = head.queryValue("ns")
        let host = head.host.isEmpty ? nil : head.host
        if let last = lastSelected, last.ns == ns, last.host == host { return last.database }
        do throws(DatabaseNameError) {
            let name = try configuration.selection.database(ns: ns, host: host)
            let database = DatabaseID(name.text)
            lastSelected = (ns, host, database)
            if configuration.mode == .development { logIfNew(database, ns: ns, host: host) }
            return database
        } catch {
            throw BadRequest("The database name \(error).")
        }
    }

    /// Says once that a request names a database which is not here: in development it is empty, and made by the first
    /// write, so a name that is spelled wrong looks like lost data.
    private func logIfNew(_ database: DatabaseID, ns: String?, host: String?) {
        guard engine.isEmpty(database), loggedNames.admits(database.name) else { return }
        let place = ns.map { "ns=\($0)" } ?? "Host: \(host ?? "")"
        log.notice(
            "nothing is in this database, and nothing was configured for it",
            metadata: [
                "database": "\(database)", "named-by": "\(place)",
                "there-are": "\(engine.existing.prefix(10).map(\.name).joined(separator: ","))",
            ]
        )
    }

    func methodNotAllowed(_ route: Route) -> HTTPResponse {
        let methods = (route.methods ?? []).joined(separator: ", ")
        var response = RESTAnswer.error(405, "This address takes \(methods).")
        response.headers.append((name: "Allow", value: methods + ", OPTIONS"))
        return response
    }

    private func preflight(_ route: Route) -> HTTPResponse {
        let methods = (route.methods ?? ["GET", "HEAD"]) + ["OPTIONS"]
        let allow = (name: "Allow", value: methods.joined(separator: ", "))
        return HTTPResponse(status: 204, headers: [allow])
    }
}

extension Route {
    /// The methods it answers, `OPTIONS` aside; nil when it does not look at them.
    var methods: [String]? {
        switch self {
        case .data, .badPath: Route.dataMethods
        case .rules: ["GET", "HEAD", "PUT", "DELETE"]
        case .settings(let setting): setting.methods
        case .simulate: ["POST"]
        case .inspect(let inspected): inspected.methods
        case .metrics, .databases, .live, .ready, .root, .sample: ["GET", "HEAD"]
        case .backup, .profile: ["GET"]
        case .upload: ["POST"]
        case .identity(let route): route.method.verbs
        case .accounts(let route): route.verbs
        case .hub, .webSocket, .events, .longPoll, .unknown: nil
        }
    }

    private static let dataMethods = ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE"]
}
