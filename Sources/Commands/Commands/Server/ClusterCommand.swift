import ArgumentParser
import DatabaseServer
import Files
import HTTPClient
import JSONTree

struct ClusterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Look at a group of nodes that share a log, and begin one.",
        discussion: """
            Examples:
              hearth cluster status                          as one node sees it
              hearth cluster found --data-dir hearth-data    make the data of a server that is alone a group's beginning
            """,
        subcommands: [Status.self, Found.self],
        defaultSubcommand: Status.self,
    )

    struct Status: Command {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show who owns the group, and how far each node is.",
            discussion: """
                Each node answers for itself: a follower says what it heard last.
                """,
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let service = AdministeredServer(try server.database())
            let answer = try service.answer(.get, "/.inspect/cluster.json")
            if json { return .done(String(decoding: answer, as: UTF8.self)) }
            let group = try service.tree(answer)
            var text = TextTable.text(
                ["address", "role", "epoch", "commit", "entry"],
                ([group] + group.member("nodes").elements).map(row),
                rightAligned: [2, 3, 4]
            )
            if group.member("stalled").boolean == true {
                text += "\nThe log takes no commits now: most brokers are away or choose a leader."
            }
            if let fault = group.member("fault").string { text += "\nstopped: \(fault)" }
            return .done(text)
        }

        private func row(_ node: Node) -> [String] {
            func number(_ name: String) -> String {
                node.member(name).integer.map { "\($0)" } ?? ""
            }
            return [
                node.member("address").string ?? "", node.member("role").string ?? "",
                number("epoch"), number("commit"), number("sequence"),
            ]
        }
    }

    struct Found: Command {
        static let configuration = CommandConfiguration(
            commandName: "found",
            abstract: "Make a data folder the beginning of a group's log.",
            discussion: """
                For the first node alone, whose server is stopped, and brokers that hold no log of the group. The other \
                nodes begin with copies of the folder that were made after this, and before the first node started.
                """,
        )

        @Option(help: "The data folder.")
        var dataDir: String

        func outcome() throws(CommandError) -> CommandOutcome {
            do { try foundGroup(dataDir) } catch {
                throw .failed("\(error)")
            }
            return .done("\(dataDir) is the beginning of a group: start it with --cluster-node")
        }
    }
}
