import ArgumentParser
import Files
import RulesTools

struct RulesRequestsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "requests",
        abstract: "Show the newest requests that the rules of a running server decided, and why.",
        discussion: """
            Recorded are refused requests with --inspect refused, all of them with --inspect all, as --dev \
            does. The newest stands last.

            Examples:
              hearth rules requests --refused
              hearth rules requests --path /rooms/1 --uid ann
              hearth rules requests --refused --follow
              hearth rules requests --operation set --connection 7
              hearth rules requests --files --path photos/ --refused
            """,
    )

    @Flag(help: "Only what was refused.")
    var refused = false

    @Flag(help: "Requests for files; --path is the beginning of a name then.")
    var files = false

    @Option(help: .value("bucket", "With --files: only of this bucket."))
    var bucket: String?

    @Option(help: "Only at this path or below it.")
    var path: String?

    @Option(help: "Only of the user with this uid.")
    var uid: String?

    @Option(help: "Only of this kind: read, listen, set, ...; of files get, list, create, ...")
    var operation: String?

    @Option(help: .value("id", "Only over this connection, as the log and each request name it."))
    var connection: String?

    @Option(help: .value("number", "At most this many, the newest ones (default: 100)."))
    var limit: Int?

    @Flag(help: "Print JSON; with --follow a line for each request.")
    var json = false

    @Flag(name: .shortAndLong, help: "Go on with each new one, until Ctrl-C.")
    var follow = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if let limit { try checkNumber("--limit", limit, in: 1...1_000) }
        if bucket != nil, !files { throw ValidationError("--bucket is for --files") }
    }

    private static let address = DatabasePath("/.inspect/requests")

    var parameters: Parameters {
        Parameters([
            ("service", files ? "files" : nil), ("bucket", bucket),
            ("refused", refused ? "true" : nil), ("path", path), ("uid", uid),
            ("operation", operation), ("connection", connection),
            ("limit", limit.map { "\($0)" }),
        ])
    }

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        if follow {
            try followRequests(to: database)
        } else {
            try database.copyInspection(Self.address, parameters, as: json ? .json : .text)
        }
        return .silent
    }

    /// Prints the newest requests, then each new one, until a signal stops it (exit code 0).
    ///
    /// Asks once a second; of more than 1,000 in a second the newest are shown. As JSON each is a line.
    private func followRequests(to database: RemoteDatabase) throws(CommandError) {
        var follower = RequestFollower(self)
        var hint: String?
        try database.follow(Self.address) { () in
            follower.parameters
        } lost: {
            follower.forget()
        } take: { (body) throws(CommandError) in
            guard let list = RecordedRequest.List(body) else {
                throw .failed("\(database.location) answers no requests: is it an older server?")
            }
            if list.hint != hint, let text = list.hint { database.console.say(text) }
            hint = list.hint
            return follower.take(list)
        }
    }
}
