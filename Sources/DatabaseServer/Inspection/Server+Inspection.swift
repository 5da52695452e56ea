import DatabaseCore
import JSONTree
import Logging
import SecurityRules
import Transport

/// What a request for inspected decisions asks, beside what all requests do.
struct InspectionRequest {
    let route: InspectRoute
    let method: String
    let database: DatabaseID
    let filter: RequestFilter
    /// Whether the client takes plain text, and no page.
    let wantsText: Bool
    /// What of the address goes on with the form of a page.
    let kept: [(name: String, value: String)]
}

/// The newest decisions, the coverage, and how much is told: `/.inspect/...`, for admins.
///
/// The engine tells decisions as effects; they are kept here as they are, and a worker writes them out when
/// somebody looks.
extension Server {
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

    /// Logs a refusal by a hard limit of rules, which nobody but the author of the rules can avoid.
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

    /// Asks the engine whether the caller may.
    func ask(
        _ route: InspectRoute,
        _ method: String,
        _ pending: PendingExchange,
        _ database: DatabaseID
    ) throws(BadRequest) {
        let head = pending.exchange.head
        let accepted = AcceptedTypes(head.headers("accept"))
        pending.inspection = InspectionRequest(
            route: route,
            method: method,
            database: database,
            filter: try RequestFilter(head.query),
            wantsText: accepted.contains("text/plain") && !accepted.contains("text/html"),
            // Nothing else: a credential must not get into a page that may be saved or shown around.
            kept: head.query.filter { $0.name == "ns" }
        )
        switch route {
        case .requests: submit(.inspect, pending, database, isForAdmins: true)
        case .coverage:
            let operation = Request.Operation.coverage(resets: method == "DELETE")
            submit(operation, pending, database, isForAdmins: true)
        case .shadow:
            let operation = Request.Operation.shadow(resets: method == "DELETE")
            submit(operation, pending, database, isForAdmins: true)
        case .level where method == "PUT": read(.inspectionLevel, pending, database)
        case .level: submit(.inspect, pending, database, isForAdmins: true)
        }
    }

    /// The engine has found that an admin asks.
    func answerInspection(_ pending: PendingExchange) {
        guard let request = pending.inspection else {
            preconditionFailure("who may inspect has asked to")
        }
        if request.route == .level {
            let text = "\"\(engine.inspection.rawValue)\""
            return finish(pending, RESTAnswer.json(Array(text.utf8)))
        }
        if request.method == "DELETE" {
            decisions.removeAll(of: request.database)
            return finish(pending, RESTAnswer.statusOK)
        }
        let ring = decisions[request.database]
        let list = DecisionList(
            database: request.database,
            level: engine.inspection,
            filter: request.filter,
            records: ring.records(request.filter),
            keptCount: ring.count
        )
        write(pending) {
            switch (request.route.form, request.wantsText) {
            case (.json, _): RESTAnswer.json(list.json())
            case (.page, true): RESTAnswer.plain(list.text())
            case (.page, false): RESTAnswer.page(RequestsPage.html(list, keeping: request.kept))
            }
        }
    }

    /// Answers with what decisions have consulted.
    func answer(_ pending: PendingExchange, _ coverage: Coverage) {
        guard let request = pending.inspection else {
            preconditionFailure("who is told the coverage has asked for it")
        }
        if request.method == "DELETE" { return finish(pending, RESTAnswer.statusOK) }
        let hint: String? =
            if engine.inspection == .all {
                nil
            } else {
                "nothing is counted now: --inspect all, or PUT \"all\" to /.inspect/level.json"
            }
        let name = request.database.name
        write(pending) {
            switch (request.route.form, request.wantsText) {
            case (.json, _): RESTAnswer.json(coverage.json())
            case (.page, true):
                RESTAnswer.plain(Array((coverage.listing() + (hint.map { $0 + "\n" } ?? "")).utf8))
            case (.page, false):
                RESTAnswer.page(coverage.page(title: name + (hint.map { " (\($0))" } ?? "")))
            }
        }
    }

    /// Answers with how the shadow rules compare.
    func answer(_ pending: PendingExchange, _ shadow: ShadowReport) {
        guard let request = pending.inspection else {
            preconditionFailure("who is told of shadow rules has asked for them")
        }
        if request.method == "DELETE" { return finish(pending, RESTAnswer.statusOK) }
        write(pending) { RESTAnswer.json(shadow.json()) }
    }

    /// Has a worker write an answer.
    private func write(
        _ pending: PendingExchange,
        _ body: @escaping @Sendable () -> HTTPResponse
    ) {
        let isTaken = workers.values.post(
            .read {
                let response = body()
                EventLoop.shared.enqueue { [self] in finish(pending, response) }
            }
        )
        if !isTaken { finish(pending, RESTAnswer.error(503, "Too much is being read.")) }
    }
}

extension RESTAnswer {
    static var statusOK: HTTPResponse { json(Array("{\"status\":\"ok\"}".utf8)) }

    static func plain(_ body: [UInt8]) -> HTTPResponse {
        var response = text(200, "")
        response.body = body
        return response
    }

    /// A page that may do nothing but be looked at; it can hold what nobody else may see.
    static func page(_ body: [UInt8]) -> HTTPResponse {
        let headers = [
            (name: "Content-Type", value: "text/html; charset=utf-8"),
            (name: "Cache-Control", value: "no-store"),
            (
                name: "Content-Security-Policy",
                value: "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
                    + "base-uri 'none'; frame-ancestors 'none'"
            ),
            (name: "Referrer-Policy", value: "no-referrer"),
            (name: "X-Content-Type-Options", value: "nosniff"),
        ]
        return HTTPResponse(status: 200, headers: headers, body: body)
    }

    /// A refusal by the rules; in development with the reason, in a header.
    static func denied(_ explanation: String?) -> HTTPResponse {
        var response = error(401, "Permission denied")
        if let explanation {
            let line = ExplanationLine.text(
                explanation,
                limit: ExplanationLine.headerByteCount,
                isASCII: true
            )
            response.headers.append((name: debugHeader, value: line))
        }
        return response
    }

    /// The header that explains a refusal. Source: Firebase Realtime Database, tokens with `debug`.
    static let debugHeader = "X-Firebase-Auth-Debug"
}
