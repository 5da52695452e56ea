import Accounts
import DatabaseCore
import Files
import JSONTree
import Logging
import Tokens
import Transport

/// The audit log: what administrators change, by whichever door.
///
/// What a request does is an entry when its row says that it changes something (`ResolvedRequest.isAudited`); services say
/// more of it (`ResolvedRequest.deed`). Its answer leaves when the entry is on disk.
@LoopActor
final class AuditService: Service {
    let server: Server
    private var lastNumber: Int
    /// The folder of the files; nil when entries are kept in memory.
    private let folder: String?
    /// Lines that are kept in memory, the oldest first.
    private var kept: [[UInt8]] = []
    private var entryCount = 0
    private var failureCount = 0

    /// Entries that are kept without a data folder.
    static let keptLimit = 2_000

    init(_ server: Server, folder: String?, lastNumber: Int) {
        self.server = server
        self.folder = folder
        self.lastNumber = lastNumber
    }

    func addMetrics(to metrics: inout Metrics) {
        metrics.counter("hearth_audit_entries_total", "Entries of the audit log.", entryCount)
        metrics.counter(
            "hearth_audit_failures_total",
            "Times that entries of the audit log could not be written, and had to wait.",
            failureCount
        )
    }

    // MARK: - Written

    /// Adds an entry; `then` is called once it is on disk, or cannot be written now.
    func record(_ entry: AuditEntry, then: @escaping @LoopActor () -> Void = {}) {
        lastNumber += 1
        entryCount += 1
        let line = entry.line(number: lastNumber)
        guard folder != nil else {
            kept.append(line)
            if kept.count > Self.keptLimit { kept.removeFirst() }
            return then()
        }
        let isTaken = commits.audit(lastNumber, line) { EventLoop.shared.enqueue { then() } }
        if isTaken { return }
        failed("too much waits for the disk")
        then()
    }

    /// Entries could not be written.
    func failed(_ reason: String) {
        failureCount += 1
        log.critical(
            "the audit log cannot be written: its newest entries wait in memory; \(reason)"
        )
    }

    /// Whether a request has done something that is an entry, and its answer waits for that; then it is answered later.
    func holds(_ exchange: HTTPExchange, _ response: HTTPResponse) -> Bool {
        guard let request = exchange.userData as? ResolvedRequest, request.isAudited,
            response.status < 400
        else { return false }
        request.isNoted = true
        record(entry(request, exchange)) { [self] in answer(exchange, response) }
        return true
    }

    private func entry(_ request: ResolvedRequest, _ exchange: HTTPExchange) -> AuditEntry {
        let row = "\(request.methodName) \(request.route.pattern)"
        var deed = request.deed ?? AuditDeed(what: row)
        if deed.database == nil, case .ask = request.route.action,
            case .success(let database) = request.database
        {
            deed.database = database.name
        }
        if !request.name.isEmpty, deed.details["name"] == nil {
            deed.details["name"] = request.name
        }
        return AuditEntry(
            time: Clock.now(),
            author: deed.author ?? author(of: exchange),
            peer: clientAddress(of: request.head),
            door: isFromConsole(request) ? "console" : "request",
            request: row,
            deed: deed
        )
    }

    // MARK: - Who

    /// Whether a request is one of the console: by who has signed in there, in development by its page.
    func isFromConsole(_ request: ResolvedRequest) -> Bool {
        if request.consoleSession != nil || request.route.service == .pages { return true }
        return configuration.mode == .development && server.isFromOwnPage(request.head)
    }

    /// The administrator who has sent a request.
    func author(of exchange: HTTPExchange) -> AuditAuthor {
        let request = ResolvedRequest.of(exchange)
        if let session = request.consoleSession { return AuditAuthor(session) }
        var token = RESTParameters.bearer(request.head)
        if token == nil, case .success(let parameters) = request.parameters {
            token = parameters.token
        }
        return author(token: token)
    }

    /// The administrator that a token has proved to be; nil stands for one on this machine, in development.
    func author(token: String?) -> AuditAuthor {
        guard let token, token != CredentialCheck.ownerLiteral else {
            return AuditAuthor(name: CredentialCheck.ownerLiteral, credential: .development)
        }
        if server.identity.isAdminSecret(token) {
            return AuditAuthor(name: RulesAuthor.admin, credential: .secret)
        }
        let name = server.admin.administrator(token)
        let isServiceAccount = server.identity.isServiceAccount(name)
        return AuditAuthor(name: name, credential: isServiceAccount ? .serviceAccount : .token)
    }

    // MARK: - Read

    /// `GET /.inspect/audit.json`: entries, the newest first.
    func answerEntries(_ exchange: HTTPExchange) {
        let query: AuditQuery
        do throws(BadRequest) { query = try AuditQuery(exchange.head.query) } catch {
            return answer(exchange, .bad(error))
        }
        guard let folder else {
            let content = AuditContent(bytes: kept.flatMap(\.self))
            return answer(exchange, .json(of: AuditPage(query, content).json))
        }
        // Reading a file takes some 30 ms.
        let isTaken = workers.archives.perform {
            Result { () throws(FileError) in try AuditPage(query, folder: folder).json.text }
        } then: { [self] outcome in
            switch outcome {
            case .success(let text): answer(exchange, .json(text))
            case .failure(let error): answer(exchange, .error(500, "The audit log: \(error)"))
            }
        }
        if !isTaken { answer(exchange, .error(503, "Too much is being done; try again.")) }
    }
}

extension AuditAuthor {
    /// Who has signed in to the console.
    init(_ session: ConsoleSessions.Session) {
        let credential: Credential =
            if case .secret = session.holder { .secret } else { .account }
        self.init(name: session.name, credential: credential, role: session.role)
    }
}

extension IdentityService {
    /// Whether there is a service account of this address.
    func isServiceAccount(_ email: String) -> Bool {
        accountDirectory.serviceAccount(email: email) != nil
    }
}

extension ResolvedRequest {
    /// Whether it makes an entry of the audit log when it is done: it changes something that is for administrators alone,
    /// or a service has said what it has done.
    var isAudited: Bool { !isNoted && (deed != nil || isChange && route.isForAdmins) }
}
