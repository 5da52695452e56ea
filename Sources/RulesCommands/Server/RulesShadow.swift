package import DataCommands
package import Files
import HTTPClient
import JSONTree

/// `hearth rules shadow`: rules that are tried on live traffic beside those in force.
package enum RulesShadow {
    private static let report = DatabasePath("/.inspect/shadow")
    private static let rulesets = DatabasePath("/.settings/rulesets")
    private static let labels = DatabasePath("/.settings/ruleset_labels")

    /// Stores the rules of a file and labels them `canary`.
    package static func push(
        _ file: String,
        to database: RemoteDatabase,
        author: String?,
    ) throws(CommandError) -> CommandOutcome {
        let checked = CheckedFile(file)
        let findings = checked.texts.joined(separator: "\n")
        guard checked.errors.isEmpty else { return .failed(findings) }
        let request = database.request(.post, rulesets, body: .bytes(checked.bytes))
        let response = try database.send(request)
        if response.status == 400, let faults = checked.texts(ofRefusal: response.body) {
            return .failed(faults)
        }
        guard response.isSuccess else { throw database.refusal(request, response) }
        guard let id = try object(response.body, database)["id"].string else {
            throw .failed("\(database.place) stores no rulesets: is it another kind of server?")
        }
        try setCanary(id, of: database, author: author)
        return .done(
            "\(file): tried as shadow rules \(id) at \(database.place); 'hearth rules shadow status' tells "
                + "what they would change",
            errors: findings
        )
    }

    /// Takes the label `canary` away.
    package static func stop(
        _ database: RemoteDatabase,
        author: String?,
    ) throws(CommandError) -> CommandOutcome {
        let before = try setCanary(nil, of: database, author: author)
        guard let before else { return .done("\(database.place) has no shadow rules") }
        return .done("shadow rules \(before) are no longer tried at \(database.place)")
    }

    /// Tells how the shadow rules compare; exit code 1 when they differ, 2 when there are none.
    package static func status(
        of database: RemoteDatabase,
        isJSON: Bool,
    ) throws(CommandError) -> CommandOutcome {
        let body = try database.perform(database.request(.get, report)).body
        guard let comparison = ShadowComparison(try object(body, database)) else {
            throw .failed("\(database.place) tells nothing of shadow rules: is it an older server?")
        }
        let text = String(decoding: body, as: UTF8.self)
        guard comparison.candidate != nil else {
            let words =
                "\(database.place) has no shadow rules ('hearth rules shadow push' tries some)"
            return CommandOutcome(
                output: isJSON ? text : "",
                errors: isJSON ? "" : "error: \(words)",
                exitCode: 2
            )
        }
        return CommandOutcome(
            output: isJSON ? text : comparison.text(at: database.place),
            errors: "",
            exitCode: comparison.differs ? 1 : 0,
        )
    }

    /// Begins to count anew.
    package static func reset(_ database: RemoteDatabase) throws(CommandError) -> CommandOutcome {
        try database.clearInspection(report)
        return .done("what the shadow rules have found is forgotten at \(database.place)")
    }

    /// Labels a stored ruleset `canary`, or none, and leaves the other label as it is.
    ///
    /// - Returns: what had the label before.
    @discardableResult
    private static func setCanary(
        _ id: String?,
        of database: RemoteDatabase,
        author: String?
    ) throws(CommandError) -> String? {
        let present = try object(database.perform(database.request(.get, labels)).body, database)
        let wanted = [("stable", present["stable"].string), ("canary", id)]
        let members = wanted.compactMap { name, id in id.map { (name, $0) } }
        var body: [UInt8] = [UInt8(ascii: "{")]
        for (index, (name, id)) in members.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += Array("\"\(name)\":".utf8)
            appendJSONString(id, to: &body)
        }
        body.append(UInt8(ascii: "}"))
        let parameters = author.map { [(name: "author", value: $0)] } ?? []
        try database.perform(database.request(.put, labels, parameters, body: .bytes(body)))
        return present["canary"].string
    }

    private static func object(
        _ body: [UInt8],
        _ database: RemoteDatabase
    ) throws(CommandError) -> Node {
        do throws(JSONError) { return try Node(json: body) } catch {
            throw .failed("what \(database.place) answers is no JSON: it is no database")
        }
    }
}
