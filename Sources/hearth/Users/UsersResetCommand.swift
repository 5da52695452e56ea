import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth users reset`.
struct UsersResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Print a link by which a user sets a new password.",
        discussion: """
            Whoever has the link has the account: hand it to nobody else. It is good once, for an hour.

            Examples:
              hearth users reset ann@example.com
            """,
    )

    @Argument(help: "The user's e-mail address.")
    var email: String

    @OptionGroup
    var options: AccountServiceOptions

    func run() throws {
        try report { () throws(CommandError) in
            try UserChange.reset(email: email, options.service())
        }
    }
}
