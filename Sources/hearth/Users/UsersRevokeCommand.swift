import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth users revoke`.
struct UsersRevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Sign a user out everywhere: every token issued so far is void within a second.",
        discussion: """
            Examples:
              hearth users revoke ann@example.com
            """,
    )

    @OptionGroup
    var user: UserArgument

    @OptionGroup
    var options: AccountServiceOptions

    func run() throws {
        try report { () throws(CommandError) in
            try UserChange.revoke(user.selector, options.service())
        }
    }
}
