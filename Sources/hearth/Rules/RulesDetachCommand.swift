import ArgumentParser
import DataCommands
import RulesCommands

/// `hearth rules detach`.
struct RulesDetachCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "detach",
        abstract:
            "Take its own rules away from a database: the server's default rules are in force.",
        discussion: """
            They stay in the history; 'hearth rules rollback' brings them back.

            Examples:
              hearth rules detach --instance demo
              hearth rules detach --dry-run
            """,
    )

    @OptionGroup
    var change: RulesChangeOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func run() throws {
        try report { () throws(CommandError) in
            try RulesPublishing.detach(from: server.database(), change.choice)
        }
    }
}
