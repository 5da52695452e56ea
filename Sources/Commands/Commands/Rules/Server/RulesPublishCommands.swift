import ArgumentParser
import Files
import HTTPClient
import JSONTree
import SecurityRules

struct RulesPushCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Put the rules of a file in force on a server.",
        discussion: """
            The file is checked here first, as 'hearth rules check' does it. The rules become a new version of the \
            database's history; 'hearth rules rollback' takes them back.

            Examples:
              hearth rules push rules.json --dry-run
              hearth rules push rules.json --instance demo --author 'ann, ticket 12'
              hearth rules push rules.json --expect 6        refused if another push came since
            """,
    )

    @Argument(help: "A rules file.", completion: .file())
    var file: String

    @OptionGroup
    var change: RulesChangeOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        let checked = CheckedFile(file)
        guard checked.errors.isEmpty else { return .failed(checked.findings) }
        let rules = try PublishedRules(of: database, files: checked.isForFiles)
        var request = database.request(
            .put,
            PublishedRules.address,
            change.parameters + PublishedRules.parameters(files: checked.isForFiles),
            body: .bytes(checked.bytes)
        )
        request.headers.append("Content-Type: application/json")
        return try checked.publish(by: request, to: database) { response in
            change.dryRun
                ? "\(file): \(database.location) would take it; nothing is changed"
                : rules.text(of: "pushed \(file)", response, database) + rules.unusedFileText
        }
    }
}

extension CheckedFile {
    /// Sends the rules; the faults that the server finds are the outcome, else the text `done` says of its answer.
    func publish(
        by request: HTTPRequest,
        to database: RemoteDatabase,
        _ done: (HTTPResponse) throws(CommandError) -> String
    ) throws(CommandError) -> CommandOutcome {
        let response = try database.send(request)
        if response.status == 400, let faults = texts(ofRefusal: response.body) {
            return .failed(faults)
        }
        guard response.isSuccess else { throw database.refusal(request, response) }
        return .done(try done(response), errors: findings)
    }
}

struct RulesDetachCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "detach",
        abstract:
            "Take its own rules away from a database: the server's default rules are in force.",
        discussion: """
            They stay in the history; 'hearth rules rollback' brings them back.

            Examples:
              hearth rules detach --instance demo
              hearth rules detach --dry-run
              hearth rules detach --files
            """,
    )

    @OptionGroup
    var change: RulesChangeOptions

    @OptionGroup
    var service: RulesServiceOption

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        let rules = try PublishedRules(of: database, files: service.files)
        let parameters = change.parameters + PublishedRules.parameters(files: service.files)
        let request = database.request(.delete, PublishedRules.address, parameters)
        let response = try database.perform(request)
        if change.dryRun {
            let those = rules.fallback?.text ?? "the server's default rules"
            return .done(
                "\(database.location) would have these rules: \(those); nothing is changed"
            )
        }
        return .done(rules.text(of: "detached", response, database) + rules.fallbackText)
    }
}

struct RulesPullCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Print the rules in force on a server, as they were sent.",
        discussion: """
            Examples:
              hearth rules pull
              hearth rules pull --output rules.json
              hearth rules pull --strict-json | jq .rules
              hearth rules pull --version 3                an earlier version
              hearth rules pull --files --output storage.rules
            """,
    )

    @Option(
        name: .shortAndLong,
        help: "Write to this file instead of standard output.",
        completion: .file()
    )
    var output: String?

    @Flag(help: "As strict JSON: without comments and line breaks in strings.")
    var strictJson = false

    @Option(help: .value("number", "A version of the history."))
    var version: Int?

    @OptionGroup
    var service: RulesServiceOption

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if strictJson, version != nil {
            throw ValidationError("--strict-json is of the rules in force; leave --version out")
        }
        if strictJson, service.files {
            throw ValidationError("--strict-json: rules for files are no JSON; leave it out")
        }
    }

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        let path = version.map { PublishedVersion.address(of: $0) } ?? PublishedRules.address
        let parameters =
            PublishedRules.parameters(files: service.files)
            + (strictJson ? [(name: "format", value: "strict")] : [])
        let response = try database.perform(database.request(.get, path, parameters))
        try database.write(response.body, to: output)
        if version == nil {
            let rules = try PublishedRules(of: database, files: service.files)
            if let text = rules.inForceText { database.console.say(text) }
        }
        return .silent
    }
}

struct RulesRollbackCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Put an earlier version of a database's rules in force again.",
        discussion: """
            It becomes a new version. Nothing is changed if another change of the rules comes at the same moment.

            Examples:
              hearth rules rollback 3
              hearth rules rollback 3 --instance demo --author ann
              hearth rules rollback 3 --files
            """,
    )

    @Argument(help: "The number of the version, as 'hearth rules history' shows it.")
    var version: Int

    @OptionGroup
    var author: AuthorOption

    @OptionGroup
    var service: RulesServiceOption

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        let rules = try PublishedRules(of: database, files: service.files)
        guard let wanted = rules.versions.first(where: { $0.number == version }) else {
            throw .failed(
                "there is no version \(version): \(database.location) keeps \(rules.keptText)"
            )
        }
        // Refused, with nothing changed, if another change came in the meantime.
        let which = PublishedRules.parameters(files: service.files)
        let parameters =
            RulesChangeOptions.parameters(
                author: ChangeAuthor.with("rollback to \(version)", author.name),
                expect: rules.versions.first?.number ?? 0
            ) + which
        let request: HTTPRequest
        if wanted.isDetached {
            request = database.request(.delete, PublishedRules.address, parameters)
        } else {
            let source = database.request(.get, PublishedVersion.address(of: version), which)
            let text = try database.perform(source).body
            request = database.request(.put, PublishedRules.address, parameters, body: .bytes(text))
        }
        let response = try database.perform(request)
        let what = wanted.isDetached ? "detached, as in version" : "rolled back to version"
        return .done(
            rules.text(of: "\(what) \(wanted.shown)", response, database)
                + (wanted.isDetached ? rules.fallbackText : rules.unusedFileText)
        )
    }
}
