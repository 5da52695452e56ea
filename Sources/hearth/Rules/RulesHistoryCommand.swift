import ArgumentParser
import DataCommands
import Files
import RulesCommands

/// `hearth rules history`.
struct RulesHistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List the versions of a database's rules: when, by whom, which is in force.",
        discussion: """
            Examples:
              hearth rules history
              hearth rules history --json
              hearth rules pull --version 3
            """,
    )

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func run() throws {
        try report { () throws(CommandError) in
            let database = try server.database()
            guard json else { return try RulesHistory.list(database) }
            try RulesHistory.copy(database)
            return .done("")
        }
    }
}
