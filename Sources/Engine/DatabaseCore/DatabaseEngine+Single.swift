import JSONTree
import SecurityRules
import WireProtocol

/// Requests that are not part of a session.
extension DatabaseEngine {
    func receiveSingle(_ request: Request, _ id: RequestID, _ step: inout Step) {
        switch request.credential {
        case .none: performSingle(request, id, as: .nobody, &step)
        case .server: performSingle(request, id, as: .admin(nil), &step)
        case .admin(let override, let term):
            performSingle(request, id, as: .admin(override, term), &step)
        case .token(let token, _): awaitCredential(token, .single(request, id), &step)
        }
    }

    /// Continues a request whose credential has been checked.
    func resume(
        _ request: Request,
        _ id: RequestID,
        _ outcome: CredentialOutcome,
        _ step: inout Step
    ) {
        var override: AuthOverride?
        if case .token(_, let given) = request.credential { override = given }
        do throws(CredentialRefusal) {
            performSingle(request, id, as: try Principal(outcome, override), &step)
        } catch {
            refuse(id, error, &step)
        }
    }

    /// Does a request. An event stream goes on for the term of `principal`.
    private func performSingle(
        _ request: Request,
        _ id: RequestID,
        as principal: Principal,
        _ step: inout Step
    ) {
        guard mayAsk(of: request.database, request.credential),
            let database = database(for: request)
        else {
            step.effects.append(.respond(id, .unknownDatabase))
            return
        }
        let limit = request.sizeLimit
        let asker = Asker.single(
            SingleRequest(id: id, database: database, principal: principal, sizeLimit: limit)
        )
        if request.isForAdmins, !principal.isAdmin { return answer(.denied, to: asker, &step) }
        if principal.isAdmin { noteAdministrator(request, id, &step) }
        perform(Operation(request.operation), for: asker, &step)
    }

    /// Notes who asks, for the server's log: it has a line for whatever administrators read or change.
    private func noteAdministrator(_ request: Request, _ id: RequestID, _ step: inout Step) {
        if case .server = request.credential { return }
        switch request.operation {
        case .get, .stream, .put, .push, .merge, .putSetting, .storeRuleset, .labelRulesets,
            .setInspection:
            step.effects.append(.note(.administered(id, request.database)))
        default: break
        }
    }

    /// Reserved databases are for requests of the server itself.
    private func mayAsk(of id: DatabaseID, _ credential: RequestCredential) -> Bool {
        if case .server = credential { return true }
        return !isReserved(id)
    }

    /// The database of a request. Reading one that does not exist reads an empty one and does not make it; nor does
    /// taking away its rules.
    private func database(for request: Request) -> Database? {
        let id = request.database
        switch request.operation {
        case .get, .foresee, .getRules, .putRules(nil, _), .getRulesHistory, .getSettings, .shadow,
            .simulate, .inspect, .setInspection, .coverage:
            return databases[id] ?? (policy.createsDatabases ? makeDatabase(id) : nil)
        default:
            return database(id)
        }
    }

    // MARK: - For admins

    func administer(_ operation: Request.Operation, for asked: SingleRequest, _ step: inout Step) {
        let database = asked.database
        guard asked.principal.isAdmin else { return answer(.denied, to: .single(asked), &step) }
        let response: Response
        switch operation {
        case .getRules: response = .rules(database.rules)
        case .putRules(let rules, let change):
            response = putRules(rules, change, database, &step)
        case .getRulesHistory: response = .rulesHistory(database.rulesVersions)
        case .getSettings: response = .settings(database.settings)
        case .putSetting(let setting):
            response = putSettings([DatabaseSettings.entry(of: setting)], database, &step)
        case .storeRuleset(let id, let rules): response = store(rules, as: id, database, &step)
        case .shadow(let resets): response = shadow(of: database, resets: resets, step.now)
        case .profile: response = .mayProfile(until: asked.principal.term)
        case .inspect: response = .mayInspect
        case .setInspection(let level): response = inspect(level)
        case .coverage(let resets): response = coverage(of: database, resets: resets)
        case .backUp: response = .mayBackUp
        case .confirm: response = .done
        case .databases: response = .databases(existing)
        case .status: response = .status(summaries())
        case .labelRulesets(let labels, let author):
            return label(labels, by: author, for: asked, &step)
        case .simulate(let simulation):
            // With all values recorded, and on data that the request brings, it may take long.
            let (rules, root) = (database.rules, database.root)
            let time = database.commitTime(step.now)
            let work = LongWork.simulate(simulation, under: rules, on: root, at: time)
            return wait(for: work, .simulation, .single(asked), &step)
        case .get, .stream, .put, .push, .merge, .foresee:
            preconditionFailure("these are for everybody")
        }
        database.emit(.respond(asked.id, response), &step)
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
}
