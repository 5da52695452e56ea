import ArgumentParser

struct UsersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "List, make, change, import and export the accounts of a server.",
        discussion: """
            All of it is done as the server's administrator: --admin-secret-file, HEARTH_ADMIN_SECRET_FILE or HEARTH_TOKEN say who asks; a \
            development server on this machine needs none of them. USER is a uid, an e-mail address or a phone number.

            Examples:
              hearth users list
              hearth users create --email ann@example.com --password-prompt
              hearth users claims ann@example.com '{"admin":true}'
              hearth users import users.json --hash-algo SCRYPT --hash-key KEY --salt-separator Bw== --rounds 8 --mem-cost 14
              hearth users export users.json

            Exit codes: 0 done, 1 failed or refused, 2 wrong usage.
            """,
        subcommands: [
            UsersListCommand.self, UsersGetCommand.self, UsersCreateCommand.self,
            UsersDisableCommand.self, UsersEnableCommand.self, UsersDeleteCommand.self,
            UsersClaimsCommand.self, UsersResetCommand.self, UsersRevokeCommand.self,
            UsersImportCommand.self, UsersExportCommand.self,
        ],
    )
}

/// Which accounts: options of every command that works on them.
struct AccountServiceOptions: ParsableArguments {
    @Option(help: .value("name", "The project of the accounts (default: the server's)."))
    var project: String?

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func service() throws(CommandError) -> AdministeredServer {
        AdministeredServer(try server.database(), project: project)
    }
}

/// The account of a command.
struct UserArgument: ParsableArguments {
    @Argument(help: "A uid, an e-mail address, or a phone number like +4930123456.")
    var user: String

    @Flag(help: "It is a uid, whatever it looks like.")
    var uid = false

    var selector: UserSelector { UserSelector(user, isUID: uid) }
}
