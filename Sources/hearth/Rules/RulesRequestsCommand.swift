import ArgumentParser
import DataCommands
import Files
import RulesCommands

/// `hearth rules requests`.
struct RulesRequestsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests",
        abstract: "Show the newest requests that the rules of a running server decided, and why.",
        discussion: """
            Recorded are refused requests with --inspect refused, all of them with --inspect all, which is what \
            --dev does. The newest stands last.

            Examples:
              hearth rules requests --refused
              hearth rules requests --path /rooms/1 --uid ann
              hearth rules requests --refused --follow
            """,
    )

    @Flag(help: "Only what was refused.")
    var refused = false

    @Option(help: ArgumentHelp("Only at this place or below it.", valueName: "path"))
    var path: String?

    @Option(help: ArgumentHelp("Only of the user with this uid.", valueName: "uid"))
    var uid: String?

    @Option(help: ArgumentHelp("The newest so many (default: 100).", valueName: "number"))
    var limit: Int?

    @Flag(help: "Print JSON; with --follow a line for each request.")
    var json = false

    @Flag(name: .shortAndLong, help: "Go on with each new one, until Ctrl-C.")
    var follow = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if let limit, !(1...1_000).contains(limit) {
            throw ValidationError("--limit: must be a number from 1 to 1000, not \(limit)")
        }
    }

    func run() throws {
        try report { () throws(CommandError) in
            var choice = RulesInspection.Choice()
            choice.isRefused = refused
            choice.path = path
            choice.uid = uid
            choice.limit = limit
            let database = try server.database()
            if follow {
                try RulesInspection.followRequests(to: database, choice, isJSON: json)
                return .done("")
            }
            try RulesInspection.showRequests(to: database, choice, as: json ? .json : .text)
            return .done("")
        }
    }
}
