import ArgumentParser
import DatabaseServer
import Files

/// The command line's root.
struct Hearth: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hearth",
        abstract: "A realtime JSON-tree database server for Firebase clients.",
        discussion: """
            Examples:
              hearth serve --dev               develop on 127.0.0.1:9000
              hearth serve --rules rules.json  production, behind security rules
              hearth exec -- npm test          run a command beside a server of its own
              hearth get /users --shallow      look into a running server
              hearth import / backup.json      put a file of any size into it
              hearth rules check rules.json    are these rules sound?
              hearth log verify hearth-data    is this data folder sound?

            Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
            """,
        version: Version.text,
        groupedSubcommands: [
            CommandGroup(name: "Server", subcommands: [ServeCommand.self, ExecCommand.self]),
            CommandGroup(
                name: "Data",
                subcommands: [
                    GetCommand.self, SetCommand.self, PushCommand.self, UpdateCommand.self,
                    RemoveCommand.self, WatchCommand.self, ImportCommand.self, ExportCommand.self,
                ]
            ),
            CommandGroup(
                name: "Care",
                subcommands: [
                    BackupCommand.self, RestoreCommand.self, LogCommand.self, RulesCommand.self,
                ]
            ),
            CommandGroup(
                name: "This program",
                subcommands: [CompletionsCommand.self, VersionCommand.self]
            ),
        ],
    )
}

/// `hearth version`.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the version.",
    )

    func run() {
        print("hearth \(Version.text)")
    }
}

extension CommandOutcome {
    /// Prints what is to be said, and ends the process when the command did not succeed.
    func report() throws {
        if !output.isEmpty { print(TerminalText.shown(output)) }
        if !errors.isEmpty { StandardError.print(errors) }
        guard exitCode == 0 else { throw ExitCode(exitCode) }
    }
}
