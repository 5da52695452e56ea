package import ArgumentParser
import DatabaseServer
import SecurityRules

/// The command line's root.
package struct Hearth: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "hearth",
        abstract: "A realtime JSON-tree database server for Firebase clients.",
        discussion: """
            Examples:
              hearth serve --dev               develop on 127.0.0.1:9000
              hearth serve --rules rules.json  production, behind security rules
              hearth exec -- npm test          run a command beside a server of its own
              hearth get /users --shallow      look into a running server
              hearth import / backup.json      put a file of any size into it
              hearth users list                who has an account?
              hearth check                     what is set, and what is unsafe?
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
                    RemoveCommand.self, WatchCommand.self, SearchCommand.self, ImportCommand.self,
                    ExportCommand.self,
                ]
            ),
            CommandGroup(
                name: "Accounts",
                subcommands: [UsersCommand.self, ServiceAccountCommand.self, KeysCommand.self]
            ),
            CommandGroup(
                name: "Care",
                subcommands: [
                    CheckCommand.self, ConnectionsCommand.self, DatabasesCommand.self,
                    BackupCommand.self, RestoreCommand.self, FilesCommand.self, LogCommand.self,
                    AuditCommand.self, RulesCommand.self, ClusterCommand.self,
                ]
            ),
            CommandGroup(
                name: "This program",
                subcommands: [CompletionsCommand.self, VersionCommand.self]
            ),
        ],
    )

    package init() {}
}

extension Hearth {
    /// A line with the command that a misspelt word may mean; empty without one.
    package static func suggestion(for arguments: some Sequence<String>) -> String {
        var command: any ParsableCommand.Type = Hearth.self
        var path = "hearth"
        for word in arguments {
            let configuration = command.configuration
            let inner =
                configuration.subcommands + configuration.groupedSubcommands.flatMap(\.subcommands)
            let named = inner.map { ($0.configuration.commandName ?? "", $0) }
            if let next = named.first(where: { $0.0 == word }) {
                command = next.1
                path += " \(word)"
                continue
            }
            guard !inner.isEmpty, !word.hasPrefix("-"),
                let near = Spelling.nearest(to: word, among: named.map(\.0))
            else { return "" }
            return "\nDid you mean '\(path) \(near)'?"
        }
        return ""
    }
}

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the version.",
    )

    func run() {
        print("hearth \(Version.text)")
    }
}
