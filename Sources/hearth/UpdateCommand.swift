import ArgumentParser
import DataCommands

/// `hearth update`.
struct UpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Replace some children of a path, all at once or none.",
        discussion: """
            Children that the JSON object does not name stay as they are; null removes one. Names may be \
            paths: "ada/name". Asks before it does so; where nobody can be asked it wants --force.

            Examples:
              hearth update /users --data '{"ada/name":"Ada","bob":null}' --force
              hearth update / changes.json
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
            try server.database().update(
                DatabasePath(path),
                source.source,
                write.choice(force: force.force)
            )
        }
    }
}
