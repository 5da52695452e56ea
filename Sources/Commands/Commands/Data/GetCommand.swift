import ArgumentParser
import Files
import HTTPClient

/// `hearth get`: prints the value as it arrives, with a newline behind it.
struct GetCommand: Command {
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

    /// The parameters of the REST API, in a fixed order.
    var parameters: Parameters {
        Parameters([
            ("shallow", shallow ? "true" : nil), ("print", pretty ? "pretty" : nil),
            ("format", export ? "export" : nil),
        ]) + query.parameters
    }

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        let path = DatabasePath(path)
        let file = try OutputFile(output)
        var answer = JSONAnswer(database.address, path)
        var lastByte: UInt8?
        try database.perform(database.request(.get, path, parameters)) { bytes in
            try answer.check(bytes)
            try file.write(bytes)
            lastByte = bytes.last ?? lastByte
        }
        try answer.finish()
        if lastByte != UInt8(ascii: "\n") { try file.write([UInt8(ascii: "\n")]) }
        try file.finish()
        database.mention(file, at: output)
        return .silent
    }
}
