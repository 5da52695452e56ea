import ArgumentParser
import DataCommands
import RulesCommands

/// `hearth rules push`.
struct RulesPushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Put the rules of a file in force on a server.",
        discussion: """
            The file is checked here first, as 'hearth rules check' does it. The rules become a new version of the \
            database's history; 'hearth rules rollback' takes them back.

            Examples:
              hearth rules push rules.json --dry-run
              hearth rules push rules.json --instance demo --author 'ann, ticket 12'
              hearth rules push rules.json --expect 6        refused if somebody else has pushed since
            """,
    )

    @Argument(help: "A rules file.", completion: .file())
    var file: String

    @OptionGroup
    var change: RulesChangeOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func run() throws {
        try report { () throws(CommandError) in
            try RulesPublishing.push(file, to: server.database(), change.choice)
        }
    }
}
