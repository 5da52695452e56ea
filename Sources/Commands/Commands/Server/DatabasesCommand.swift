import ArgumentParser
import Files
import HTTPClient
import JSONTree

struct DatabasesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "databases",
        abstract: "List the databases of a running server with their size, and make one.",
        discussion: """
            Examples:
              hearth databases
              hearth databases create shop     with --dev; in production use --database and start anew
            """,
        subcommands: [List.self, Create.self],
        defaultSubcommand: List.self,
    )

    struct List: Command {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the databases: size, rules in force, indexes, listens.",
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let service = AdministeredServer(try server.database())
            let answer = try service.answer(.get, "/.inspect/database_figures.json")
            if json { return .done(String(decoding: answer, as: UTF8.self)) }
            let head = ["database", "bytes", "nodes", "commits", "listens", "indexes", "rules"]
            let rows = try service.tree(answer).member("databases").elements.map(row)
            return .done(TextTable.text(head, rows, rightAligned: [1, 2, 3, 4, 5]))
        }

        private func row(_ database: Node) -> [String] {
            func number(_ name: String) -> String {
                database.member(name).integer.map { "\($0)" } ?? ""
            }
            return [
                database.member("name").string ?? "", number("bytes"), number("nodes"),
                number("commits"), number("listens"),
                "\(database.member("indexes").elements.count)", rules(database.member("rules")),
            ]
        }

        private func rules(_ rules: Node) -> String {
            switch rules.member("source").string {
            case "own": "version \(rules.member("version").integer ?? 0)"
            case "file": rules.member("file").string ?? ""
            case let source: source ?? ""
            }
        }
    }

    struct Create: Command {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Make a database on a development server.",
            discussion: """
                In production the databases are those of the settings: add --database NAME and start the server anew.
                """,
        )

        @Argument(help: "Its name.")
        var name: String

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let service = AdministeredServer(try server.database())
            let body: JSONValue = ["name": .string(name)]
            _ = try service.answer(.post, "/.inspect/databases.json", json: body.text)
            return .done("made the database \(name)")
        }
    }
}
