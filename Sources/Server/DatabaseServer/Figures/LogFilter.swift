import JSONTree
import Logging
import Transport

/// Which lines of the log are asked for: `level=warning&text=disk&database=main&after=120&limit=200`.
struct LogFilter: Equatable, Sendable {
    /// The least level.
    var level = Logger.Level.trace
    /// In the message or a field; lower case.
    var text: String?
    var database: String?
    /// Later than the line with this number.
    var after: UInt64 = 0
    var limit = standardLimit

    static let standardLimit = 500
    static let limits = 1...2_000

    init() {}

    init(_ query: [(name: String, value: String)]) throws(BadRequest) {
        for (name, value) in query where !value.isEmpty {
            switch name {
            case "level":
                guard let level = Logger.Level(rawValue: value) else {
                    let all = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                    throw BadRequest("'level' must be one of \(all)")
                }
                self.level = level
            case "text": text = value.lowercased()
            case "database": database = value
            case "after":
                guard let number = UInt64(value) else {
                    throw BadRequest("'after' must be the number of a line")
                }
                after = number
            case "limit":
                guard let number = Int(value), Self.limits.contains(number) else {
                    throw BadRequest("'limit' must be a number from 1 to \(Self.limits.upperBound)")
                }
                limit = number
            default: break
            }
        }
    }

    /// Whether a line is asked for.
    func accepts(_ line: KeptLine) -> Bool {
        if line.level < level { return false }
        if let database, !line.metadata.contains(where: { $0 == ("database", database) }) {
            return false
        }
        guard let text else { return true }
        return line.message.lowercased().contains(text)
            || line.metadata.contains { $0.value.lowercased().contains(text) }
    }

    /// The newest lines that are asked for, the oldest of them first, and the number from which to go on.
    func answer(_ ring: LogRing) -> JSONValue {
        let (lines, last) = ring.lines(after: after)
        let found = lines.filter(accepts).suffix(limit).map { line -> JSONValue in
            [
                "number": .number(line.number), "time": .integer(line.time),
                "level": .string(line.level.rawValue), "message": .string(line.message),
                "metadata": .object(
                    line.metadata.map { JSONValue.Member($0.key, .string($0.value)) }
                ),
            ]
        }
        return ["lines": .list(Array(found)), "last": .number(last)]
    }
}

extension FigureService {
    /// `/.inspect/log.json`: the newest lines of the log.
    func answerLog(_ pending: PendingExchange) throws(BadRequest) {
        let filter = try LogFilter(pending.exchange.head.query)
        server.requests.asAdministrator(pending) { [self] in
            let ring = server.lines
            let isTaken = workers.values.perform {
                HTTPResponse.json(of: filter.answer(ring))
            } then: { [self] in
                finish(pending, $0)
            }
            if !isTaken { finish(pending, .error(503, "Too much is being read.")) }
        }
    }

    /// `/.inspect/settings.json`: each setting in force, and where it comes from. Secrets are in files, and not here.
    func answerSettings(_ pending: PendingExchange) {
        server.requests.asAdministrator(pending) { [self] in
            let settings = configuration.settingsInForce.map(\.json)
            finish(
                pending,
                .json(of: [
                    "settings": .list(settings),
                    "file": configuration.settingsFile.map { .string($0) },
                    "warnings": .list(configuration.warnings.map { .string($0) }),
                ])
            )
        }
    }
}
