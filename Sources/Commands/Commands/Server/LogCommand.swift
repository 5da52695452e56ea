import ArgumentParser
import DatabaseServer
import Files

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Look into a data folder, check it, save what can be saved.",
        subcommands: [Inspect.self, Verify.self, Salvage.self],
    )

    struct Inspect: Command {
        static let configuration = CommandConfiguration(
            abstract: "List segments, checkpoints and databases; changes nothing."
        )

        @Argument(help: "The data folder.")
        var folder = "hearth-data"

        @Flag(help: "List every commit too.")
        var records = false

        func outcome() -> CommandOutcome {
            FolderCommands.inspect(
                folder,
                listRecord: records ? { print(TerminalText.shown($0)) } : nil
            )
        }
    }

    struct Verify: Command {
        static let configuration = CommandConfiguration(
            abstract: "Read everything and report all damage; exit code 1 when there is some."
        )

        @Argument(help: "The data folder.")
        var folder = "hearth-data"

        func outcome() -> CommandOutcome { FolderCommands.verify(folder) }
    }

    struct Salvage: Command {
        static let configuration = CommandConfiguration(
            abstract: "Copy all that is intact into a new folder; the damaged one is only read.",
            discussion: "Exit code 1 when something that was acknowledged is lost.",
        )

        @Argument(help: "The damaged data folder.")
        var folder: String

        @Argument(help: "The new data folder; must not hold anything.")
        var destination: String

        func outcome() -> CommandOutcome {
            FolderCommands.salvage(folder, to: destination)
        }
    }
}
