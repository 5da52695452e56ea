import ArgumentParser
import DataCommands
import RulesCommands

/// `hearth rules rollback`.
struct RulesRollbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Put an earlier version of a database's rules in force again.",
        discussion: """
            It becomes a new version. Nothing is changed if somebody else changes the rules at the same moment.

            Examples:
              hearth rules rollback 3
              hearth rules rollback 3 --instance demo --author ann
            """,
    )

    @Argument(help: "The number of the version, as 'hearth rules history' shows it.")
    var version: Int

    @OptionGroup
    var author: AuthorOption

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func run() throws {
        try report { () throws(CommandError) in
            try RulesPublishing.rollBack(to: version, of: server.database(), author: author.name)
        }
    }
}
