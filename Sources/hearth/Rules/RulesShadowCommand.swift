import ArgumentParser
import DataCommands
import Files
import RulesCommands

/// `hearth rules shadow ...`.
struct RulesShadowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shadow",
        abstract: "Try rules on live traffic beside those in force, without effect.",
        discussion: """
            The server asks both about every read, listen and write, and notes where they differ. The shadow rules change \
            nothing for anybody. They cost about as much time as the rules in force, and stay over a restart until \
            they are stopped.

            Examples:
              hearth rules shadow push new-rules.json
              hearth rules shadow status
              hearth rules push new-rules.json && hearth rules shadow stop
            """,
        subcommands: [Push.self, Status.self, Reset.self, Stop.self],
    )

    /// `hearth rules shadow push`.
    struct Push: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "push",
            abstract: "Store the rules of a file and try them.",
            discussion: """
                They take the place of other shadow rules; of two pushes at one moment, the later one counts.

                Examples:
                  hearth rules shadow push new-rules.json --instance demo
                """,
        )

        @Argument(help: "A rules file.", completion: .file())
        var file: String

        @OptionGroup
        var author: AuthorOption

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func run() throws {
            try report { () throws(CommandError) in
                try RulesShadow.push(file, to: server.database(), author: author.name)
            }
        }
    }

    /// `hearth rules shadow status`.
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Tell which requests the shadow rules would have decided otherwise.",
            discussion: """
                Exit code 0 when there is no difference, 1 when there is one, 2 when no shadow rules are tried.

                Examples:
                  hearth rules shadow status
                  hearth rules shadow status --json | jq .differences
                """,
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func run() throws {
            try report { () throws(CommandError) in
                try RulesShadow.status(of: server.database(), isJSON: json)
            }
        }
    }

    /// `hearth rules shadow reset`.
    struct Reset: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset",
            abstract: "Forget what the shadow rules have found, and count anew.",
            discussion: """
                Examples:
                  hearth rules shadow reset --instance demo
                """,
        )

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func run() throws {
            try report { () throws(CommandError) in try RulesShadow.reset(server.database()) }
        }
    }

    /// `hearth rules shadow stop`.
    struct Stop: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop",
            abstract: "Try the shadow rules no longer.",
            discussion: """
                The rules in force stay as they are.

                Examples:
                  hearth rules shadow stop --instance demo
                """,
        )

        @OptionGroup
        var author: AuthorOption

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func run() throws {
            try report { () throws(CommandError) in
                try RulesShadow.stop(server.database(), author: author.name)
            }
        }
    }
}
