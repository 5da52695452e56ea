import DatabaseCore
import IdentityToolkit
import JSONTree
import Logging

/// Where the rules of a database come from while it has none of its own.
enum RulesFallback: Equatable {
    case file(String)
    /// The sample rules, compiled in.
    case samples
    /// Nothing is configured: everything is allowed in development, nothing in production.
    case none(isOpen: Bool)

    /// Databases whose rules are named one by one, in the log and by a check.
    static let shownDatabaseLimit = 100

    /// For people, as a noun.
    var text: String {
        switch self {
        case .file(let path): "the file \(path)"
        case .samples: "the sample rules"
        case .none(isOpen: true): "none: open to everybody"
        case .none(isOpen: false): "none: everything is denied"
        }
    }

    /// For programs: `{"source":"file","file":"rules.json"}`, `{"source":"samples"}`, `{"source":"open"}` or `"closed"`.
    var json: JSONValue {
        switch self {
        case .file(let path): ["source": "file", "file": .string(path)]
        case .samples: ["source": "samples"]
        case .none(let isOpen): ["source": isOpen ? "open" : "closed"]
        }
    }
}

extension Configuration {
    /// Which rules a database has while it has none of its own.
    func rulesFallback(of database: DatabaseID) -> RulesFallback {
        let named = databases.first { $0.name.text == database.name }
        if let path = named?.rulesFile { return .file(path) }
        if sampleDatabases.contains(where: { $0.rawValue == database.name }) { return .samples }
        return rulesFallback
    }

    /// Which rules a database has that nothing names.
    var rulesFallback: RulesFallback {
        if let path = rulesFile { return .file(path) }
        return .none(isOpen: mode == .development)
    }
}

extension RulesVersion {
    /// For people: `version 3 of its own, put in force at 2026-01-31T23:59:59.999Z by ann`.
    var inForceText: String {
        var text = "version \(number) of its own"
        guard let time else { return text }
        text += ", put in force at \(ISO8601.text(of: time.milliseconds))"
        if let author { text += " by \(author)" }
        return text
    }
}

/// Which rules a database has, or files, and why. The log, a check and the history say it in these words.
struct RulesInForce {
    /// What has the rules, and the command that goes back to the file.
    private let subject: String
    private let detaching: String
    /// The version of its own that is in force; nil when it has no rules of its own.
    let own: RulesVersion?
    /// What counts without rules of its own.
    let fallback: RulesFallback

    /// As a noun: `version 3 of its own, put in force at ... by ann`, `the file rules.json`.
    var text: String { own?.inForceText ?? fallback.text }

    /// The configured file that is not used, with what goes back to it; nil when none is passed over.
    var unusedFileText: String? {
        guard let own, case .file(let path) = fallback else { return nil }
        return
            "\(path) is not used by \(subject) (version \(own.number)); '\(detaching)' goes back to the file"
    }

    init(database: DatabaseID, own: RulesVersion?, fallback: RulesFallback) {
        subject = "database \(database), which has rules of its own"
        detaching = "hearth rules detach --instance \(database)"
        (self.own, self.fallback) = (own, fallback)
    }

    /// Of files: of every bucket that has no rules file of its own.
    init(filesOwn own: RulesVersion?, fallback: RulesFallback) {
        subject = "buckets, which have rules of their own"
        detaching = "hearth rules detach --files"
        (self.own, self.fallback) = (own, fallback)
    }
}

/// Which rules are in force, for the log.
extension AdminService {
    /// Says for each database which rules are in force, and which configured file is not used.
    func logRulesInForce() {
        let databases = engine.summaries()
        let shown = databases.prefix(RulesFallback.shownDatabaseLimit)
        for database in shown { logRulesInForce(database) }
        let more = databases.count - shown.count
        if more > 0 {
            log.notice("rules in force: \(more) more databases; 'hearth rules history' tells")
        }
    }

    /// Says the same for the databases that would have the rules of a file that was read again.
    func logRulesInForce(from path: String) {
        let concerned = engine.summaries().filter {
            configuration.rulesFallback(of: $0.database) == .file(path)
        }
        for database in concerned.prefix(RulesFallback.shownDatabaseLimit) {
            logRulesInForce(database)
        }
    }

    /// What to say of configured files that are not used; of a hundred databases at most.
    var unusedRulesFiles: [String] {
        let texts = engine.summaries().lazy.compactMap { [self] database in
            rulesInForce(of: database).unusedFileText
        }
        return Array(texts.prefix(RulesFallback.shownDatabaseLimit))
    }

    private func rulesInForce(of database: DatabaseSummary) -> RulesInForce {
        RulesInForce(
            database: database.database,
            own: database.ownRules,
            fallback: configuration.rulesFallback(of: database.database)
        )
    }

    private func logRulesInForce(_ database: DatabaseSummary) {
        let inForce = rulesInForce(of: database)
        let metadata: Logger.Metadata = ["database": "\(database.database.name)"]
        log.notice("rules in force: \(inForce.text)", metadata: metadata)
        if let text = inForce.unusedFileText { log.warning("\(text)", metadata: metadata) }
    }
}
