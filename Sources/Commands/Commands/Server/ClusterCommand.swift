import ArgumentParser
import DatabaseServer
import Files
import Glibc
import HTTPClient
import JSONTree

struct ClusterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Look at a group of nodes that share a log, and begin one.",
        discussion: """
            Examples:
              hearth cluster status                          as one node sees it
              hearth cluster handover                        another node takes over: the way to stop an owner
              hearth cluster check --config /etc/hearth/hearth.json    whether the brokers can carry the log
              hearth cluster found --data-dir hearth-data    make the data of a server that is alone a group's beginning
              hearth cluster join --url https://db1.example.com:9000 --data-dir hearth-data    begin with a copy
            """,
        subcommands: [Status.self, Handover.self, Check.self, Found.self, Join.self],
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
                ["address", "role", "epoch", "commit", "entry", "rules"],
                ([group] + group.member("nodes").elements).map(row),
                rightAligned: [2, 3, 4]
            )
            if group.member("stalled").boolean == true {
                text += "\nThe log takes no commits now: most brokers are away or choose a leader."
            }
            if group.member("rulesDiffer").boolean == true {
                text += "\nThe nodes have different files of rules: give each the same."
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
                String((node.member("rules").string ?? "").prefix(8)),
            ]
        }
    }

    struct Handover: Command {
        static let configuration = CommandConfiguration(
            commandName: "handover",
            abstract: "Let another node own the group.",
            discussion: """
                For the owner: it writes what waits, another node takes over at once, and the owner ends with exit code 75, by which \
                its service manager starts it again as a follower. Apps connect again by themselves.
                """,
        )

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let service = AdministeredServer(try server.database())
            _ = try service.answer(.post, "/.settings/cluster/handover.json")
            return .done("handed over; ask another node for its status to see the next owner")
        }
    }

    struct Check: Command {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Look whether brokers can carry a group's log.",
            discussion: """
                Takes the flags of hearth serve, and reads the same variables and settings file. Speaks to each broker as a node \
                would, and changes nothing. Exit code 1 when something is wrong.
                """,
        )

        @OptionGroup
        var settings: ServerSettings

        func outcome() throws(CommandError) -> CommandOutcome {
            do throws(ConfigurationFaults) {
                return checkCluster(try settings.configuration())
            } catch {
                throw .failed("\(error)")
            }
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

    struct Join: Command {
        static let configuration = CommandConfiguration(
            commandName: "join",
            abstract: "Make a data folder for a new node: a copy of the owner's data.",
            discussion: """
                For a group that has forgotten the beginning of its log, and for one whose log is long. The owner goes on \
                serving, and keeps what follows the copy for an hour: start the node until then.
                """,
        )

        @Option(help: .value("folder", "The new data folder; must not hold anything."))
        var dataDir: String

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let database = try server.database()
            let file = "\(dataDir).joining"
            defer { unlink(file) }
            let answer: HTTPResponse
            do throws(BackupError) {
                let backup = try BackupFile(file)
                answer = try backup.download(from: database)
                _ = try backup.finish(isVerified: false)
            } catch {
                throw .failed("\(error)")
            }
            let mark = answer.headers[BackupCommands.markHeader]
            return BackupCommands.join(file, mark: mark, to: dataDir)
        }
    }
}
