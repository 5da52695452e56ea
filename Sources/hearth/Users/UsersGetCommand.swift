import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth users get`.
struct UsersGetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show one account.",
        discussion: """
            Examples:
              hearth users get ann@example.com
              hearth users get +4930123456 --json
            """,
    )

    @OptionGroup
    var user: UserArgument

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup
    var options: AccountServiceOptions

    func run() throws {
        try report { () throws(CommandError) in
            try UserList.show(user.selector, options.service(), isJSON: json)
        }
    }
}
