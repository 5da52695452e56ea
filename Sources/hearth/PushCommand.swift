import ArgumentParser
import DataCommands

/// `hearth push`.
struct PushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Add a child with a new key, and print the key.",
        discussion: """
            New keys sort behind those that were made before.

            Examples:
              hearth push /messages --data '{"text":"hello"}'
              hearth push /messages message.json
            """,
    )

    @Argument(help: "The path of the list, like /messages.")
    var path: String

    @OptionGroup
    var source: SourceOptions

    @OptionGroup
    var write: WriteOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func run() throws {
        try perform { () throws(CommandError) in
            try server.database().push(
                DatabasePath(path),
                source.source,
                write.choice(force: true)
            )
        }
    }
}
