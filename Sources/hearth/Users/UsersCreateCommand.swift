import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth users create`.
struct UsersCreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make an account and print its uid.",
        discussion: """
            A password is never taken from the command line, which everybody on the machine can read. Without one, 'hearth users reset' \
            makes a link by which the user sets it.

            Examples:
              hearth users create --email ann@example.com --name Ann --password-prompt
              pwgen 20 1 | hearth users create --email bot@example.com --password-file -
              hearth users create --uid kiosk-1
            """,
    )

    @Option(
        help: ArgumentHelp(
            "The uid (default: a new one of 28 letters and digits).",
            valueName: "uid"
        )
    )
    var uid: String?

    @Option(help: ArgumentHelp("The e-mail address.", valueName: "address"))
    var email: String?

    @Flag(help: "The address is known to be the user's.")
    var emailVerified = false

    @Option(
        help: ArgumentHelp(
            "File whose first line is the password; '-' is standard input.",
            valueName: "file"
        ),
        completion: .file()
    )
    var passwordFile: String?

    @Flag(help: "Ask for the password on the terminal.")
    var passwordPrompt = false

    @Option(help: ArgumentHelp("The phone number, like +4930123456.", valueName: "number"))
    var phone: String?

    @Option(help: ArgumentHelp("The name to be shown.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Address of a picture.", valueName: "url"))
    var photo: String?

    @Flag(help: "Nobody can sign in to it yet.")
    var disabled = false

    @OptionGroup
    var options: AccountServiceOptions

    func validate() throws {
        if passwordFile != nil, passwordPrompt {
            throw ValidationError("--password-file and --password-prompt: give one of them")
        }
        if email == nil, passwordFile != nil || passwordPrompt {
            throw ValidationError("a password is of no use without --email")
        }
    }

    func run() throws {
        var new = UserChange.New()
        new.uid = uid
        new.email = email
        new.isEmailVerified = emailVerified
        new.phoneNumber = phone
        new.name = name
        new.photoURL = photo
        new.isDisabled = disabled
        let source: PasswordSource =
            passwordPrompt ? .prompt : passwordFile.map { .file($0) } ?? .none
        try report { () throws(CommandError) in
            try UserChange.create(new, password: source.read(), options.service())
        }
    }
}
