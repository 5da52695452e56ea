import ArgumentParser
import Files
import HTTPClient
import JSONTree

struct RulesShadowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shadow",
        abstract: "Try rules on live traffic beside those in force, without effect.",
        discussion: """
            The server asks both about every read, listen and write, and notes where they differ. The shadow rules change \
            nothing. They cost about as much time as the rules in force, and stay over a restart until \
            they are stopped.

            Examples:
              hearth rules shadow push new-rules.json
              hearth rules shadow status
              hearth rules push new-rules.json && hearth rules shadow stop
              hearth rules shadow push storage.rules && hearth rules shadow status --files
            """,
        subcommands: [Push.self, Status.self, Reset.self, Stop.self],
    )

    struct Push: Command {
        static let configuration = CommandConfiguration(
            commandName: "push",
            abstract: "Store the rules of a file and try them.",
            discussion: """
                They replace other shadow rules; of two pushes at one moment, the later one counts. Rules for files \
                are known by their text: they are tried on requests for files of every bucket that has no rules file of \
                its own.

                Examples:
                  hearth rules shadow push new-rules.json --instance demo
                  hearth rules shadow push storage.rules
                """,
        )

        @Argument(help: "A rules file.", completion: .file())
        var file: String

        @OptionGroup
        var author: AuthorOption

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let database = try server.database()
            let checked = CheckedFile(file)
            guard checked.errors.isEmpty else { return .failed(checked.findings) }
            let rules = ShadowRules(of: database, files: checked.isForFiles)
            // A server that does not know those for files would take them for a database's.
            if checked.isForFiles { _ = try rules.report() }
            let request = rules.request(.post, ShadowRules.rulesets, body: checked.bytes)
            return try checked.publish(by: request, to: database) { response throws(CommandError) in
                guard let id = try rules.object(response.body).member("id").string else {
                    throw .failed(
                        "\(database.location) stores no rulesets: is it another kind of server?"
                    )
                }
                _ = try rules.setCanary(id, author: author.name)
                return "\(file): tried as shadow rules \(id) at \(database.location); "
                    + "'\(rules.command("status"))' shows what they would change"
            }
        }
    }

    struct Status: Command {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show which requests the shadow rules would have decided otherwise.",
            discussion: """
                Exit code 0 when there is no difference, 1 when there is one, 2 when no shadow rules are tried.

                Examples:
                  hearth rules shadow status
                  hearth rules shadow status --json | jq .differences
                  hearth rules shadow status --files
                """,
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup
        var service: RulesServiceOption

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let database = try server.database()
            let rules = ShadowRules(of: database, files: service.files)
            let (comparison, text) = try rules.report()
            guard comparison.candidate != nil else {
                if json { return CommandOutcome(output: text, exitCode: 2) }
                let which = service.files ? "shadow rules for files" : "shadow rules"
                let words = "has no \(which) ('hearth rules shadow push' tries some)"
                return CommandOutcome(errors: "error: \(database.location) \(words)", exitCode: 2)
            }
            let shown = json ? text : comparison.text(at: database.location)
            return CommandOutcome(output: shown, exitCode: comparison.differs ? 1 : 0)
        }
    }

    struct Reset: Command {
        static let configuration = CommandConfiguration(
            commandName: "reset",
            abstract: "Forget what the shadow rules have found, and count anew.",
            discussion: """
                Examples:
                  hearth rules shadow reset --instance demo
                  hearth rules shadow reset --files
                """,
        )

        @OptionGroup
        var service: RulesServiceOption

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let database = try server.database()
            try database.clearInspection(
                ShadowRules.reportAddress,
                PublishedRules.parameters(files: service.files)
            )
            return .done("what the shadow rules have found is forgotten at \(database.location)")
        }
    }

    struct Stop: Command {
        static let configuration = CommandConfiguration(
            commandName: "stop",
            abstract: "Try the shadow rules no longer.",
            discussion: """
                The rules in force stay as they are.

                Examples:
                  hearth rules shadow stop --instance demo
                  hearth rules shadow stop --files
                """,
        )

        @OptionGroup
        var author: AuthorOption

        @OptionGroup
        var service: RulesServiceOption

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let database = try server.database()
            let rules = ShadowRules(of: database, files: service.files)
            if service.files { _ = try rules.report() }
            let before = try rules.setCanary(nil, author: author.name)
            guard let before else { return .done("\(database.location) has no shadow rules") }
            return .done("shadow rules \(before) are no longer tried at \(database.location)")
        }
    }
}

/// The shadow rules of a database, or those for files, at their server.
private struct ShadowRules {
    static let rulesets = DatabasePath("/.settings/rulesets")
    static let reportAddress = DatabasePath("/.inspect/shadow")
    private static let labels = DatabasePath("/.settings/ruleset_labels")

    private let database: RemoteDatabase
    private let isForFiles: Bool
    private let parameters: Parameters

    init(of database: RemoteDatabase, files: Bool) {
        self.database = database
        isForFiles = files
        parameters = PublishedRules.parameters(files: files)
    }

    func request(_ method: HTTPRequest.Method, _ path: DatabasePath, body: [UInt8]) -> HTTPRequest {
        database.request(method, path, parameters, body: .bytes(body))
    }

    /// A command that is about them.
    func command(_ name: String) -> String {
        "hearth rules shadow \(name)" + (isForFiles ? " --files" : "")
    }

    /// What they have found, and the answer as it came.
    func report() throws(CommandError) -> (ShadowComparison, text: String) {
        let request = database.request(.get, Self.reportAddress, parameters)
        let body = try database.perform(request).body
        let node = try object(body)
        // A server that does not know those for files answers with those of the database.
        guard let comparison = ShadowComparison(node),
            !isForFiles || node.member("service").string == "files"
        else {
            let which = isForFiles ? "shadow rules for files" : "shadow rules"
            throw .failed("\(database.location) says nothing of \(which): is it an older server?")
        }
        return (comparison, String(decoding: body, as: UTF8.self))
    }

    /// Labels a stored ruleset `canary`, or none, and leaves the other label as it is.
    ///
    /// - Returns: the old rules of the label.
    func setCanary(_ id: String?, author: String?) throws(CommandError) -> String? {
        let present = try object(
            database.perform(database.request(.get, Self.labels, parameters)).body
        )
        var body = JSONMembers()
        body.add("stable", present.member("stable").string)
        body.add("canary", id)
        let query = parameters + Parameters([("author", author)])
        let request = database.request(.put, Self.labels, query, body: .bytes(body.value.text))
        try database.perform(request)
        return present.member("canary").string
    }

    func object(_ body: [UInt8]) throws(CommandError) -> Node {
        if let object = Node(answer: body) { return object }
        throw .failed("the answer of \(database.location) is not JSON: this is not a database")
    }
}
