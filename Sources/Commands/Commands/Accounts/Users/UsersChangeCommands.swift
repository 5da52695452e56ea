import ArgumentParser
import Files
import Glibc
import JSONTree

struct UsersCreateCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make an account and print its uid.",
        discussion: """
            A password is never taken from the command line, which all users of the machine can read. Without one, 'hearth users reset' \
            makes a link by which the user sets it.

            Examples:
              hearth users create --email ann@example.com --name Ann --password-prompt
              pwgen 20 1 | hearth users create --email bot@example.com --password-file -
              hearth users create --uid kiosk-1
            """,
    )

    @Option(help: "The uid (default: a new one of 28 characters).")
    var uid: String?

    @Option(help: .value("address", "The e-mail address."))
    var email: String?

    @Flag(help: "The address is known to be the user's.")
    var emailVerified = false

    @Option(file: "File whose first line is the password; '-' is standard input.")
    var passwordFile: String?

    @Flag(help: "Ask for the password on the terminal.")
    var passwordPrompt = false

    @Option(help: .value("number", "The phone number, like +4930123456."))
    var phone: String?

    @Option(help: "The name to be shown.")
    var name: String?

    @Option(help: .value("url", "Address of a picture."))
    var photo: String?

    @Flag(help: "No one can sign in to it yet.")
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

    func outcome() throws(CommandError) -> CommandOutcome {
        let source: PasswordSource =
            passwordPrompt ? .prompt : passwordFile.map { .file($0) } ?? .none
        let password = try source.read()
        let service = try options.service()
        var body = JSONMembers()
        body.add("localId", uid)
        body.add("email", email)
        body.add("emailVerified", email == nil ? nil : .boolean(emailVerified))
        body.add("password", password)
        body.add("phoneNumber", phone)
        body.add("displayName", name)
        body.add("photoUrl", photo)
        body.add("disabled", disabled ? .boolean(true) : nil)
        let answer = try service.call("accounts", of: service.project(), body.value)
        guard let uid = try service.tree(answer).member("localId").string else {
            throw .failed("\(service.database.origin) does not give the new account's uid")
        }
        return .done(uid)
    }
}

struct UsersClaimsCommand: Command {
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

    func outcome() throws(CommandError) -> CommandOutcome {
        let service = try options.service()
        guard let text = clear ? "{}" : claims else {
            let record = try service.find(user.selector, in: service.project()).user
            return .done(record.claims ?? "{}")
        }
        do throws(JSONError) {
            _ = try JSONParts.members(of: Array(text.utf8))
        } catch {
            throw .usage(
                "the claims are not a JSON object (byte \(error.offset)); write them like '{\"admin\":true}'"
            )
        }
        let record = try service.change(user, "customAttributes", .string(text))
        return .done(
            "\(record.uid) (\(record.shown)) has the claims \(text) from the next token on; it had "
                + (record.claims ?? "none")
        )
    }
}

struct UsersDisableCommand: Command {
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

    func outcome() throws(CommandError) -> CommandOutcome {
        let record = try options.service().change(user, "disableUser", .boolean(true))
        return .done(
            "\(record.uid) (\(record.shown)) is disabled; what was signed in is signed out"
        )
    }
}

struct UsersEnableCommand: Command {
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

    func outcome() throws(CommandError) -> CommandOutcome {
        let record = try options.service().change(user, "disableUser", .boolean(false))
        return .done("\(record.uid) (\(record.shown)) is enabled")
    }
}

struct UsersDeleteCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Remove an account; what the user has written stays.",
        discussion: """
            Asks before it does so; where it cannot ask, it wants --force.

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

    func outcome() throws(CommandError) -> CommandOutcome {
        let service = try options.service()
        let project = try service.project()
        let record = try service.find(user.selector, in: project).user
        try service.database.console.confirm(
            "This removes the account \(record.uid) (\(record.shown)) of project \(project)",
            isForced: force.force
        )
        _ = try service.call("accounts:delete", of: project, ["localId": .string(record.uid)])
        return .done("\(record.uid) (\(record.shown)) is removed")
    }
}

struct UsersResetCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Print a link by which a user sets a new password.",
        discussion: """
            The link gives access to the account: hand it to the user alone. It is good once, for an hour.

            Examples:
              hearth users reset ann@example.com
            """,
    )

    @Argument(help: "The user's e-mail address.")
    var email: String

    @OptionGroup
    var options: AccountServiceOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        let service = try options.service()
        let body: JSONValue = [
            "requestType": "PASSWORD_RESET", "email": .string(email),
            "returnOobLink": .boolean(true),
        ]
        let answer = try service.call("accounts:sendOobCode", of: service.project(), body)
        guard let link = try service.tree(answer).member("oobLink").string else {
            throw .failed("\(service.database.origin) answers no link")
        }
        return .done(link)
    }
}

struct UsersRevokeCommand: Command {
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

    func outcome() throws(CommandError) -> CommandOutcome {
        // Seconds, the next one: a token of this second is meant too.
        let start = JSONValue.string("\(time(nil) + 1)")
        let record = try options.service().change(user, "validSince", start)
        return .done("\(record.uid) (\(record.shown)) has to sign in again everywhere")
    }
}

extension AdministeredServer {
    /// Changes one property of an account, and returns the account's old state.
    fileprivate func change(
        _ argument: UserArgument,
        _ name: String,
        _ value: JSONValue
    ) throws(CommandError) -> UserRecord {
        let project = try project()
        let user = try find(argument.selector, in: project).user
        let body: JSONValue = ["localId": .string(user.uid), name: value]
        _ = try call("accounts:update", of: project, body)
        return user
    }
}
