import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth users delete`.
struct UsersDeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Remove an account; what the user has written stays.",
        discussion: """
            Asks before it does so; where nobody can be asked it wants --force.

            Examples:
              hearth users delete ann@example.com
              hearth users delete 'strange@uid' --uid --force
            """,
    )

    @OptionGroup
    var user: UserArgument

    @OptionGroup
    var force: ForceOption

    @OptionGroup
    var options: AccountServiceOptions

    func run() throws {
        try report { () throws(CommandError) in
            try UserChange.delete(user.selector, options.service(), isForced: force.force)
        }
    }
}
