import DatabaseCore
import EventProtocol
import IdentityToolkit
import JSONTree
import SecurityRules
import Transport
import WireProtocol

/// The engine's answers, as HTTP.
extension RequestService {
    func respond(_ response: Response, to request: RequestID) {
        guard let pending = takePending(request) else {
            if case .streaming(let id) = response { server.data.beginStream(id, nil) }
            return
        }
        if let then = pending.whenAllowed {
            pending.whenAllowed = nil
            if case .done = response {
                pending.cancelTimer()
                return then()
            }
        }
        server.admin.noteDeed(response, pending)
        if case .streaming = response {
            pending.cancelTimer()
        } else {
            server.data.forgetStream(of: pending.request)
        }
        answerPending(pending, response)
    }

    private func answerPending(_ pending: PendingExchange, _ response: Response) {
        let parameters = pending.parameters
        switch response {
        case .streaming(let id): server.data.beginStream(id, pending)
        case .value(let node, let tag):
            if server.search.answers(pending, from: node) { return }
            if let tag, pending.conditions.known.contains(tag) {
                let headers = [(name: "Cache-Control", value: "no-cache")]
                return finish(pending, HTTPResponse(status: 304, headers: headers), tag)
            }
            server.data.finish(pending, read: node, tag)
        case .written(let node, let tag):
            server.data.finish(pending, written: node, tag)
        case .mismatch(let node, let tag):
            server.data.finish(pending, written: node, tag, status: 412)
        case .merged(let entries, let tag):
            server.data.finish(pending, merged: entries, tag)
        case .pushed(let key, let tag):
            finish(pending, .pushed(key, parameters), tag)
        case .mayBackUp: server.admin.streamBackup(to: pending.exchange, token: parameters.token)
        case .mayProfile(let term): server.profiler.begin(pending, until: term)
        case .mayInspect, .coverage, .shadow:
            switch pending.subject {
            case .rulesFindings(let text): server.admin.answerFindings(pending, text)
            case .fileSimulation(let simulation, let isAnsweredInWords):
                server.fileService.answer(simulation, inWords: isAnsweredInWords, pending)
            case .fileRules(let ask): server.fileService.answer(ask, pending)
            case .inspection(let request):
                server.inspection.answerInspection(pending, request, response)
            default: unexpected(response)
            }
        case .rules(let rules):
            let text = parameters.isStrict ? rules.strictJSON() : Array(rules.text.utf8)
            finish(pending, .json(text))
        case .settings(let settings):
            guard case .settings(let view) = pending.subject else { unexpected(response) }
            finish(pending, .settings(settings, view))
        case .rulesHistory(let versions):
            switch pending.subject {
            case .rulesVersion(let number):
                finish(pending, .rules(versions, number: number))
            case .rulesHistory(let fallback):
                let own = versions.last.flatMap { $0.text == nil ? nil : $0 }
                let database = pending.database
                let inForce = RulesInForce(database: database, own: own, fallback: fallback)
                finish(pending, .rulesHistory(versions, inForce))
            default: unexpected(response)
            }
        case .rulesPut(let version): finish(pending, .rulesPut(version: version))
        case .rulesMismatch(let present): finish(pending, .rulesMismatch(present))
        case .done:
            if case .newRuleset(let id) = pending.subject {
                finish(pending, .json(of: ["id": .string(id)]))
            } else {
                finish(pending, .statusOK)
            }
        case .simulated(let answer): finish(pending, .simulated(answer))
        case .status(let summaries): finish(pending, server.metrics(summaries))
        case .databases(let databases): finish(pending, .databases(databases))
        case .permissionDenied: finish(pending, .denied(pending.explanation))
        case .notIndexed(let text): finish(pending, .error(400, text))
        case .badCredential(.invalid(let text)), .badCredential(.expired(let text)):
            finish(pending, .error(401, text))
        case .unknownDatabase: finish(pending, .unknownDatabase)
        case .refused(let refusal):
            finish(pending, .error(refusal.isPassing ? 503 : 400, refusal.text))
        }
    }

    private func unexpected(_ response: Response) -> Never {
        preconditionFailure("the engine answers what was asked, and not with \(response)")
    }

    // MARK: - Out

    /// Sends the answer to a request that the engine had, or should have had.
    func finish(_ pending: PendingExchange, _ response: HTTPResponse, _ tag: EntityTag? = nil) {
        pending.cancelTimer()
        var response = response
        let isHeaded = tag != nil || pending.parameters.download != nil
        if isHeaded, response.status < 400 || response.status == 412 {
            response.headers += HTTPResponse.headers(tag, pending.parameters)
        }
        if let callback = pending.parameters.callback { response = callback.wrap(response) }
        answer(pending.exchange, response)
    }

    /// Sends the answer to a request that makes no sense.
    func refuse(_ exchange: HTTPExchange, _ response: HTTPResponse) {
        answer(exchange, ScriptCallback(exchange.head)?.wrap(response) ?? response)
    }

    /// Sends an answer with what a browser needs to let a page see it.
    ///
    /// What an administrator has done is in the audit log before, also when its client has left.
    func answer(_ exchange: HTTPExchange, _ response: HTTPResponse) {
        if server.audit.holds(exchange, response) { return }
        guard exchange.isAnswerable else { return }
        let headers = crossOriginHeaders(exchange)
        // Adding nothing would copy the ones that are there.
        if headers.isEmpty { return send(response, to: exchange) }
        var response = response
        response.headers += headers
        send(response, to: exchange)
    }

    /// Answers whether the server takes requests.
    func answerReadiness(_ exchange: HTTPExchange) {
        if let readiness = server.cluster?.readiness, !server.isStopping {
            return answer(exchange, readiness)
        }
        if server.isReady, !server.isStopping {
            // Reads go on, and so do removals, which make room: the server takes requests.
            var text = "ready\n"
            if let writeRefusal = server.durability.writeRefusal {
                text += "warning: \(writeRefusal)\n"
            }
            if server.durability.failedCheckpoint != nil {
                text += "warning: the last checkpoint failed\n"
            }
            if server.fileService.disk.isReadOnly {
                text += "warning: files are not stored, since their disk has failed\n"
            }
            answer(exchange, .plain(200, text))
        } else {
            answer(exchange, .plain(503, server.isStopping ? "stopping\n" : "starting\n"))
        }
    }

    func abandon(_ exchange: HTTPExchange) {
        let request = ResolvedRequest.of(exchange)
        switch request.use {
        case .profile(let profile): server.profiler.end(profile)
        case .stream(let stream): server.data.abandon(stream, request)
        case .single, .poll: break
        }
        // What is done is noted, though its client has left.
        let id = RequestID(exchange.id)
        if !mustNote(id) { takePending(id)?.cancelTimer() }
        if case .poll(let poll) = request.use { poll.abandoned(exchange) }
    }
}
