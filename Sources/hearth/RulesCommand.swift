import ArgumentParser
import DatabaseServer

/// `hearth rules ...`.
struct RulesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Work on security rules.",
        subcommands: [Check.self],
    )

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Load rules files and tell every fault; exit code 1 when there is one."
        )

        @Argument(help: "Rules files.")
        var files: [String]

        func run() throws {
            try RulesCheck.run(files).report()
        }
    }
}
