import DatabaseCore
import JSONTree
import Logging
import Transport

/// HTTP requests, from the head to the answer: finds the row of a request, admits it, asks the engine where the row says
/// so, and sends what comes of it.
@LoopActor
final class RequestService: Service {
    let server: Server
    /// Requests whose answer the engine has yet to give.
    private var exchanges: [RequestID: PendingExchange] = [:]
    /// Requests taken, by their row.
    private var figures: [ObjectIdentifier: RouteFigures] = [:]
    /// Answers that are compressed as they leave.
    var compressedUnderWay = 0
    private var refusedOriginCount = 0
    private var unknownDatabaseCount = 0
    /// Refusals by origin or host, and names of databases that are not here, that development has logged.
    private var loggedOrigins = LoggedOnce()
    private var loggedNames = LoggedOnce()

    init(_ server: Server) {
        self.server = server
    }

    // MARK: - The head

    /// Decides from the head alone whether a request is taken: its origin, its address, its database.
    func admit(_ exchange: HTTPExchange) -> Admission { admit(resolve(exchange)) }

    /// The same once it is known what the request asks for.
    func admit(_ request: ResolvedRequest) -> Admission {
        if let refusal = refusal(byOriginOf: request) { return .refuse(refusal) }
        if let refusal = refusal(byRoleOf: request) { return .refuse(refusal) }
        switch server.cluster?.passage(of: request) {
        case nil, .here: break
        case .refused(let refusal): return .refuse(refusal)
        case .whenCurrent: request.awaitsGroup = true
        case .relayed:
            request.isRelayed = true
            return .accept()
        }
        if request.head.isWebSocketUpgrade { return admitUpgrade(request) }
        if server.isStopping, !request.route.answersWhileStopping {
            return .refuse(Self.stoppingAnswer)
        }
        return admitBody(request)
    }

    /// Finds out what a request asks for.
    func resolve(_ exchange: HTTPExchange, isOnConsolePort: Bool = false) -> ResolvedRequest {
        let request = ResolvedRequest(exchange.head, self, isOnConsolePort: isOnConsolePort)
        exchange.userData = request
        return request
    }

    private func admitUpgrade(_ request: ResolvedRequest) -> Admission {
        guard case .socket(let admit, _) = request.route.action else {
            return .refuse(.error(404, "WebSocket connections are taken at /.ws and /.events."))
        }
        if server.isStopping { return .refuse(Self.stoppingAnswer) }
        switch request.database {
        case .success(let database): return admit(server, request, database)
        case .failure(let error): return .refuse(.bad(error))
        }
    }

    /// The answer to an address that no row names.
    static let unknownAddress = HTTPResponse.plain(
        404,
        "append .json to your request URI to use the REST API.\n"
    )

    static let stoppingAnswer = HTTPResponse.error(503, "The server is stopping.")

    /// The answer to a request that the guard refuses; nil for one that passes. In development the log says why.
    func refusal(byOriginOf request: ResolvedRequest) -> HTTPResponse? {
        guard case .refuse(let text) = request.origin else { return nil }
        refusedOriginCount += 1
        if configuration.mode == .development, loggedOrigins.admits(text) {
            log.warning("answered 403: \(text)")
        }
        var response = HTTPResponse.error(403, text)
        if let origin = request.head.header("origin") {
            response.headers += Self.opening(to: origin)
        }
        return response
    }

    /// The answer to a viewer of the console who asks for more than to look; nil for others.
    private func refusal(byRoleOf request: ResolvedRequest) -> HTTPResponse? {
        guard request.consoleSession?.role == .viewer else { return nil }
        if request.route.isSecret {
            return .error(403, "A viewer may not have this: it is for administrators.")
        }
        return request.isChange ? .error(403, "A viewer may look, and change nothing.") : nil
    }

    /// Logs once that a request names a database which is not here: in development it is empty, and made by the first
    /// write, so a name that is spelled wrong looks like lost data.
    func logIfNew(_ database: DatabaseID, namedBy location: @autoclosure () -> String) {
        guard engine.isEmpty(database), loggedNames.admits(database.name) else { return }
        log.notice(
            "nothing is in this database, and nothing was configured for it",
            metadata: [
                "database": "\(database)", "named-by": "\(location())",
                "there-are": "\(engine.existing.prefix(10).map(\.name).joined(separator: ","))",
            ]
        )
    }

    // MARK: - Counts

    /// Counts a request that is taken, for its row.
    func count(_ route: Route) { figures[ObjectIdentifier(route), default: .none].count += 1 }

    /// Notes how long a request took, for its row.
    func noteAnswer(_ exchange: HTTPExchange, after nanoseconds: UInt64) {
        guard let request = exchange.userData as? ResolvedRequest else { return }
        figures[ObjectIdentifier(request.route)]?.durations.note(nanoseconds)
    }

    /// What is known of the requests of one row.
    private struct RouteFigures {
        var count = 0
        var durations = LatencyHistogram()

        static let none = RouteFigures()
    }

    /// Counts a request or a connection for a database that is not here.
    func countUnknownDatabase() { unknownDatabaseCount += 1 }

    func addMetrics(to metrics: inout Metrics) {
        let count = figures.values.reduce(0) { $0 + $1.count }
        metrics.counter("hearth_http_requests_total", "HTTP requests taken.", count)
        for route in RouteTable.shared.all {
            metrics.counter(
                "hearth_http_route_requests_total",
                "HTTP requests taken, by the row of the table of routes.",
                figures[ObjectIdentifier(route)]?.count ?? 0,
                [("route", route.pattern)]
            )
            guard let found = figures[ObjectIdentifier(route)] else { continue }
            metrics.histogram(
                "hearth_http_request_duration_seconds",
                "From the head of a request until its answer begins to leave, by the row of the table of routes.",
                found.durations,
                [("route", route.pattern)]
            )
        }
        metrics.counter(
            "hearth_refused_origins_total",
            "Requests refused for their host or the page that sent them.",
            refusedOriginCount
        )
        metrics.counter(
            "hearth_unknown_databases_total",
            "Requests and connections for a database that is not here.",
            unknownDatabaseCount
        )
    }

    // MARK: - The function of a row

    /// Answers a request whose body is complete, or has begun to come.
    func receive(_ exchange: HTTPExchange) {
        let request = ResolvedRequest.of(exchange)
        if request.awaitsGroup, let cluster = server.cluster {
            return cluster.answerWhenCurrent(exchange, request)
        }
        // One that comes again, now whole, was counted.
        if !request.isAdmitted { count(request.route) }
        if request.isRelayed, let cluster = server.cluster { return cluster.relay(exchange) }
        if admitsFirst(exchange, request) { return }
        if !inflates(exchange, request) { dispatch(exchange, request) }
    }

    /// Calls the function of the request's row, whose body is no longer coded, unless it is read in parts.
    func dispatch(_ exchange: HTTPExchange, _ request: ResolvedRequest) {
        let methods = request.route.methods
        if exchange.head.method == "OPTIONS" { return answer(exchange, methods.preflight) }
        let isAdmitted = methods.admit(request.method)
        switch request.route.action {
        case .answer(let function):
            guard isAdmitted else { return answer(exchange, methods.notAllowed) }
            function(server, exchange)
        case .forAdministrator(let function):
            guard isAdmitted else { return answer(exchange, methods.notAllowed) }
            server.identity.asAdministrator(exchange) { [server] in function(server, exchange) }
        case .ask(let function):
            guard isAdmitted, let method = request.method else {
                return refuse(exchange, methods.notAllowed)
            }
            do throws(BadRequest) {
                guard let pending = try admit(exchange, request, method) else { return }
                try function(server, pending)
            } catch {
                refuse(exchange, .bad(error))
            }
        case .socket:
            answer(exchange, .plain(426, "This address takes WebSocket connections only.\n"))
        }
    }

    /// What the engine is to be asked about a database; nil when that is not here, which is answered.
    ///
    /// The order of the checks can be seen from outside: method, database, path, parameters, body, then the credential;
    /// with a large or coded body, the credential before the body.
    private func admit(
        _ exchange: HTTPExchange,
        _ request: ResolvedRequest,
        _ method: Route.Method
    ) throws(BadRequest) -> PendingExchange? {
        let database = try request.database.get()
        guard engine.serves(database) else {
            countUnknownDatabase()
            refuse(exchange, .unknownDatabase)
            return nil
        }
        if request.location == .impossible { throw .path }
        return PendingExchange(exchange, request, try request.parameters.get(), database, method)
    }

    // MARK: - The engine

    /// Does something for an administrator, that concerns no database.
    func asAdministrator(_ pending: PendingExchange, _ work: @escaping @LoopActor () -> Void) {
        pending.whenAllowed = work
        submit(.confirm, pending)
    }

    /// Hands a request to the engine.
    func submit(_ operation: Request.Operation, _ pending: PendingExchange) {
        let exchange = pending.exchange
        guard exchange.isAnswerable else { return }
        let id = RequestID(exchange.id)
        let parameters = pending.parameters
        let isForAdmins = pending.request.route.isForAdmins
        exchanges[id] = pending
        let credential: RequestCredential
        if let token = parameters.token {
            credential = .token(token, override: parameters.override)
        } else if let session = pending.request.consoleSession {
            credential = .admin(override: parameters.override, session.term)
        } else {
            let isOpen = isForAdmins && opensAdminRoutes(to: exchange.head)
            credential = isOpen ? .admin(override: nil) : .none
        }
        let request = Request(
            database: pending.database,
            credential: credential,
            operation: operation,
            sizeLimit: parameters.sizeLimit,
            isForAdmins: isForAdmins,
        )
        step(.requested(request, id: id))
        if let timeout = parameters.timeout, exchange.isAnswerable {
            pending.limit(to: timeout) { [self] in
                exchanges[id] = nil
                finish(pending, .tooSlow)
            }
        }
    }

    /// A request that was submitted and has its answer now; nil when it was answered otherwise.
    func takePending(_ id: RequestID) -> PendingExchange? { exchanges.removeValue(forKey: id) }

    /// Whether a request under way is an administrator's change, which the audit log has to have.
    func mustNote(_ id: RequestID) -> Bool {
        guard let pending = exchanges[id], pending.whenAllowed == nil else { return false }
        let request = pending.request
        return request.isChange
            && (request.route.isForAdmins || server.audit.isFromConsole(request))
    }

    /// Notes why the rules refuse a request.
    func explain(_ id: RequestID, _ text: String) { exchanges[id]?.explanation = text }

    /// Notes that an administrator asks something of a database.
    func noteAdministrator(_ id: RequestID, of database: DatabaseID) {
        exchanges[id]?.administered = database
    }

    /// In development, callers on this machine need no credential for admin routes.
    func opensAdminRoutes(to head: RequestHead) -> Bool {
        guard configuration.mode == .development else { return false }
        let client = server.client(of: head)
        // A client behind a proxy that is not trusted may be anywhere.
        guard !client.isHearsay else { return false }
        let text = client.address.contains(":") ? "[\(client.address)]" : client.address
        guard Authority.Host(text)?.isLoopback == true else { return false }
        // On other binds the guard let every page through; here it must not come from elsewhere.
        if !OriginGuard.namesPage(head), OriginGuard.isPlainlyOurs(head.host) { return true }
        return server.originGuard.checkAsLoopback(OriginGuard.Request(head)) == .accept
    }
}
