import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth service-account ...`.
struct ServiceAccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service-account",
        abstract: "Make and revoke keys by which programs are administrators of a server.",
        discussion: """
            Examples:
              hearth service-account create backend --output backend.json
              hearth service-account list
              hearth service-account revoke backend

            Exit codes: 0 done, 1 failed or refused, 2 wrong usage.
            """,
        subcommands: [Create.self, List.self, Revoke.self],
    )

    /// `hearth service-account create`.
    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Make a service account and write its key file, for a program.",
            discussion: """
                Whoever has the file may do everything on the server. The server keeps no copy of it: the file is made this once, and its \
                owner alone can read it. The address of the server must be the one that the SDK will use; where it is another, the \
                server's --public-url says so.

                The Admin SDK of Python reads and writes data with it (tried: firebase-admin 7.7.0, google-auth 2.19.1 to 2.62.2). Other \
                Admin SDKs were not run: 'Admin SDKs in production' in docs/ACCOUNTS.md says what is known of each. Accounts and messages of \
                an SDK are Google's, and not asked for with this file.

                Examples:
                  hearth service-account create backend --url https://db.example.com --admin-secret-file admin-secret
                  hearth service-account create backend --add-key --output next.json
                """,
        )

        @Argument(help: "Lower-case letters, digits and hyphens, at most 30.")
        var name: String

        @Option(
            name: .shortAndLong,
            help: ArgumentHelp(
                "The key file (default: NAME-service-account.json); '-' is standard output.",
                valueName: "file"
            ),
            completion: .file()
        )
        var output: String?

        @Flag(help: "Make one more key of a service account that is there.")
        var addKey = false

        @Flag(name: .shortAndLong, help: "Replace a file that is there.")
        var force = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func run() throws {
            var choice = ServiceAccountKeys.Choice()
            choice.output = output
            choice.isForced = force
            choice.addsKey = addKey
            try report { () throws(CommandError) in
                try ServiceAccountKeys.create(name, at: server.database(), choice)
            }
        }
    }

    /// `hearth service-account list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List service accounts and the names of their keys.",
            discussion: """
                Examples:
                  hearth service-account list --json
                """,
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func run() throws {
            try report { () throws(CommandError) in
                try ServiceAccountKeys.list(server.database(), isJSON: json)
            }
        }
    }

    /// `hearth service-account revoke`.
    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract:
                "Take a service account away, or one of its keys; its tokens are void at once.",
            discussion: """
                Examples:
                  hearth service-account revoke backend
                  hearth service-account revoke backend --key 3f2a...
                """,
        )

        @Argument(help: "The name.")
        var name: String

        @Option(help: ArgumentHelp("Only this key of its.", valueName: "id"))
        var key: String?

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func run() throws {
            try report { () throws(CommandError) in
                try ServiceAccountKeys.revoke(name, key: key, at: server.database())
            }
        }
    }
}
