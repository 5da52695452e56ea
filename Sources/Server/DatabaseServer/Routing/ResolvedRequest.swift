import DatabaseCore
import FileRecords
import JSONTree
import Transport

/// What the head of a request asks for. Made once, when the head has come; every later step reads it here.
///
/// Its exchange, or the WebSocket until its session begins, holds it as `userData`.
@LoopActor
final class ResolvedRequest {
    let head: RequestHead
    /// The row of the table that the address is of.
    let route: Route
    /// What the address says beside that.
    let location: Route.Location
    /// The name of the method that is meant: a POST that asks the engine may name another one, for clients that can send
    /// no other.
    let methodName: String
    /// The method of that name; nil for one that no row lists.
    let method: Route.Method?
    /// Its `Host`; nil for one that cannot be read. Read only where one matters.
    private(set) lazy var authority = Authority(head.host)
    /// Whether the request may come from where it says that it does.
    let origin: OriginGuard.Outcome
    /// The database that it means; looked at only where one matters.
    private(set) lazy var database: Result<DatabaseID, BadRequest> = Result {
        () throws(BadRequest) in
        try requests.selectDatabase(of: self)
    }
    /// What its query and its `Authorization` header say; the credential among it is not verified.
    private(set) lazy var parameters: Result<RESTParameters, BadRequest> = Result {
        () throws(BadRequest) in
        try RESTParameters(head, methodName)
    }

    /// Whether it came to the console's own port.
    let isOnConsolePort: Bool
    /// Who sends it, when it is a request of the console by one who has signed in there.
    private(set) lazy var consoleSession = requests.server.console.session(of: self)

    /// Whether its sender has proved to be an administrator before its body was read.
    var isAdmitted = false
    /// Whether it waits until this node has what the owner of the group has.
    var awaitsGroup = false
    /// Whether another node answers it, through this one.
    var isRelayed = false
    /// What an administrator has done with it, for the audit log.
    var deed: AuditDeed?
    /// Whether the audit log has it.
    var isNoted = false
    /// What the exchange serves beyond one answer.
    var use = Use.single

    private let requests: RequestService

    /// What an exchange serves.
    enum Use {
        case single
        case stream(StreamConnection)
        case profile(ProfileStream)
        case poll(PollSession)
    }

    init(_ head: RequestHead, _ requests: RequestService, isOnConsolePort: Bool) {
        self.head = head
        self.requests = requests
        self.isOnConsolePort = isOnConsolePort
        let match = requests.route(of: head)
        route = match.route
        location = match.location
        methodName =
            if case .ask = match.route.action { Self.meantMethod(head) } else { head.method }
        method = Route.Method(rawValue: methodName)
        origin = requests.checkOrigin(head)
    }

    /// What the server made of the head of an exchange.
    static func of(_ exchange: HTTPExchange) -> ResolvedRequest {
        guard let request = exchange.userData as? ResolvedRequest else {
            preconditionFailure("a request is resolved when its head has come")
        }
        return request
    }

    /// Whether it changes something, as far as its row tells.
    var isChange: Bool {
        guard let method, method != .get, method != .head else { return false }
        return switch route.changes {
        case .byMethod: true
        case .unlessDryRun: !isDryRun
        case .never: false
        }
    }

    /// Whether it says so, and nothing else beside it.
    private var isDryRun: Bool {
        let words = head.query.filter { $0.name == "dryRun" }
        return !words.isEmpty && words.allSatisfy { $0.value == "true" }
    }

    /// What stands in the address where the pattern of its row has a name; empty without one.
    var name: String {
        if case .name(let name) = location { name } else { "" }
    }

    private static func meantMethod(_ head: RequestHead) -> String {
        let name = "x-http-method-override"
        guard head.method == "POST", let meant = head.header(name) ?? head.queryValue(name) else {
            return head.method
        }
        let method = meant.uppercased()
        // A POST has an answer with a body, and is no preflight.
        return method == "HEAD" || method == "OPTIONS" ? meant : method
    }
}

extension RequestService {
    /// Bytes that the body of a request may have; nil for those of every request.
    func bodyByteLimit(of head: RequestHead) -> Int? {
        guard case .file = route(of: head).route.body else { return nil }
        return configuration.files.bodyByteLimit
    }

    /// The row of an address. The emulator's are there in development alone.
    fileprivate func route(of head: RequestHead) -> (route: Route, location: Route.Location) {
        let segments = head.pathSegments
        let match = RouteTable.shared.match(segments)
        let isOfDevelopment =
            match.route.service == .emulator
            || match.route.service == .files && match.route.audience == .development
        if isOfDevelopment, configuration.mode != .development {
            let isData = segments.last?.hasSuffix(".json") == true
            return isData ? RouteTable.location(segments) : (RouteTable.unknown, .none)
        }
        if match.route === RouteTable.plainFile {
            return isSigned(head) || isOfKnownBucket(segments) ? match : (RouteTable.unknown, .none)
        }
        // A plain address of a file may end as one of the tree does: when it is signed, or no tree can hold it.
        if match.route === RouteTable.data, RouteTable.isPlainFile(segments),
            isSigned(head) || match.location == .impossible && isOfKnownBucket(segments)
        {
            return (RouteTable.plainFile, .none)
        }
        return match
    }

    private func isOfKnownBucket(_ segments: [String]) -> Bool {
        do throws(NameFault) {
            return server.fileService.isKnown(try BucketName(segments[0]))
        } catch {
            return false
        }
    }

    private func isSigned(_ head: RequestHead) -> Bool {
        ["X-Goog-Signature", "GoogleAccessId", "upload_id"].contains {
            head.queryValue($0) != nil
        }
    }

    /// Asks the guard whether a request may come from where it says that it does.
    fileprivate func checkOrigin(_ head: RequestHead) -> OriginGuard.Outcome {
        let originGuard = server.originGuard
        guard originGuard.bindIsLoopback else { return .accept }
        if !OriginGuard.namesPage(head), OriginGuard.isPlainlyOurs(head.host) { return .accept }
        var request = OriginGuard.Request(head)
        request.hasLivePollCredentials = server.sockets.hasPoll(of: head)
        return originGuard.check(request)
    }

    /// The database that a request means.
    fileprivate func selectDatabase(of request: ResolvedRequest) throws(BadRequest) -> DatabaseID {
        let ns = request.head.queryValue("ns")
        do throws(DatabaseNameError) {
            let host = ns == nil ? request.authority : nil
            let name = try configuration.selection.database(ns: ns, at: host)
            let database = DatabaseID(name.text)
            if configuration.mode == .development {
                logIfNew(database, namedBy: ns.map { "ns=\($0)" } ?? "Host: \(request.head.host)")
            }
            return database
        } catch {
            throw BadRequest("The database name \(error).")
        }
    }
}
