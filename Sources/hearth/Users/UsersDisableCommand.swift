import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth users disable`.
struct UsersDisableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract:
            "Keep a user out: no sign-in, and what is signed in loses its rights within a second.",
        discussion: """
            Examples:
              hearth users disable ann@example.com
            """,
    )

    @OptionGroup
    var user: UserArgument

    @OptionGroup
    var options: AccountServiceOptions

    func run() throws {
        try report { () throws(CommandError) in
            try UserChange.setDisabled(true, user.selector, options.service())
        }
    }
}

/// `hearth users enable`.
struct UsersEnableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Let a user in again who was disabled.",
        discussion: """
            Examples:
              hearth users enable ann@example.com
            """,
    )

    @OptionGroup
    var user: UserArgument

    @OptionGroup
    var options: AccountServiceOptions

    func run() throws {
        try report { () throws(CommandError) in
            try UserChange.setDisabled(false, user.selector, options.service())
        }
    }
}
