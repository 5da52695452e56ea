import DatabaseCore
import IdentityToolkit
import JSONTree
import SecurityRules
import Tokens
import Transport

/// The author and the version in a request to change rules.
enum RulesAuthor {
    /// The name of an admin whose credential names no subject.
    static let admin = "admin"

    /// Reads `author`: some printable characters.
    static func read(_ text: String) throws(BadRequest) -> String {
        let isPrintable = text.unicodeScalars.allSatisfy {
            !hiddenCategories.contains($0.properties.generalCategory)
        }
        guard isPrintable, text.contains(where: { !$0.isWhitespace }) else {
            throw BadRequest("'author' must be a name of printable characters")
        }
        guard text.utf8.count <= Limits.authorByteCount else {
            throw BadRequest("'author' must have at most \(Limits.authorByteCount) bytes")
        }
        return text
    }

    /// Of characters that neither show nor separate words in a line.
    private static let hiddenCategories: Set<Unicode.GeneralCategory> = [
        .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
        .paragraphSeparator,
    ]

    /// Reads `expectedVersion`: 0, or the number of a version.
    static func version(_ text: String) throws(BadRequest) -> Int {
        guard text.utf8.count <= 15, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let version = Int(text)
        else {
            throw BadRequest(
                "'expectedVersion' must be the number of a version of the rules, or 0 for none"
            )
        }
        return version
    }
}

/// The history of a database's own rules.
extension AdminService {
    /// The list of versions, or one of them, as it was sent.
    func askForHistory(_ pending: PendingExchange) {
        if pending.parameters.isForFiles {
            let number = Int(pending.request.name)
            let ask = number.map { FileRulesAsk.version($0) } ?? FileRulesAsk.history
            pending.subject = .fileRules(ask)
            return submit(.inspect, pending)
        }
        if let number = Int(pending.request.name) {
            pending.subject = .rulesVersion(number)
        } else {
            pending.subject = .rulesHistory(configuration.rulesFallback(of: pending.database))
        }
        submit(.getRulesHistory, pending)
    }

    /// What a request to replace rules asks for.
    func rulesChange(_ pending: PendingExchange) -> RulesChange {
        let parameters = pending.parameters
        var change = RulesChange(author: rulesAuthor(of: pending))
        change.isDryRun = parameters.isDryRun
        change.expectedVersion = parameters.expectedVersion
        return change
    }

    /// The author of the change of a request: the one that the request names, else the subject of its credential.
    func rulesAuthor(of pending: PendingExchange) -> String {
        let parameters = pending.parameters
        return parameters.author ?? administrator(of: pending.exchange, token: parameters.token)
    }
}

extension HTTPResponse {
    /// The header that says which version of the rules a replacement left in force.
    static let rulesVersionHeader = "Rules-Version"

    /// The text of one of the versions.
    static func rules(
        _ versions: [RulesVersion],
        number: Int,
        isForFiles: Bool = false
    ) -> HTTPResponse {
        guard let version = versions.first(where: { $0.number == number }) else {
            let range =
                versions.first.flatMap { first in
                    versions.last.map { "they are \(first.number) to \($0.number)" }
                } ?? "there are none"
            return error(404, "There is no version \(number) of these rules: \(range).")
        }
        guard let text = version.text else {
            return error(404, "Version \(number) is that of no rules of its own.")
        }
        return isForFiles ? fileRules(text) : json(Array(text.utf8))
    }

    /// The text of rules for files.
    static func fileRules(_ text: String) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: headers(type: "text/plain; charset=utf-8"),
            body: Array(text.utf8)
        )
    }

    /// The list of versions, the newest first, with what is in force, and what would be without them. The newest counts
    /// while it has a text.
    static func rulesHistory(
        _ versions: [RulesVersion],
        _ inForce: RulesInForce,
        isForFiles: Bool = false
    ) -> HTTPResponse {
        let list = versions.reversed().map { version -> JSONValue in
            [
                "number": .number(version.number), "time": time(of: version),
                "author": author(of: version),
                "inForce": .boolean(version.number == versions.last?.number),
                "bytes": .number(version.byteCount),
                "detached": version.text == nil ? .boolean(true) : nil,
            ]
        }
        return json(of: [
            "service": isForFiles ? "files" : nil,
            "versions": .list(list), "withoutOwn": inForce.fallback.json,
            "inForce": .string(inForce.text),
            "notUsed": inForce.unusedFileText.map { .string($0) },
        ])
    }

    private static func time(of version: RulesVersion) -> JSONValue {
        version.time.map { .integer($0.milliseconds) } ?? .null
    }

    private static func author(of version: RulesVersion) -> JSONValue {
        version.author.map { .string($0) } ?? .null
    }

    static func rulesPut(version: Int) -> HTTPResponse {
        statusOK.adding(rulesVersionHeader, "\(version)")
    }

    /// Another version is in force than the request expects: which one, since when, and whose.
    static func rulesMismatch(
        _ present: RulesVersion?,
        of owner: String = "database"
    ) -> HTTPResponse {
        guard let present else {
            let text = "The \(owner) has no version of its rules."
            return json(of: ["error": .string(text), "number": .integer(0)], status: 412)
        }
        var text = "The rules are at version \(present.number)"
        if let time = present.time { text += " since \(ISO8601.text(of: time.milliseconds))" }
        if let author = present.author { text += ", by \(author)" }
        let body: JSONValue = [
            "error": .string(text + "."), "number": .number(present.number),
            "time": time(of: present), "author": author(of: present),
        ]
        return json(of: body, status: 412)
    }
}
