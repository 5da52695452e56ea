import ArgumentParser
import DataCommands
import RulesCommands

/// `hearth rules pull`.
struct RulesPullCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Print the rules in force on a server, as they were sent.",
        discussion: """
            Examples:
              hearth rules pull
              hearth rules pull --output rules.json
              hearth rules pull --strict-json | jq .rules
              hearth rules pull --version 3                an earlier version
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

    @Option(help: ArgumentHelp("A version of the history.", valueName: "number"))
    var version: Int?

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if strictJson, version != nil {
            throw ValidationError("--strict-json is of the rules in force; leave --version out")
        }
    }

    func run() throws {
        try perform { () throws(CommandError) in
            try RulesPublishing.pull(
                from: server.database(),
                version: version,
                isStrict: strictJson,
                to: output
            )
        }
    }
}
