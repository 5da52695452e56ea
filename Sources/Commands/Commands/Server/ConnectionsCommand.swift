import ArgumentParser
import Files
import HTTPClient
import JSONTree

struct ConnectionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connections",
        abstract: "List the open connections of a running server, and end one.",
        discussion: """
            Examples:
              hearth connections
              hearth connections list --text ann
              hearth connections end 7
            """,
        subcommands: [List.self, End.self],
        defaultSubcommand: List.self,
    )

    /// Connections of one answer.
    private static let pageSize = 500

    struct List: Command {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the connections: who, from where, since when, and what they listen to.",
        )

        @Option(
            help: .value(
                "text",
                "Only with this in the uid, the address, the database, the id or a path."
            )
        )
        var text: String?

        @Flag(help: "Print JSON, a line for each connection.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let service = AdministeredServer(try server.database())
            var all: [Node] = []
            var next: String?
            repeat {
                let parameters = Parameters([
                    ("limit", "\(ConnectionsCommand.pageSize)"), ("text", text), ("after", next),
                ])
                let answer = try service.tree(
                    service.answer(.get, "/.inspect/connections.json", parameters)
                )
                all += answer.member("connections").elements
                next = answer.member("next").integer.map { "\($0)" }
            } while next != nil
            if json {
                let lines = all.map { String(decoding: $0.json(.value), as: UTF8.self) }
                return .done(lines.joined(separator: "\n"))
            }
            if all.isEmpty { return .done("no connections") }
            let head = ["id", "who", "from", "since", "over", "database", "queued", "listens"]
            return .done(TextTable.text(head, all.map(row), rightAligned: [6]))
        }

        private func row(_ connection: Node) -> [String] {
            func text(_ name: String) -> String { connection.member(name).string ?? "" }
            let listens = connection.member("listens").elements.map {
                ($0.member("path").string ?? "")
                    + ($0.member("query").isAbsent ? "" : "?")
            }
            let count = Int(connection.member("listenCount").integer ?? 0)
            let more = count > listens.count ? " and \(count - listens.count) more" : ""
            let since = connection.member("since").integer ?? 0
            return [
                text("id"), connection.member("uid").string ?? text("who"), text("peer"),
                ISO8601.text(of: since), text("door"), text("database"),
                "\(connection.member("queuedBytes").integer ?? 0)",
                listens.joined(separator: " ") + more,
            ]
        }
    }

    struct End: Command {
        static let configuration = CommandConfiguration(
            commandName: "end",
            abstract:
                "End a connection; its on-disconnect writes run. Its client may connect again.",
            discussion: """
                To keep a person out, disable the account ('hearth users disable'): that ends its connections too.
                """,
        )

        @Argument(help: "The id that 'hearth connections' shows.")
        var id: String

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let service = AdministeredServer(try server.database())
            let segment = PercentCoding.encode(id)
            _ = try service.answer(.delete, "/.inspect/connections/\(segment).json")
            return .done("ended connection \(id)")
        }
    }
}
