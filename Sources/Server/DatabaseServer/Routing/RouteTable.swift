import DatabaseCore
import IdentityToolkit
import JSONTree
import Transport

/// Every address of the server, and what answers there: all that routing is.
///
/// An address below a first segment that begins with a dot, and any that does not end in `.json`, is looked up by its
/// first segment; then it may be an identity request. All others are locations in the tree.
struct RouteTable: Sendable {
    static let shared = RouteTable()

    private let byFirstSegment: [String: [Route]]
    private let byIdentityMethod: [IdentityMethod: Route]
    /// Every row: those of addresses, that of no address, and those of identity requests in order of their patterns.
    let all: [Route]

    private init() {
        byFirstSegment = Dictionary(
            grouping: Self.rows.filter { $0.firstSegment != nil && $0.service != .files },
            by: { $0.firstSegment ?? "" }
        )
        byIdentityMethod = Dictionary(
            uniqueKeysWithValues: IdentityMethod.allCases.map { ($0, Self.identity($0)) }
        )
        all =
            Self.rows + [Self.unknown]
            + byIdentityMethod.values.sorted { $0.pattern < $1.pattern }
    }

    /// The row of an address, by its segments, percent-decoded each by itself, empty ones dropped.
    func match(_ segments: [String]) -> (route: Route, location: Route.Location) {
        let first = segments.first ?? ""
        let isData = segments.last?.hasSuffix(Self.suffix) == true
        if let route = Self.file(segments, isData: isData) { return (route, .none) }
        if !isData || first.utf8.first == UInt8(ascii: ".") {
            for route in byFirstSegment[first] ?? [] {
                if let location = route.location(of: segments) { return (route, location) }
            }
            // Tools that guess at settings get the error of an unknown setting, not that of an unknown address.
            if Self.namesOfSettings.contains(first) { return (Self.data, .impossible) }
        }
        if isData { return Self.location(segments) }
        if let identity = IdentityRoute(segments) {
            return (byIdentityMethod[identity.method] ?? Self.unknown, .identity(identity))
        }
        guard segments.last == ".upload" else {
            return (Self.isPlainFile(segments) ? Self.plainFile : Self.unknown, .none)
        }
        guard let path = Self.path(of: segments, and: "") else { return (Self.data, .impossible) }
        return (Self.upload, .target(WriteTarget(path: path, isPriority: false)))
    }

    private static let namesOfSettings: Set = [".settings", ".inspect", ".accounts"]

    // MARK: - Locations in the tree

    private static let suffix = ".json"

    /// The row of the tree, for an address that ends in `.json`.
    static func location(_ segments: [String]) -> (route: Route, location: Route.Location) {
        (data, location(in: segments))
    }

    private static func location(in segments: [String]) -> Route.Location {
        let name = (segments.last ?? "").dropLast(suffix.utf8.count)
        let isPriority = name == ".priority"
        guard let path = path(of: segments, and: isPriority ? "" : String(name)) else {
            return .impossible
        }
        return .target(WriteTarget(path: path, isPriority: isPriority))
    }

    /// The path of all segments but the last one, and the name in that one, if any; nil for one that
    /// no tree can hold. A slash that was encoded within a segment is no separator: no key can hold it.
    private static func path(of segments: [String], and name: String) -> Path? {
        do throws(PathError) {
            var keys: [Key] = []
            keys.reserveCapacity(segments.count)
            for index in 0..<segments.count - 1 { keys.append(try Key(segments[index])) }
            // The value of a node is written and read at the node itself.
            if !name.isEmpty, name != ".value" { keys.append(try Key(name)) }
            return keys.count <= Limits.depth ? Path(keys) : nil
        } catch {
            return nil
        }
    }

    // MARK: - Rows

    /// All rows but those of identity requests.
    static let rows: [Route] =
        [[data, upload], sockets, others, files, settings, inspection, accounts, emulator]
        .flatMap { $0 }

    static let data = Route(
        "/{path}.json",
        .only(.get, .head, .put, .post, .patch, .delete),
        for: .rules,
        of: .data,
        body: .inParts,
        .ask { server, pending throws(BadRequest) in try server.data.ask(pending) }
    )

    private static let upload = setting("/{path}/.upload", .only(.post)) { $0.upload($1) }

    /// What no row names.
    static let unknown = Route(
        "/{address...}",
        .mainly(.get, .head),
        for: .everybody,
        of: .data,
        .answer { $0.requests.answer($1, RequestService.unknownAddress) }
    )

    private static let sockets = [
        session(
            "/.ws",
            .socket(admit: { _, _, _ in .accept() }, open: { $0.sockets.openWire($1, $2, $3) })
        ),
        session(
            "/.events",
            .socket(
                admit: { $0.sockets.admitEvents($1, $2) },
                open: { $0.sockets.openEvents($1, $2, $3) }
            )
        ),
        // Its client takes scripts alone, so it answers by itself while the server stops.
        session("/.lp", whileStopping: true, .answer { $0.sockets.receivePoll($1) }),
    ]

    private static let others = [
        health("/") { $0.emulator.answerRoot($1) },
        health("/.health/live", whileStopping: true) {
            $0.requests.answer($1, .plain(200, "live\n"))
        },
        health("/.health/ready", whileStopping: true) { $0.requests.answerReadiness($1) },
        health(OwnerQuestion.path) { $0.answerCommits($1) },
        Route(
            "/.samples/{page...}",
            .mainly(.get, .head),
            for: .development,
            of: .pages,
            .answer { $0.requests.answerSamplePage($1) }
        ),
        Route(
            "/.console/session.json",
            .only(.get, .post, .delete),
            for: .everybody,
            of: .pages,
            body: .short(byteLimit: ConsoleService.bodyByteLimit),
            changes: .never,
            .answer { $0.console.answerSession($1) }
        ),
        Route(
            "/.console/{page...}",
            .mainly(.get, .head),
            for: .everybody,
            of: .pages,
            .answer { $0.console.answerPage($1) }
        ),
        admin("/.backup", .only(.get), isSecret: true, .answer { $0.admin.askForAll($1, .backUp) }),
        admin(
            "/.backup/blobs.json",
            .only(.get),
            .forAdministrator { $0.fileService.answerBlobs($1) }
        ),
        admin(
            "/.backup/blobs/{hash}",
            .only(.get),
            isSecret: true,
            .forAdministrator { $0.fileService.answerBlob($1) }
        ),
        admin(
            "/.metrics",
            .only(.get, .head),
            whileFollowing: true,
            .ask { $0.requests.submit(.status, $1) }
        ),
    ]

    private static let settings = [
        setting(
            "/.settings/rules.json",
            .only(.get, .head, .put, .delete),
            changes: .unlessDryRun
        ) { $0.askForRules($1) },
        setting("/.settings/rules_history.json", .only(.get, .head)) { $0.askForHistory($1) },
        setting("/.settings/rules_history/{number}.json", .only(.get, .head)) {
            $0.askForHistory($1)
        },
        setting("/.settings/rules_check.json", .only(.post), changes: .never) {
            $0.askForFindings($1)
        },
        setting("/.settings/rulesets.json", .only(.get, .head, .post)) { $0.askForRulesets($1) },
        setting("/.settings/rulesets/{id}.json", .only(.get, .head)) { $0.askForRulesets($1) },
        setting("/.settings/ruleset_labels.json", .only(.get, .head, .put)) {
            $0.askForLabels($1)
        },
        setting("/.settings/defaultWriteSizeLimit.json", .only(.get, .head, .put)) {
            $0.askForSetting(.defaultWriteSizeLimit, $1)
        },
        setting("/.settings/strictTriggerValidation.json", .only(.get, .head, .put)) {
            $0.askForSetting(.strictTriggerValidation, $1)
        },
        setting("/.simulate", .only(.post), changes: .never) { $0.simulate($1) },
    ]

    private static let inspection = [
        inspect("/.inspect/requests", .only(.get, .head, .delete), .requests(.page)),
        inspect("/.inspect/requests.json", .only(.get, .head, .delete), .requests(.json)),
        inspect("/.inspect/coverage", .only(.get, .head, .delete), .coverage(.page)),
        inspect("/.inspect/coverage.json", .only(.get, .head, .delete), .coverage(.json)),
        inspect("/.inspect/shadow.json", .only(.get, .head, .delete), .shadow),
        inspect("/.inspect/level.json", .only(.get, .head, .put), .level),
        figure("/.inspect/state.json", .only(.get, .head)) { $0.figures.answerState($1) },
        figure("/.inspect/history.json", .only(.get, .head)) { $0.figures.answerHistory($1) },
        figure("/.inspect/log.json", .only(.get, .head)) { server, pending throws(BadRequest) in
            try server.figures.answerLog(pending)
        },
        admin(
            "/.inspect/cluster.json",
            .only(.get, .head),
            of: .inspection,
            whileFollowing: true,
            .ask { $0.answerCluster($1) }
        ),
        admin(
            "/.settings/cluster/handover.json",
            .only(.post),
            .forAdministrator { $0.handOver($1) }
        ),
        figure("/.inspect/settings.json", .only(.get, .head)) { $0.figures.answerSettings($1) },
        figure("/.inspect/connections.json", .only(.get, .head)) {
            server,
            pending throws(BadRequest) in
            try server.sockets.answerConnections(pending)
        },
        figure("/.inspect/connections/{id}.json", .only(.delete)) { $0.sockets.answerEnd($1) },
        figure("/.inspect/database_figures.json", .only(.get, .head)) {
            $0.admin.answerDatabaseFigures($1)
        },
        figure(
            "/.inspect/backup_check.json",
            .only(.post),
            body: .afterAdmission,
            changes: .never
        ) { $0.admin.checkBackup($1) },
        admin(
            "/.inspect/search",
            .only(.get),
            of: .inspection,
            .ask { server, pending throws(BadRequest) in try server.search.ask(pending) }
        ),
        admin(
            "/.inspect/size.json",
            .only(.get, .head),
            of: .inspection,
            .ask { server, pending throws(BadRequest) in try server.search.askSize(pending) }
        ),
        admin(
            "/.inspect/databases.json",
            .only(.get, .head, .post),
            of: .inspection,
            .answer { $0.admin.listDatabases($1) }
        ),
        admin(
            "/.inspect/audit.json",
            .only(.get, .head),
            of: .inspection,
            .forAdministrator { $0.audit.answerEntries($1) }
        ),
        admin(
            "/.settings/profile.json",
            .only(.get),
            of: .inspection,
            .ask { server, pending throws(BadRequest) in try server.profiler.ask(pending) }
        ),
    ]

    private static let accounts = [
        account("/.well-known/jwks.json", .only(.get, .head), for: .everybody) {
            $0.answerPublicKeys($1)
        },
        account("/token", .only(.post), for: .everybody) { $0.receiveAssertion($1) },
        identity(.actionPage, at: "/.accounts/action", location: .identity(.actionPage)),
        account("/.accounts/service-accounts.json", .only(.get, .post)) {
            $0.answerServiceAccounts($1)
        },
        account("/.accounts/service-accounts/{name}.json", .only(.delete)) {
            $0.revokeServiceAccount($1)
        },
        account("/.accounts/keys.json", .only(.get, .post)) { $0.answerKeys($1) },
        account("/.accounts/realm.json", .only(.get, .head)) { $0.answerRealm($1) },
    ]

    /// The emulator hub, as firebase-tools has it (`emulator/hub.ts`). Functions that run on changes are not here.
    private static let emulator = [
        hub("/emulators", .only(.get, .head)) { $0.answerEmulators($1) },
        hub("/_admin/export", .only(.post)) { $0.export($1) },
        hub("/functions/disableBackgroundTriggers", .only(.put)) {
            $0.answer($1, .json(of: ["enabled": .boolean(false)]))
        },
        hub("/functions/enableBackgroundTriggers", .only(.put)) {
            $0.answer($1, .json(of: ["enabled": .boolean(true)]))
        },
    ]

    // MARK: - Rows of a kind

    private static func health(
        _ pattern: String,
        whileStopping: Bool = false,
        _ answer: @escaping @Sendable @LoopActor (Server, HTTPExchange) -> Void
    ) -> Route {
        Route(
            pattern,
            .only(.get, .head),
            for: .everybody,
            of: .health,
            whileStopping: whileStopping,
            whileFollowing: true,
            .answer(answer)
        )
    }

    private static func session(
        _ pattern: String,
        whileStopping: Bool = false,
        _ action: Route.Action
    ) -> Route {
        Route(
            pattern,
            .mainly(.get, .head),
            for: .rules,
            of: .sockets,
            whileStopping: whileStopping,
            action
        )
    }

    private static func admin(
        _ pattern: String,
        _ methods: Route.Methods,
        of service: Route.Service = .administration,
        body: Route.Body = .whole,
        changes: Route.Changes = .byMethod,
        isSecret: Bool = false,
        whileFollowing: Bool = false,
        _ action: Route.Action
    ) -> Route {
        Route(
            pattern,
            methods,
            for: .administrators,
            of: service,
            body: body,
            changes: changes,
            isSecret: isSecret,
            whileFollowing: whileFollowing,
            action
        )
    }

    private static func setting(
        _ pattern: String,
        _ methods: Route.Methods,
        changes: Route.Changes = .byMethod,
        _ ask: @escaping @Sendable @LoopActor (AdminService, PendingExchange) -> Void
    ) -> Route {
        admin(pattern, methods, body: .afterAdmission, changes: changes, .ask { ask($0.admin, $1) })
    }

    private static func inspect(
        _ pattern: String,
        _ methods: Route.Methods,
        _ subject: InspectionSubject
    ) -> Route {
        admin(
            pattern,
            methods,
            of: .inspection,
            body: .afterAdmission,
            .ask { server, pending throws(BadRequest) in
                try server.inspection.inspect(subject, pending)
            }
        )
    }

    /// What the server knows of itself.
    private static func figure(
        _ pattern: String,
        _ methods: Route.Methods,
        body: Route.Body = .whole,
        changes: Route.Changes = .byMethod,
        _ ask: @escaping @Sendable @LoopActor (Server, PendingExchange) throws(BadRequest) -> Void
    ) -> Route {
        admin(pattern, methods, of: .inspection, body: body, changes: changes, .ask(ask))
    }

    /// Bytes of a body: an assertion in a form is the largest, and has at most `TokenLimits.tokenByteCount`.
    static let accountsBodyByteLimit = 64 * 1024
    private static let accountsBody = Route.Body.short(byteLimit: accountsBodyByteLimit)

    private static func account(
        _ pattern: String,
        _ methods: Route.Methods,
        for audience: Route.Audience = .administrators,
        _ answer: @escaping @Sendable @LoopActor (IdentityService, HTTPExchange) -> Void
    ) -> Route {
        let function: @Sendable @LoopActor (Server, HTTPExchange) -> Void = {
            answer($0.identity, $1)
        }
        return Route(
            pattern,
            methods,
            for: audience,
            of: .accounts,
            body: accountsBody,
            audience == .administrators ? .forAdministrator(function) : .answer(function)
        )
    }

    private static func hub(
        _ pattern: String,
        _ methods: Route.Methods,
        _ answer: @escaping @Sendable @LoopActor (EmulatorService, HTTPExchange) -> Void
    ) -> Route {
        let action = Route.Action.answer { answer($0.emulator, $1) }
        return Route(pattern, methods, for: .development, of: .emulator, action)
    }

    private static func identity(
        _ method: IdentityMethod,
        at pattern: String? = nil,
        location: Route.Location = .none
    ) -> Route {
        let audience: Route.Audience =
            switch method.audience {
            case .clients: .clients
            case .people: .everybody
            case .administrators: .administrators
            case .development: .development
            }
        return Route(
            pattern ?? "identity:\(method.rawValue)",
            .of(method),
            for: audience,
            of: .accounts,
            body: .identity(byteLimit: method.bodyByteLimit),
            location: location,
            changes: method.isQuestion ? .never : .byMethod,
            isSecret: method == .createSessionCookie,
            .answer { $0.identity.receive($1) }
        )
    }
}
