import DatabaseCore
import JSONTree
import Logging
import Transport

/// What databases hold and cost, and new ones.
extension AdminService {
    /// Databases that one answer shows.
    private nonisolated static let shownDatabaseLimit = 1_000
    /// Nodes that are counted for one answer, of all databases: below a second of a worker.
    private nonisolated static let countedNodeLimit = 5_000_000

    /// `/.inspect/database_figures.json`: each database with its size, rules, indexes and listens.
    func answerDatabaseFigures(_ pending: PendingExchange) {
        server.requests.asAdministrator(pending) { [self] in
            let all = engine.databaseFigures()
            let shown = all.prefix(Self.shownDatabaseLimit).map { figures in
                (figures, rules(of: figures.summary), isConfigured(figures.summary.database))
            }
            let leftOut = all.count - shown.count
            let isTaken = workers.archives.perform {
                var left = Self.countedNodeLimit
                let list = shown.map { figures, rules, isConfigured in
                    figures.json(rules: rules, isConfigured: isConfigured, nodesLeft: &left)
                }
                return HTTPResponse.json(of: [
                    "databases": .list(list), "leftOut": leftOut > 0 ? .number(leftOut) : nil,
                ])
            } then: { [self] in
                finish(pending, $0)
            }
            if !isTaken { finish(pending, .error(503, "Too much is being done; try again.")) }
        }
    }

    private func isConfigured(_ database: DatabaseID) -> Bool {
        configuration.databases.contains { $0.name.text == database.name }
    }

    /// Which rules are in force: a version of the database's own, or those of the configuration.
    private func rules(of database: DatabaseSummary) -> JSONValue {
        guard let own = database.ownRules else {
            return configuration.rulesFallback(of: database.database).json
        }
        return [
            "source": "own", "version": .number(own.number),
            "time": own.time.map { .integer($0.milliseconds) },
            "author": own.author.map { .string($0) },
        ]
    }

    // MARK: - A new one

    /// `POST /.inspect/databases.json` with `{"name":"..."}`: a new database, which development alone makes while it runs.
    func makeDatabase(_ exchange: HTTPExchange) {
        let request = ResolvedRequest.of(exchange)
        do throws(BadRequest) {
            let pending = PendingExchange(
                exchange,
                request,
                try request.parameters.get(),
                anyDatabase,
                .post
            )
            server.requests.asAdministrator(pending) { [self] in
                do throws(BadRequest) { try makeDatabase(pending) } catch {
                    finish(pending, .bad(error))
                }
            }
        } catch {
            answer(exchange, .bad(error))
        }
    }

    private func makeDatabase(_ pending: PendingExchange) throws(BadRequest) {
        let body = try Self.settingValue(pending.exchange.takeBody())
        guard let text = body.member("name").string else {
            throw BadRequest(#"The body must be an object such as {"name":"shop"}."#)
        }
        let name: DatabaseName
        do throws(DatabaseNameError) { name = try DatabaseName(text) } catch {
            throw BadRequest("The database name \(error).")
        }
        guard configuration.mode == .development else {
            let text = """
                In production the databases are those of the settings: add --database \(name.text) and \
                start the server anew.
                """
            return finish(pending, .error(403, text))
        }
        let database = DatabaseID(name.text)
        guard engine.isEmpty(database) else {
            return finish(pending, .error(409, "There is a database '\(name.text)' already."))
        }
        guard engine.serves(database) else {
            return finish(pending, .error(400, "There are as many databases as can be."))
        }
        // A database is there from its first commit on; this one says what holds in any case.
        let setting = DatabaseSetting.defaultWriteSizeLimit(
            DatabaseSettings().defaultWriteSizeLimit
        )
        server.ask(.putSetting(setting), of: database) { [self] response in
            guard case .done = response else {
                return finish(pending, .error(503, "The server takes no writes now."))
            }
            log(
                deed(
                    "a database is made",
                    pending.exchange,
                    token: pending.parameters.token,
                    database: database
                ),
                on: pending.exchange
            )
            finish(pending, .json(of: ["name": .string(name.text)]))
        }
    }
}

extension DatabaseFigures {
    /// For programs. Takes the nodes that it counts off `nodesLeft`; without any left it gives no size.
    fileprivate func json(
        rules: JSONValue,
        isConfigured: Bool,
        nodesLeft: inout Int
    ) -> JSONValue {
        let before = nodesLeft
        root.count(&nodesLeft)
        let isCounted = nodesLeft > 0
        return [
            "name": .string(summary.database.name), "isConfigured": .boolean(isConfigured),
            "bytes": isCounted ? .number(root.isAbsent ? 0 : root.encodingByteCount) : nil,
            "nodes": isCounted ? .number(before - nodesLeft) : nil,
            "commits": .number(summary.number.value), "listens": .number(summary.listenCount),
            "views": .number(summary.viewCount), "rules": rules,
            "indexes": .list(
                indexes.map { index in
                    [
                        "path": .string(index.path.description),
                        "order": .string(index.order.shownText),
                        "entries": index.entryCount.map { .number($0) },
                        "views": .number(index.viewCount),
                        "isDeclared": .boolean(index.isDeclared),
                    ]
                }
            ),
        ]
    }
}

extension Node {
    /// Takes its nodes, itself included, off `left`, no further than 0.
    fileprivate func count(_ left: inout Int) {
        if isAbsent || left <= 0 { return }
        left -= 1
        guard isMap else { return }
        visitChildren { _, child in
            child.count(&left)
            return left > 0
        }
    }
}
