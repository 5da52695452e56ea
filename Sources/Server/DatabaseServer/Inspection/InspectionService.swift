import DatabaseCore
import FileRecords
import FileRulesTools
import IdentityToolkit
import JSONTree
import Logging
import RulesTools
import SecurityRules
import Transport

/// What a request for inspected decisions asks, beside what all requests do.
struct InspectionRequest {
    let subject: InspectionSubject
    /// Whether it forgets what it asks for.
    let forgets: Bool
    let database: DatabaseID
    let filter: RequestFilter
    /// Whether it is about rules for files, and then of which bucket; nil for those of all that have none of their own.
    var isForFiles = false
    var bucket: String?
}

/// The newest decisions, the coverage, and the level of both: `/.inspect/...`, for admins.
///
/// Decisions come as effects of the engine; they are kept as they are, and a worker writes them out for a request.
@LoopActor
final class InspectionService: Service {
    let server: Server
    private var decisions = DecisionRings()
    private var fileDecisions = KeptDecisions<FileDecisionRecord>()
    private var refusalLog = RefusalLog()
    /// For refusals by a hard limit of rules, so that other refusals do not hide them.
    private var limitLog = RefusalLog()

    init(_ server: Server) {
        self.server = server
    }

    /// Keeps a decision, and logs a refusal.
    func keep(_ record: DecisionRecord, of database: DatabaseID) {
        decisions.add(record, of: database)
        // What met a limit has a line of its own.
        if record.decision.isAllowed || record.decision.overLimit != nil { return }
        if !refusalLog.admits(at: Clock.now().milliseconds) { return }
        log.info(
            "refused \(record.operation.rawValue)",
            metadata: RefusalLog.metadata(record, of: database)
        )
    }

    /// Keeps a decision on a request for a file.
    func keep(_ record: FileDecisionRecord) { fileDecisions.add(record) }

    /// Logs a refusal by a hard limit of rules, which only the author of the rules can avoid.
    func logOverLimit(_ record: DecisionRecord, of database: DatabaseID) {
        if !limitLog.admits(at: Clock.now().milliseconds) { return }
        log.warning(
            "rules met a limit; refused \(record.operation.rawValue)",
            metadata: RefusalLog.metadata(record, of: database)
        )
    }

    /// Says how many refusals got no line of their own.
    func logSuppressedRefusals() {
        let count = refusalLog.takeSuppressed()
        if count > 0 {
            log.info("more requests were refused", metadata: ["count": "\(count)"])
        }
        let limitCount = limitLog.takeSuppressed()
        if limitCount > 0 {
            log.warning("rules met a limit more often", metadata: ["count": "\(limitCount)"])
        }
    }

    /// Asks the engine whether the caller may. A browser is led to the console's page of what it asks for.
    func inspect(_ subject: InspectionSubject, _ pending: PendingExchange) throws(BadRequest) {
        let head = pending.exchange.head
        if subject.form == .page, pending.method == .get,
            server.console.takesVisitor(pending.exchange)
        {
            let isCoverage = subject == .coverage(.page)
            let coverage = isCoverage ? [(name: "coverage", value: "true")] : []
            let page = isCoverage ? "rules" : "requests"
            return finish(pending, .console(page, head.query + coverage))
        }
        let forgets = pending.method == .delete
        var request = InspectionRequest(
            subject: subject,
            forgets: forgets,
            database: pending.database,
            filter: try RequestFilter(head.query, isForFiles: pending.parameters.isForFiles)
        )
        request.isForFiles = pending.parameters.isForFiles
        request.bucket = head.queryValue("bucket")
        pending.subject = .inspection(request)
        switch subject {
        case .coverage where request.isForFiles, .shadow where request.isForFiles:
            submit(.inspect, pending)
        case .coverage: submit(.coverage(resets: forgets), pending)
        case .shadow: submit(.shadow(resets: forgets), pending)
        case .level where pending.method == .put: server.admin.read(.inspectionLevel, pending)
        case .requests, .level: submit(.inspect, pending)
        }
    }

    /// Answers an administrator with what the engine has found.
    func answerInspection(
        _ pending: PendingExchange,
        _ request: InspectionRequest,
        _ response: Response
    ) {
        if request.subject == .level {
            return finish(pending, .json(of: .string(engine.inspection.rawValue)))
        }
        if case .coverage = request.subject, request.isForFiles {
            return answerFileCoverage(pending, request)
        }
        if request.subject == .shadow, request.isForFiles {
            let report = server.fileService.shadowReport(resets: request.forgets)
            if request.forgets { return finish(pending, .statusOK) }
            return write(pending) { .json(of: report.json(isForFiles: true)) }
        }
        if request.forgets {
            if case .requests = request.subject {
                if request.isForFiles {
                    fileDecisions.removeAll()
                } else {
                    decisions.removeAll(of: request.database)
                }
            }
            return finish(pending, .statusOK)
        }
        switch response {
        case .coverage(let coverage): answerCoverage(pending, request, coverage)
        case .shadow(let report): write(pending) { .json(of: report.json()) }
        default: answerRequests(pending, request)
        }
    }

    private func answerRequests(_ pending: PendingExchange, _ request: InspectionRequest) {
        if request.isForFiles {
            show(fileDecisions.records(request.filter), pending, request)
        } else {
            show(decisions[request.database].records(request.filter), pending, request)
        }
    }

    private func show<Record: KeptDecision>(
        _ records: [(number: UInt64, record: Record)],
        _ pending: PendingExchange,
        _ request: InspectionRequest
    ) {
        let list = KeptDecisionList(level: engine.inspection, records: records)
        write(pending) {
            request.subject.form == .json ? .json(list.json()) : .plain(list.text())
        }
    }

    private func answerCoverage(
        _ pending: PendingExchange,
        _ request: InspectionRequest,
        _ coverage: Coverage
    ) {
        let hint = hintOfCoverage
        write(pending) {
            if request.subject.form == .json { return .json(coverage.json(hint: hint)) }
            return .plain(Array((coverage.listing() + (hint.map { $0 + "\n" } ?? "")).utf8))
        }
    }

    private var hintOfCoverage: String? {
        engine.inspection == .all
            ? nil : "nothing is counted now: --inspect all, or PUT \"all\" to /.inspect/level.json"
    }

    private func answerFileCoverage(_ pending: PendingExchange, _ request: InspectionRequest) {
        let coverage: FileCoverage?
        do throws(NameFault) {
            let bucket = try request.bucket.map { (text) throws(NameFault) in
                try BucketName(text)
            }
            coverage = server.fileService.coverage(of: bucket, resets: request.forgets)
        } catch {
            return finish(pending, .error(400, "\(error)"))
        }
        if request.forgets { return finish(pending, .statusOK) }
        guard let coverage else {
            return finish(pending, .error(404, "There are no rules for files."))
        }
        let hint = hintOfCoverage
        write(pending) {
            if request.subject.form == .json { return .json(of: coverage.json(hint: hint)) }
            let text = "\(coverage.line)\n\n\(coverage.listing)" + (hint.map { $0 + "\n" } ?? "")
            return .plain(Array(text.utf8))
        }
    }

    /// Has a worker write an answer.
    private func write(_ pending: PendingExchange, _ body: @escaping @Sendable () -> HTTPResponse) {
        let isTaken = workers.values.perform(body) { [self] in finish(pending, $0) }
        if !isTaken { finish(pending, .error(503, "Too much is being read.")) }
    }
}

extension HTTPResponse {
    static var statusOK: HTTPResponse { json(of: ["status": "ok"]) }

    static func plain(_ body: [UInt8]) -> HTTPResponse {
        let headers = headers(type: "text/plain; charset=utf-8")
        return HTTPResponse(status: 200, headers: headers, body: body)
    }

    /// A refusal by the rules; in development with the reason, in a header.
    static func denied(_ explanation: String?) -> HTTPResponse {
        let response = error(401, "Permission denied")
        guard let explanation else { return response }
        let limit = ExplanationLine.headerByteCount
        let line = ExplanationLine.text(explanation, limit: limit, isASCII: true)
        return response.adding(debugHeader, line)
    }

    /// The header that explains a refusal. Source: Firebase Realtime Database, tokens with `debug`.
    static let debugHeader = "X-Firebase-Auth-Debug"
}
