import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth users claims`.
struct UsersClaimsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claims",
        abstract: "Print or replace what rules see of a user in 'auth.token'.",
        discussion: """
            They are in the user's next token: at the next sign-in, or within an hour.

            Examples:
              hearth users claims ann@example.com
              hearth users claims ann@example.com '{"admin":true,"team":"blue"}'
              hearth users claims ann@example.com --clear
            """,
    )

    @OptionGroup
    var user: UserArgument

    @Argument(help: "A JSON object, at most 1,000 characters; nothing prints the present one.")
    var claims: String?

    @Flag(help: "Take all of them away.")
    var clear = false

    @OptionGroup
    var options: AccountServiceOptions

    func validate() throws {
        if clear, claims != nil { throw ValidationError("claims and --clear: give one of them") }
    }

    func run() throws {
        let change: UserClaims.Change = clear ? .clear : claims.map { .set($0) } ?? .show
        try report { () throws(CommandError) in
            try UserClaims.apply(change, to: user.selector, options.service())
        }
    }
}
