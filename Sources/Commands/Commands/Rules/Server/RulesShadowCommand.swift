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
            """,
        subcommands: [Push.self, Status.self, Reset.self, Stop.self],
    )

    struct Push: Command {
        static let configuration = CommandConfiguration(
            commandName: "push",
            abstract: "Store the rules of a file and try them.",
            discussion: """
                They replace other shadow rules; of two pushes at one moment, the later one counts.

                Examples:
                  hearth rules shadow push new-rules.json --instance demo
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
            if checked.isForFiles {
                throw .usage("\(checked.name): holds rules for files, which have no shadow rules")
            }
            guard checked.errors.isEmpty else { return .failed(checked.findings) }
            let address = DatabasePath("/.settings/rulesets")
            let request = database.request(.post, address, body: .bytes(checked.bytes))
            return try checked.publish(by: request, to: database) { response throws(CommandError) in
                guard let id = try object(response.body, database).member("id").string else {
                    throw .failed(
                        "\(database.location) stores no rulesets: is it another kind of server?"
                    )
                }
                _ = try setCanary(id, of: database, author: author.name)
                return "\(file): tried as shadow rules \(id) at \(database.location); "
                    + "'hearth rules shadow status' shows what they would change"
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
                """,
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let database = try server.database()
            let body = try database.perform(database.request(.get, shadowReport)).body
            guard let comparison = ShadowComparison(try object(body, database)) else {
                throw .failed(
                    "\(database.location) says nothing of shadow rules: is it an older server?"
                )
            }
            let text = String(decoding: body, as: UTF8.self)
            guard comparison.candidate != nil else {
                if json { return CommandOutcome(output: text, exitCode: 2) }
                let words = "has no shadow rules ('hearth rules shadow push' tries some)"
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
                """,
        )

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let database = try server.database()
            try database.clearInspection(shadowReport)
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
                """,
        )

        @OptionGroup
        var author: AuthorOption

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let database = try server.database()
            let before = try setCanary(nil, of: database, author: author.name)
            guard let before else { return .done("\(database.location) has no shadow rules") }
            return .done("shadow rules \(before) are no longer tried at \(database.location)")
        }
    }
}

private let shadowReport = DatabasePath("/.inspect/shadow")

/// Labels a stored ruleset `canary`, or none, and leaves the other label as it is.
///
/// - Returns: the old rules of the label.
private func setCanary(
    _ id: String?,
    of database: RemoteDatabase,
    author: String?
) throws(CommandError) -> String? {
    let address = DatabasePath("/.settings/ruleset_labels")
    let present = try object(database.perform(database.request(.get, address)).body, database)
    var body = JSONMembers()
    body.add("stable", present.member("stable").string)
    body.add("canary", id)
    let parameters = author.map { [(name: "author", value: $0)] } ?? []
    try database.perform(database.request(.put, address, parameters, body: .bytes(body.value.text)))
    return present.member("canary").string
}

private func object(_ body: [UInt8], _ database: RemoteDatabase) throws(CommandError) -> Node {
    if let object = Node(answer: body) { return object }
    throw .failed("the answer of \(database.location) is not JSON: this is not a database")
}
