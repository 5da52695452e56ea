import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// A simulation that is worked out away from the loop.
struct WaitingSimulation {
    let id: RequestID
    let database: Database
    let standing: Standing
}

/// Requests that are not part of a session.
extension DatabaseEngine {
    func receive(
        _ request: Request,
        _ id: RequestID,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        switch request.credential {
        case .none: perform(request, id, as: .nobody, now, &effects)
        case .server:
            perform(request, id, as: Standing(identity: .admin, isAdmin: true), now, &effects)
        case .admin(let override):
            let identity = DatabaseEngine.identity(under: override)
            let standing = Standing(identity: identity, isAdmin: true)
            perform(request, id, as: standing, now, &effects)
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
        case .admin(let term):
            var override: AuthOverride?
            if case .token(_, let given) = request.credential { override = given }
            let identity = DatabaseEngine.identity(under: override)
            let standing = Standing(identity: identity, isAdmin: true, term: term)
            perform(request, id, as: standing, now, &effects)
        case .user(let auth, let term):
            let standing = Standing(identity: .user(auth), isAdmin: false, term: term)
            perform(request, id, as: standing, now, &effects)
        case .refused(let refusal): refuse(id, refusal, &effects)
        }
    }

    /// Does a request. What outlives it, an event stream, does so for the term of `standing`.
    func perform(
        _ request: Request,
        _ id: RequestID,
        as standing: Standing,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let isAdmin = standing.isAdmin
        guard mayAsk(of: request.database, request.credential),
            let database = database(for: request)
        else {
            effects.append(.respond(id, .unknownDatabase))
            return
        }
        if request.isForAdmins, !isAdmin {
            database.emit(.respond(id, .permissionDenied), &effects)
            return
        }
        if isAdmin { noteAdministrator(request, id, &effects) }
        switch request.operation {
        case .get(let target, let query, let tagUse):
            let requester = Requester(standing.identity, .request(id), .read)
            let outcome = database.read(target.path, query, for: requester, now: now, &effects)
            database.profile(.restRead, target.path, query, outcome, &effects)
            switch outcome {
            case .mustWait(let need):
                let asker = Asker.request(request, id, standing)
                wait(for: need, in: database, asker, &effects)
            case .value(let node):
                let value = target.isPriority ? node.priority : node
                answer(id, .value(value, nil), tagUse, of: value, database, standing, &effects)
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
            let asker = Asker.request(request, id, standing)
            let session = streamSession(connection, database, as: standing)
            guard let refusal = stream(asked, session, id, asker, now, &effects) else { return }
            database.emit(.respond(id, refusal), &effects)
        case .foresee(let target, let isUpdate):
            let requester = Requester(standing.identity, .request(id), isUpdate ? .update : .set)
            let isRefused = database.foreseesRefusal(
                of: target,
                isUpdate: isUpdate,
                by: requester,
                now: now,
                &effects
            )
            if isRefused {
                counts.refusedWrites += 1
                database.emit(.respond(id, .permissionDenied), &effects)
            } else {
                effects.append(.respond(id, .done))
            }
        case .put, .push, .merge:
            write(request, id, as: standing, database, now, &effects)
        case .simulate(let simulation):
            if isAdmin { return simulate(simulation, id, database, standing, now, &effects) }
            database.emit(.respond(id, .permissionDenied), &effects)
        case .labelRulesets(let labels, let author):
            if isAdmin {
                let asked = LabelRequest(
                    id: id,
                    labels: labels,
                    author: author,
                    database: database,
                    standing: standing
                )
                return label(asked, now, &effects)
            }
            database.emit(.respond(id, .permissionDenied), &effects)
        case .getRules, .putRules, .getRulesHistory, .getSettings, .putSetting, .storeRuleset,
            .shadow, .profile, .inspect, .setInspection, .coverage,
            .backUp, .confirm, .databases, .status:
            var response = Response.permissionDenied
            if isAdmin {
                response = administer(request.operation, standing, database, now, &effects)
            }
            database.emit(.respond(id, response), &effects)
        }
    }

    /// Says who asks, for the log: what administrators take out or change leaves a line there.
    private func noteAdministrator(
        _ request: Request,
        _ id: RequestID,
        _ effects: inout [Effect]
    ) {
        if case .server = request.credential { return }
        switch request.operation {
        case .get, .put, .push, .merge, .putSetting, .storeRuleset, .labelRulesets, .setInspection:
            effects.append(.note(.administered(id, request.database)))
        default: break
        }
    }

    /// Databases of the server's own are for requests of its own.
    private func mayAsk(of id: DatabaseID, _ credential: RequestCredential) -> Bool {
        if case .server = credential { return true }
        return !isReserved(id)
    }

    /// The database of a request. Reading one that is not there yet reads an empty one and leaves
    /// nothing behind; nor does taking away its rules.
    private func database(for request: Request) -> Database? {
        let id = request.database
        switch request.operation {
        case .get, .foresee, .getRules, .putRules(nil, _), .getRulesHistory, .getSettings, .shadow,
            .simulate,
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
        as standing: Standing,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let identity = standing.identity
        var write: Write
        let tagUse: Request.TagUse
        var pushed: Key?
        switch request.operation {
        case .put(let target, let draft, let condition, let use):
            write = .put(target, draft, as: identity, by: nil)
            write.condition = condition.map { .tag($0) }
            tagUse = use
        case .push(let path, let key, let draft, let use):
            let target = WriteTarget(path: path.appending(key), isPriority: false)
            write = .put(target, draft, as: identity, by: nil)
            pushed = key
            tagUse = use
        case .merge(let base, let entries, let use):
            write = Write(entries: entries, base: base, identity: identity, writer: nil)
            tagUse = use
        default:
            preconditionFailure("only writes come here")
        }
        let limit = request.sizeLimit ?? database.settings.defaultWriteSizeLimit
        write.byteLimit = limit.byteCount
        write.request = id
        let asked = RequestWrite(
            id: id,
            database: database,
            write: write,
            key: pushed,
            tagUse: tagUse,
            standing: standing
        )
        perform(asked, now, &effects)
    }

    // MARK: - For admins

    private func administer(
        _ operation: Request.Operation,
        _ standing: Standing,
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
        case .profile: .mayProfile(until: standing.term)
        case .inspect: .mayInspect
        case .setInspection(let level): inspect(level)
        case .coverage(let resets): coverage(of: database, resets: resets)
        case .backUp: .mayBackUp
        case .confirm: .done
        case .databases: .databases(existing)
        case .status: .status(summaries())
        case .simulate, .labelRulesets: preconditionFailure("these may be worked out elsewhere")
        case .get, .stream, .put, .push, .merge, .foresee:
            preconditionFailure("these are for everybody")
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
        _ standing: Standing,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let inquiry = nextInquiry()
        inquiringSimulations[inquiry] = WaitingSimulation(
            id: id,
            database: database,
            standing: standing
        )
        beginWaiting(id, standing)
        let time = database.commitTime(now)
        let work = LongWork.simulate(simulation, under: database.rules, on: database.root, at: time)
        effects.append(.work(inquiry, work))
    }
}
