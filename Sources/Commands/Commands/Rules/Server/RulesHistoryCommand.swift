import ArgumentParser
import Files
import HTTPClient
import JSONTree

struct RulesHistoryCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List the versions of a database's rules: when, by whom, which is in force.",
        discussion: """
            Examples:
              hearth rules history
              hearth rules history --json
              hearth rules history --files
              hearth rules pull --version 3
            """,
    )

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup
    var service: RulesServiceOption

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        if json {
            let request = database.request(
                .get,
                PublishedVersion.address,
                PublishedRules.parameters(files: service.files)
            )
            try database.write(database.perform(request).body, to: nil)
            return .silent
        }
        let rules = try PublishedRules(of: database, files: service.files)
        let inForce = rules.inForceText.map { "\n\($0)" } ?? ""
        guard !rules.versions.isEmpty else {
            let which = service.files ? "published rules for files" : "rules of its own"
            return .done("\(database.location) never had \(which)\(inForce)")
        }
        return .done(Self.table(rules.versions) + inForce)
    }

    /// A line for each version, the newest first, in columns; numbers are aligned right.
    static func table(_ versions: [PublishedVersion]) -> String {
        let rows = versions.map { version in
            [
                "\(version.number)",
                version.time.map { ISO8601.text(of: $0.milliseconds) } ?? "unknown",
                version.author ?? "unknown",
                version.isDetached ? "-" : "\(version.byteCount)",
                [version.isInForce ? "in force" : "", version.isDetached ? "detached" : ""]
                    .filter { !$0.isEmpty }.joined(separator: ", "),
            ]
        }
        return TextTable.text(
            ["version", "time", "author", "bytes", ""],
            rows,
            rightAligned: [0, 3]
        )
    }
}
