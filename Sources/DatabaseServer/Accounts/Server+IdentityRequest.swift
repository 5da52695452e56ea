import Gzip
import IdentityToolkit
import Logging
import Transport

/// Identity requests before they are looked at: HTTP method, body, project.
extension Server {
    /// Whether the address is there, and takes this HTTP method.
    func requireVerb(_ head: RequestHead, _ method: IdentityMethod) throws(IdentityError) {
        if method == .unknown { throw .notFound }
        if method.audience == .development, configuration.mode != .development { throw .notFound }
        guard method.verbs.contains(head.method) else { throw .methodNotAllowed(method.verbs) }
    }

    /// The request in an exchange whose caller has been let through, and whose body has been read.
    func identityRequest(
        _ exchange: HTTPExchange,
        _ route: IdentityRoute,
        _ fields: RequestFields
    ) throws(IdentityError) -> IdentityRequest {
        let head = exchange.head
        try settle(route)
        var query: [String: String] = [:]
        for (name, value) in head.query { query[name] = value }
        return IdentityRequest(
            route: route,
            verb: head.method,
            fields: fields,
            query: query,
            isAdmin: route.method.audience == .administrators
        )
    }

    // MARK: - Bodies

    /// Decides over a body by the head: it tells its length, and is no larger than the method takes.
    func judgeBody(_ head: RequestHead, _ route: IdentityRoute) -> Verdict {
        let byteLimit = route.method.bodyByteLimit
        guard let byteCount = head.bodyByteCount else {
            return .refuse(Server.identityAnswer(.lengthRequired))
        }
        guard byteCount <= byteLimit else {
            return .refuse(Server.identityAnswer(.tooLarge(byteLimit: byteLimit)))
        }
        return .accept()
    }

    /// Inflates the body of a complete request, no further than the method takes, and comes again.
    func inflates(_ exchange: HTTPExchange, _ route: IdentityRoute) -> Bool {
        let body = exchange.takeBody()
        let byteLimit = route.method.bodyByteLimit
        let isTaken = readAway(body.count, of: exchange) { () -> Result<[UInt8], GzipError> in
            Result { () throws(GzipError) in try inflateWhole(body, byteLimit: byteLimit) }
        } then: { [self] outcome in
            switch outcome {
            case .success(let text):
                exchange.body = text
                receiveInflated(exchange)
            case .failure(.tooLarge): refuse(exchange, .tooLarge(byteLimit: byteLimit))
            case .failure: refuse(exchange, .invalidPayload("The body is not a gzip stream."))
            }
        }
        if !isTaken { refuse(exchange, .unavailable("Too many large bodies are being read.")) }
        return true
    }

    /// The answer that refuses an identity request.
    static func identityAnswer(_ error: IdentityError) -> HTTPResponse {
        var answer = RESTAnswer.json(error.body.text, status: error.status)
        if !error.verbs.isEmpty {
            let verbs = (error.verbs + ["OPTIONS"]).joined(separator: ", ")
            answer.headers.append((name: "Allow", value: verbs))
        }
        if let seconds = error.retryAfter {
            answer.headers.append((name: "Retry-After", value: "\(seconds)"))
        }
        return answer
    }

    // MARK: - Project

    /// Decides over the project that an address names: a server has one.
    ///
    /// In development any name will do, as with the official emulator: the first one becomes the project where none
    /// is given (`--project`), so that tokens have the issuer and the audience that its SDKs check.
    private func settle(_ route: IdentityRoute) throws(IdentityError) {
        guard let project = route.project, project != accounts.policy.project else { return }
        guard configuration.mode == .development else {
            throw .wrongProject(accounts.policy.project)
        }
        guard accounts.adopt(project) else { return }
        trustOwnKeys()
        log.notice(
            "the first project that an administrator names is this server's; --project sets it",
            metadata: ["project": "\(project)"]
        )
    }
}

extension AccountDesk {
    /// Makes `name` the project if no project has been given yet, by a setting or in this way, and if it can be one.
    fileprivate func adopt(_ name: String) -> Bool {
        guard !settings.isProjectGiven, !isProjectAdopted else { return false }
        do throws(DatabaseNameError) { _ = try DatabaseName(name) } catch { return false }
        isProjectAdopted = true
        // What a setting says stays.
        if policy.issuer == IdentityPolicy.issuer(of: policy.project) {
            policy.issuer = IdentityPolicy.issuer(of: name)
        }
        if policy.audience == policy.project { policy.audience = name }
        policy.project = name
        return true
    }
}
