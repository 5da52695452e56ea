import DatabaseCore
import JSONTree
import SecurityRules
import Tokens
import Transport

/// Who changes rules, and which ones: the parameters of such a request.
enum RulesAuthor {
    /// The name of an admin whose credential names nobody.
    static let admin = "admin"

    /// Reads `author`: some printable characters.
    static func read(_ text: String) throws(BadRequest) -> String {
        let isPrintable = text.unicodeScalars.allSatisfy {
            $0.properties.generalCategory.isPrintable
        }
        guard isPrintable, text.contains(where: { !$0.isWhitespace }) else {
            throw BadRequest("'author' must be a name of printable characters")
        }
        guard text.utf8.count <= Limits.authorByteCount else {
            throw BadRequest("'author' must have at most \(Limits.authorByteCount) bytes")
        }
        return text
    }

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

extension Unicode.GeneralCategory {
    /// Whether its characters show, or separate words in a line.
    fileprivate var isPrintable: Bool {
        switch self {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
            .paragraphSeparator:
            false
        default: true
        }
    }
}

/// The history of a database's own rules.
extension Server {
    /// What a request to replace rules asks for.
    func rulesChange(_ parameters: RESTParameters) -> RulesChange {
        var change = RulesChange(author: rulesAuthor(of: parameters))
        change.isDryRun = parameters.isDryRun
        change.expectedVersion = parameters.expectedVersion
        return change
    }

    /// Who makes the change of a request, if it turns out that they may: who the request names, else whom its
    /// credential is of.
    func rulesAuthor(of parameters: RESTParameters) -> String {
        parameters.author ?? administrator(parameters.token)
    }
}

extension SettingsRoute {
    /// Whether it is of the history of the rules, which is read apart.
    var isHistory: Bool {
        switch self {
        case .rulesHistory, .rulesVersion: true
        case .rulesets, .ruleset, .rulesetLabels, .defaultWriteSizeLimit, .strictTriggerValidation:
            false
        }
    }
}

extension RESTAnswer {
    /// The header that tells which version of the rules a replacement left in force.
    static let rulesVersionHeader = "Rules-Version"

    /// The list of versions, the newest first, with what is in force without them; or the text of one of them.
    static func rulesHistory(
        _ versions: [RulesVersion],
        _ route: SettingsRoute?,
        _ fallback: RulesFallback?
    ) -> HTTPResponse {
        guard case .rulesVersion(let number) = route else {
            return rulesHistory(versions, fallback)
        }
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
        return json(Array(text.utf8))
    }

    private static func rulesHistory(
        _ versions: [RulesVersion],
        _ fallback: RulesFallback?
    ) -> HTTPResponse {
        var body = Array("{\"versions\":[".utf8)
        for version in versions.reversed() {
            if body.last == UInt8(ascii: "}") { body.append(UInt8(ascii: ",")) }
            append(version, isInForce: version.number == versions.last?.number, to: &body)
        }
        body.append(UInt8(ascii: "]"))
        if let fallback {
            body += Array(",\"withoutOwn\":".utf8)
            fallback.append(to: &body)
        }
        body.append(UInt8(ascii: "}"))
        return json(body)
    }

    private static func append(
        _ version: RulesVersion,
        isInForce: Bool,
        to body: inout [UInt8]
    ) {
        body += Array("{\"number\":\(version.number),".utf8)
        appendTimeAndAuthor(of: version, to: &body)
        body += Array(",\"inForce\":\(isInForce),\"bytes\":\(version.byteCount)".utf8)
        if version.text == nil { body += Array(",\"detached\":true".utf8) }
        body.append(UInt8(ascii: "}"))
    }

    private static func appendTimeAndAuthor(of version: RulesVersion, to body: inout [UInt8]) {
        let time = version.time.map { "\($0.milliseconds)" } ?? "null"
        body += Array("\"time\":\(time),\"author\":".utf8)
        if let author = version.author {
            appendJSONString(author, to: &body)
        } else {
            body += Array("null".utf8)
        }
    }

    /// The rules are replaced.
    static func rulesPut(version: Int) -> HTTPResponse {
        var response = json(Array("{\"status\":\"ok\"}".utf8))
        response.headers.append((name: rulesVersionHeader, value: "\(version)"))
        return response
    }

    /// Somebody else's version is in force: which one, since when, and whose.
    static func rulesMismatch(_ present: RulesVersion?) -> HTTPResponse {
        var body = Array("{\"error\":".utf8)
        guard let present else {
            appendJSONString("The database has no version of its rules.", to: &body)
            body += Array(",\"number\":0}".utf8)
            return json(body, status: 412)
        }
        var text = "The rules are at version \(present.number)"
        if let time = present.time { text += " since \(ISO8601.text(of: time.milliseconds))" }
        if let author = present.author { text += ", by \(author)" }
        appendJSONString(text + ".", to: &body)
        body += Array(",\"number\":\(present.number),".utf8)
        appendTimeAndAuthor(of: present, to: &body)
        body.append(UInt8(ascii: "}"))
        return json(body, status: 412)
    }
}
