import ArgumentParser
import DataCommands

/// `hearth import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Write a JSON file of any size to a path, in parts.",
        discussion: """
            Reads what 'hearth export' and the Firebase console write, compressed by gzip or not. Data that is there already is replaced when \
            somebody agrees, or by --force; --merge writes into it. Not atomic: others see the parts as they come.

            An import that was stopped goes on when the same command is given again; FILE.hearth-import says where.

            Examples:
              hearth import / backup.json
              hearth import /users export.json --filter /users
              hearth import /settings defaults.json --merge
            """,
    )

    @Argument(help: "The path that gets the data, like /users.")
    var path: String

    @Argument(
        help: "The file; '-' reads standard input, which cannot go on when it is stopped.",
        completion: .file()
    )
    var file: String

    @Option(
        help: ArgumentHelp("Import only the data at this path of the file.", valueName: "path")
    )
    var filter: String?

    @OptionGroup
    var force: ForceOption

    @Flag(help: "Write value by value into what is there; the rest of it stays.")
    var merge = false

    @Option(
        help: ArgumentHelp("Megabytes of one request, 1 to 256.", valueName: "mb")
    )
    var chunkSize = 1

    @Option(help: ArgumentHelp("Requests at a time, 1 to 64.", valueName: "number"))
    var concurrency = 5

    @Flag(
        inversion: .prefixedEnableDisable,
        help: "Run functions for these writes, where the server has such."
    )
    var triggers = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        guard (1...256).contains(chunkSize) else {
            throw ValidationError("--chunk-size: must be a number from 1 to 256, not \(chunkSize)")
        }
        guard (1...64).contains(concurrency) else {
            throw ValidationError(
                "--concurrency: must be a number from 1 to 64, not \(concurrency)"
            )
        }
    }

    func run() throws {
        var choice = ImportChoice()
        choice.isForced = force.force
        choice.merges = merge
        choice.filter = DatabasePath(filter ?? "/")
        choice.partByteLimit = chunkSize * 1024 * 1024
        choice.concurrency = concurrency
        choice.disablesTriggers = !triggers
        try perform { () throws(CommandError) in
            try server.database().importFile(file, to: DatabasePath(path), choice)
        }
    }
}
