package import DataCommands
package import Files
import HTTPClient
import JSONTree
import SecurityRules

/// The commands that change the rules of a database on a server, or copy them from there.
package enum RulesPublishing {
    private static let address = DatabasePath("/.settings/rules")

    /// What tells which version a change left in force.
    private static let versionHeader = "rules-version"

    /// How a change is made.
    package struct Choice: Sendable {
        /// Only ask the server whether it would take the rules.
        package var isDryRun = false
        /// Who makes it; nil leaves it to the server.
        package var author: String?
        /// The version that must be in force; nil for any.
        package var expectedVersion: Int?

        package init() {}

        fileprivate var parameters: [(name: String, value: String)] {
            var parameters: [(name: String, value: String)] = []
            if let author { parameters.append(("author", author)) }
            if let expectedVersion {
                parameters.append(("expectedVersion", "\(expectedVersion)"))
            }
            if isDryRun { parameters.append(("dryRun", "true")) }
            return parameters
        }
    }

    /// Puts the rules of a file in force, once they load here.
    package static func push(
        _ file: String,
        to database: RemoteDatabase,
        _ choice: Choice,
    ) throws(CommandError) -> CommandOutcome {
        let checked = CheckedFile(file)
        let findings = checked.texts.joined(separator: "\n")
        guard checked.errors.isEmpty else { return .failed(findings) }
        let rules = try PublishedRules(of: database)
        let before = rules.versions.first
        var request = database.request(
            .put,
            address,
            choice.parameters,
            body: .bytes(checked.bytes)
        )
        request.headers.append("Content-Type: application/json")
        let response = try database.send(request)
        if response.status == 400, let faults = checked.texts(ofRefusal: response.body) {
            return .failed(faults)
        }
        guard response.isSuccess else { throw database.refusal(request, response) }
        let output: String
        if choice.isDryRun {
            output = "\(file): \(database.place) would take it; nothing is changed"
        } else {
            output = said("pushed \(file)", response, before, database) + rules.unusedFileText
        }
        return .done(output, errors: findings)
    }

    /// Takes its own rules away from a database: the server's default rules are in force.
    package static func detach(
        from database: RemoteDatabase,
        _ choice: Choice,
    ) throws(CommandError) -> CommandOutcome {
        let rules = try PublishedRules(of: database)
        let fallback = rules.fallback.map { "; in force: \($0.text)" } ?? ""
        let request = database.request(.delete, address, choice.parameters)
        let response = try database.perform(request)
        if choice.isDryRun {
            let those = rules.fallback?.text ?? "the server's default rules"
            return .done("\(database.place) would have these rules: \(those); nothing is changed")
        }
        return .done(said("detached", response, rules.versions.first, database) + fallback)
    }

    /// Copies rules to a file or standard output: those in force, or an earlier version.
    package static func pull(
        from database: RemoteDatabase,
        version: Int?,
        isStrict: Bool,
        to output: String?,
    ) throws(CommandError) {
        let path =
            version.map { DatabasePath(PublishedVersion.address.description + "/\($0)") } ?? address
        try database.copySetting(path, isStrict ? [("format", "strict")] : [], to: output)
        if version == nil, let text = try PublishedRules(of: database).inForceText {
            database.say(text)
        }
    }

    /// Puts an earlier version in force again, as a new one.
    ///
    /// Another change meanwhile makes it fail, with nothing changed.
    package static func rollBack(
        to number: Int,
        of database: RemoteDatabase,
        author: String?,
    ) throws(CommandError) -> CommandOutcome {
        let rules = try PublishedRules(of: database)
        let versions = rules.versions
        guard let version = versions.first(where: { $0.number == number }) else {
            throw .failed(unknown(number, versions, database))
        }
        var choice = Choice()
        choice.author = ChangeAuthor.with("rollback to \(number)", author)
        choice.expectedVersion = versions.first?.number ?? 0
        let request: HTTPRequest
        if version.isDetached {
            request = database.request(.delete, address, choice.parameters)
        } else {
            let path = DatabasePath(PublishedVersion.address.description + "/\(number)")
            let text = try database.perform(database.request(.get, path)).body
            request = database.request(.put, address, choice.parameters, body: .bytes(text))
        }
        let response = try database.perform(request)
        let what = version.isDetached ? "detached, as in version" : "rolled back to version"
        let fallback = rules.fallback.map { "; in force: \($0.text)" } ?? ""
        return .done(
            said("\(what) \(version.shown)", response, versions.first, database)
                + (version.isDetached ? fallback : rules.unusedFileText)
        )
    }

    // MARK: - Words

    /// `pushed rules.json: version 7 is in force at http://127.0.0.1:9000 (demo); it was 6 (by ann, ...)`.
    private static func said(
        _ what: String,
        _ response: HTTPResponse,
        _ before: PublishedVersion?,
        _ database: RemoteDatabase
    ) -> String {
        guard let version = response.headers[versionHeader].flatMap({ Int($0) }) else {
            return "\(what): \(database.place)"
        }
        if version == before?.number ?? 0 {
            let present = before.map { "version \($0.shown)" } ?? "no rules of its own"
            return "\(what): nothing is changed, \(present) was in force at \(database.place)"
        }
        let was = before.map { "; it was \($0.shown)" } ?? ""
        return "\(what): version \(version) is in force at \(database.place)\(was)"
    }

    private static func unknown(
        _ number: Int,
        _ versions: [PublishedVersion],
        _ database: RemoteDatabase
    ) -> String {
        guard let last = versions.first, let first = versions.last else {
            return "there is no version \(number): \(database.place) keeps none"
        }
        return "there is no version \(number): \(database.place) keeps \(first.number) to "
            + "\(last.number) ('hearth rules history' lists them)"
    }
}
