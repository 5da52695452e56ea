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
        case .user(let auth, let expiry):
            let identity = Identity.user(auth)
            perform(request, id, as: identity, isAdmin: false, until: expiry, now, &effects)
        case .refused(let refusal):
            counts.refusedCredentials += 1
            effects.append(.respond(id, .badCredential(refusal)))
        }
    }

    /// Does a request. What outlives it, an event stream, does so until `expiry`.
    func perform(
        _ request: Request,
        _ id: RequestID,
        as identity: Identity,
        isAdmin: Bool,
        until expiry: Timestamp? = nil,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        guard let database = database(for: request) else {
            effects.append(.respond(id, .unknownDatabase))
            return
        }
        if request.isForAdmins, !isAdmin {
            database.emit(.respond(id, .permissionDenied), &effects)
            return
        }
        switch request.operation {
        case .get(let target, let query, let tagUse):
            let requester = Requester(identity, .request(id), .read)
            let outcome = database.read(target.path, query, for: requester, now: now, &effects)
            database.profile(.restRead, target.path, query, outcome, &effects)
            switch outcome {
            case .mustWait(let need):
                let asker = Asker.request(request, id, identity, isAdmin: isAdmin)
                wait(for: need, in: database, asker, &effects)
            case .value(let node):
                let value = target.isPriority ? node.priority : node
                answer(id, .value(value, nil), tagUse, of: value, database, &effects)
            case .notIndexed(let text):
                database.emit(.respond(id, .notIndexed(text)), &effects)
            case .denied:
                counts.refusedReads += 1
                database.emit(.respond(id, .permissionDenied), &effects)
            }
        case .stream(let connection, let path, let query, let isExport):
            let asked = Database.ListenRequest(
                name: .stream,
                path: path,
                query: query,
                number: nil,
                encoding: .serverSent(isExport: isExport),
            )
            let asker = Asker.request(request, id, identity, isAdmin: isAdmin, until: expiry)
            let session = streamSession(connection, database, as: identity, until: expiry)
            guard let refusal = stream(asked, session, id, asker, now, &effects) else { return }
            database.emit(.respond(id, refusal), &effects)
        case .put, .push, .merge:
            write(request, id, as: identity, database, now, &effects)
        case .simulate(let simulation):
            if isAdmin { return simulate(simulation, id, database, now, &effects) }
            database.emit(.respond(id, .permissionDenied), &effects)
        case .labelRulesets(let labels, let author):
            if isAdmin {
                let asked = LabelRequest(id: id, labels: labels, author: author, database: database)
                return label(asked, now, &effects)
            }
            database.emit(.respond(id, .permissionDenied), &effects)
        case .getRules, .putRules, .getRulesHistory, .getSettings, .putSetting, .storeRuleset,
            .shadow, .profile, .inspect, .setInspection, .coverage,
            .backUp, .databases, .status:
            var response = Response.permissionDenied
            if isAdmin { response = administer(request.operation, database, now, &effects) }
            database.emit(.respond(id, response), &effects)
        }
    }

    /// The database of a request. Reading one that is not there yet reads an empty one and leaves
    /// nothing behind; nor does taking away its rules.
    private func database(for request: Request) -> Database? {
        let id = request.database
        switch request.operation {
        case .get, .getRules, .putRules(nil, _), .getRulesHistory, .getSettings, .shadow, .simulate,
            .inspect, .setInspection, .coverage:
            return databases[id] ?? (policy.createsDatabases ? makeDatabase(id) : nil)
        default:
            return database(id)
        }
    }

    // MARK: - Writing

    private func write(
        _ request: Request,
        _ id: RequestID,
        as identity: Identity,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let limit = request.sizeLimit ?? database.settings.defaultWriteSizeLimit
        switch request.operation {
        case .put(let target, let draft, let condition, let tagUse):
            var write = Write.put(target, draft, as: identity, by: nil)
            write.byteLimit = limit.byteCount
            write.request = id
            if let condition {
                let conditional = ConditionalPut(write: write, condition: condition, tagUse: tagUse)
                put(conditional, id, database, now, &effects)
                return
            }
            let response = response(to: perform(write, database, now, &effects), of: write)
            answer(id, response, tagUse, of: database.node(at: target), database, &effects)
        case .push(let path, let key, let draft, let tagUse):
            let target = WriteTarget(path: path.appending(key), isPriority: false)
            var write = Write.put(target, draft, as: identity, by: nil)
            write.byteLimit = limit.byteCount
            write.request = id
            var response = response(to: perform(write, database, now, &effects), of: write)
            if case .written = response { response = .pushed(key, nil) }
            answer(id, response, tagUse, of: database.node(at: target), database, &effects)
        case .merge(let base, let entries, let tagUse):
            var write = Write(entries: entries, base: base, identity: identity, writer: nil)
            write.byteLimit = limit.byteCount
            write.request = id
            let response = response(to: perform(write, database, now, &effects), of: write)
            let node = database.root.descendant(at: base)
            // The tag tells of what was not written, too.
            var shownUse = tagUse
            if tagUse == .wanted, !database.mayRead(base, as: identity, now) { shownUse = .none }
            answer(id, response, shownUse, of: node, database, &effects)
        default:
            preconditionFailure("only writes come here")
        }
    }

    /// The answer to a write, without a tag.
    func response(to outcome: WriteOutcome, of write: Write) -> Response {
        switch outcome {
        case .done(let changes) where write.base == nil: .written(changes[0].new, nil)
        case .done(let changes): .merged(changes.map { ($0.target, $0.new) }, nil)
        case .denied: .permissionDenied
        case .refused(let refusal): .refused(refusal)
        }
    }

    // MARK: - For admins

    private func administer(
        _ operation: Request.Operation,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> Response {
        switch operation {
        case .getRules: .rules(database.rules)
        case .putRules(let rules, let change):
            putRules(rules, change, database, now, &effects)
        case .getRulesHistory: .rulesHistory(database.rulesVersions)
        case .getSettings: .settings(database.settings)
        case .putSetting(let setting): put(setting, database, now, &effects)
        case .storeRuleset(let id, let rules): store(rules, as: id, database, now, &effects)
        case .shadow(let resets): shadow(of: database, resets: resets, now)
        case .profile: .mayProfile
        case .inspect: .mayInspect
        case .setInspection(let level): inspect(level)
        case .coverage(let resets): coverage(of: database, resets: resets)
        case .backUp: .mayBackUp
        case .databases: .databases(existing)
        case .status: .status(summaries())
        case .simulate, .labelRulesets: preconditionFailure("these may be worked out elsewhere")
        case .get, .stream, .put, .push, .merge: preconditionFailure("these are for everybody")
        }
    }

    private func inspect(_ level: InspectionLevel) -> Response {
        policy.inspection = level
        for database in databases.values { database.inspection = level }
        return .done
    }

    private func coverage(of database: Database, resets: Bool) -> Response {
        let counts = database.countedCoverage
        if resets { database.coverage = nil }
        return .coverage(counts)
    }

    /// Has a request tried out on the tree as it is now, away from the loop: with all values recorded, and on
    /// data that the request brings, it may take long.
    private func simulate(
        _ simulation: SimulationRequest,
        _ id: RequestID,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let inquiry = nextInquiry()
        inquiringSimulations[inquiry] = (id, database)
        let time = database.commitTime(now)
        let work = LongWork.simulate(simulation, under: database.rules, on: database.root, at: time)
        effects.append(.work(inquiry, work))
    }
}
