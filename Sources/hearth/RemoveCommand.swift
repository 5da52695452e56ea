import ArgumentParser
import DataCommands

/// `hearth remove`.
struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove all data at a path.",
        discussion: """
            Asks before it does so; where nobody can be asked it wants --force.

            Examples:
              hearth remove /users/ada
              hearth remove / --instance scratch --force
            """,
    )

    @Argument(help: "The path, like /users/ada.")
    var path: String

    @OptionGroup
    var force: ForceOption

    @OptionGroup
    var write: WriteOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func run() throws {
        try perform { () throws(CommandError) in
            try server.database().remove(DatabasePath(path), write.choice(force: force.force))
        }
    }
}
