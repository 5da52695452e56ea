import ArgumentParser
import DataCommands

/// `hearth set`.
struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Replace all data at a path.",
        discussion: """
            Asks before it does so; where nobody can be asked it wants --force.

            Examples:
              hearth set /greeting --data '"hello"'
              hearth set /users users.json --force
              echo '{".sv":"timestamp"}' | hearth set /started --force
            """,
    )

    @Argument(help: "The path, like /users/ada.")
    var path: String

    @OptionGroup
    var source: SourceOptions

    @OptionGroup
    var force: ForceOption

    @OptionGroup
    var write: WriteOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func run() throws {
        try perform { () throws(CommandError) in
            try server.database().set(
                DatabasePath(path),
                source.source,
                write.choice(force: force.force)
            )
        }
    }
}
