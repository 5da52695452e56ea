import ArgumentParser
import DataCommands

/// `hearth get`.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the JSON value at a path.",
        discussion: """
            Examples:
              hearth get /
              hearth get /users --shallow
              hearth get /scores --order-by points --limit-to-last 10 --pretty
              hearth get /.settings/rules --admin-secret-file hearth-data/admin-secret
            """,
    )

    @Argument(help: "The path, like /users/ada.")
    var path: String

    @Option(
        name: .shortAndLong,
        help: "Write to this file instead of standard output.",
        completion: .file()
    )
    var output: String?

    @Flag(help: "Indent the JSON.")
    var pretty = false

    @Flag(help: "Only the keys of children.")
    var shallow = false

    @Flag(help: "With priorities.")
    var export = false

    @OptionGroup(title: "Query")
    var query: QueryOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func run() throws {
        var choice = query.choice
        choice.isPretty = pretty
        choice.isShallow = shallow
        choice.isExport = export
        try perform { () throws(CommandError) in
            try server.database().get(DatabasePath(path), choice, to: output)
        }
    }
}
