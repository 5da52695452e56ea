import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth users list`.
struct UsersListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List accounts in the order of their uids.",
        discussion: """
            Examples:
              hearth users list
              hearth users list --json | jq -r .email
              hearth users list --limit 20
            """,
    )

    @Flag(help: "Print a line of JSON for each.")
    var json = false

    @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
    var limit: Int?

    @OptionGroup
    var options: AccountServiceOptions

    func validate() throws {
        if let limit, limit < 1 {
            throw ValidationError("--limit: must be a number above 0, not \(limit)")
        }
    }

    func run() throws {
        try perform { () throws(CommandError) in
            try UserList.print(options.service(), limit: limit, isJSON: json)
        }
    }
}
