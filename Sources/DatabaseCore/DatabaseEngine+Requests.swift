import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// Requests that are not part of a session.
extension DatabaseEngine {
    func receive(
        _ request: Request,
        _ id: RequestID,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        switch request.credential {
        case .none: perform(request, id, as: .nobody, isAdmin: false, now, &effects)
        case .admin(let override):
            let identity = DatabaseEngine.identity(under: override)
            perform(request, id, as: identity, isAdmin: true, now, &effects)
        case .token(let token, _):
            let inquiry = nextInquiry()
            inquiringRequests[inquiry] = (request, id)
            effects.append(.verify(inquiry, token: token))
        }
    }

    /// Goes on with a request whose credential has been checked.
    func resume(
        _ request: Request,
        _ id: RequestID,
        _ outcome: CredentialOutcome,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        switch outcome {
        case .admin:
            var override: AuthOverride?
            if case .token(_, let given) = request.credential { override = given }
            let identity = DatabaseEngine.identity(under: override)
            perform(request, id, as: identity, isAdmin: true, now, &effects)
        case .user(let auth, _):
            perform(request, id, as: .user(auth), isAdmin: false, now, &effects)
        case .refused(let refusal):
            counts.refusedCredentials += 1
            effects.append(.respond(id, .badCredential(refusal)))
        }
    }

    func perform(
        _ request: Request,
        _ id: RequestID,
        as identity: Identity,
        isAdmin: Bool,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        guard let database = database(request.database) else {
            effects.append(.respond(id, .unknownDatabase))
            return
        }
        let response: Response
        switch request.operation {
        case .get(let target, let query):
            switch database.read(target.path, query, as: identity, now: now) {
            case .mustWait(let need):
                let asker = Asker.request(request, id, identity, isAdmin: isAdmin)
                wait(for: need, in: database, asker, &effects)
                return
            case let outcome: response = answer(outcome, target)
            }
        case .put(let target, let draft):
            let write = Write.put(target, draft, as: identity, by: nil)
            response = put(write, database, now, &effects)
        case .push(let path, let key, let draft):
            let target = WriteTarget(path: path.appending(key), isPriority: false)
            let write = Write.put(target, draft, as: identity, by: nil)
            response = push(key, write, database, now, &effects)
        case .merge(let base, let entries):
            let write = Write(entries: entries, base: base, identity: identity, writer: nil)
            response = merge(write, database, now, &effects)
        case .getRules:
            response = isAdmin ? .rules(database.rules.text) : .permissionDenied
        case .putRules(let rules, let isDryRun):
            response =
                isAdmin
                ? putRules(rules, isDryRun, database, now, &effects) : .permissionDenied
        case .simulate(let simulation):
            response = isAdmin ? simulate(simulation, database, now) : .permissionDenied
        case .status:
            response = isAdmin ? .status(summaries()) : .permissionDenied
        }
        database.emit(.respond(id, response), &effects)
    }

    private func answer(_ outcome: ReadOutcome, _ target: WriteTarget) -> Response {
        switch outcome {
        case .value(let node): return .value(target.isPriority ? node.priority : node)
        case .notIndexed(let text): return .notIndexed(text)
        case .denied:
            counts.refusedReads += 1
            return .permissionDenied
        case .mustWait: preconditionFailure("who must wait is asked again")
        }
    }

    private func put(
        _ write: Write,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> Response {
        switch perform(write, database, now, &effects) {
        case .done(let changes): .written(changes[0].new)
        case .denied: .permissionDenied
        case .refused(let refusal): .refused(refusal)
        }
    }

    private func push(
        _ key: Key,
        _ write: Write,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> Response {
        let response = put(write, database, now, &effects)
        if case .written = response { return .pushed(key) }
        return response
    }

    private func merge(
        _ write: Write,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> Response {
        switch perform(write, database, now, &effects) {
        case .done(let changes): .merged(changes.map { ($0.target, $0.new) })
        case .denied: .permissionDenied
        case .refused(let refusal): .refused(refusal)
        }
    }

    /// Gives a database rules of its own, or takes them away, as a commit.
    private func putRules(
        _ rules: Ruleset?,
        _ isDryRun: Bool,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> Response {
        if isDryRun { return .done }
        if let refusal = logCondition.refusal { return .refused(refusal) }
        let operation = rules.map { CommitOperation.setRules($0.text) } ?? .detachRules
        database.append([operation], at: database.commitTime(now), &effects)
        database.ownRules = rules
        database.judgeAllAgain(now: now, &effects)
        effects.append(.note(.rulesReplaced(database.id)))
        return .done
    }

    private func simulate(
        _ request: SimulationRequest,
        _ database: Database,
        _ now: Timestamp
    ) -> Response {
        let rules = request.rules ?? database.rules
        let root = request.data ?? database.root
        let time = request.now ?? database.commitTime(now)
        let outcome = rules.simulate(
            request.operation,
            RulesRequest(root: root, auth: request.auth, now: time)
        )
        return .simulated(outcome.decision, newData: outcome.newData)
    }
}
