import ArgumentParser
import DataCommands

/// `hearth watch`.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the value at a path and each change of it, a line of JSON for each.",
        discussion: """
            The first line is the whole value: {"event":"put","path":"/","data":...}. A lost connection is made \
            again, and the whole value comes once more. Ctrl-C ends it with exit code 0.

            Examples:
              hearth watch /messages
              hearth watch /scores --order-by points --limit-to-last 10
              hearth watch /status --count 1
            """,
    )

    @Argument(help: "The path, like /messages.")
    var path: String

    @Option(help: ArgumentHelp("End after so many events.", valueName: "number"))
    var count: Int?

    @OptionGroup(title: "Query")
    var query: QueryOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count: \(count) is less than 1") }
    }

    func run() throws {
        try perform { () throws(CommandError) in
            try server.database().watch(DatabasePath(path), query.choice, count: count)
        }
    }
}
