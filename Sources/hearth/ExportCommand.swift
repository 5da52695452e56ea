import ArgumentParser
import DataCommands

/// `hearth export`.
struct ExportCommand: ParsableCommand {
    /// Whether priorities are in the file.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case export
        case plain
    }

    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the JSON value at a path to a file, of any size.",
        discussion: """
            The file is there under its name when it is whole and was read back. What the server gives in one answer is exported as \
            it was at one moment; more is read in pages.

            Examples:
              hearth export / -o backup.json
              hearth export /users -o users.json --format plain
              hearth export / --instance prod --gzip -o prod.json.gz
            """,
    )

    @Argument(help: "The path, like /users.")
    var path: String

    @Option(
        name: .shortAndLong,
        help: "The file; '-' or nothing is standard output.",
        completion: .file()
    )
    var output: String?

    @Option(help: "export: with priorities, what 'import' reads; plain: without.")
    var format = Format.export

    @Flag(help: "Compress the file; 'import' reads it as it is.")
    var gzip = false

    @Flag(help: "Do not read the new file back.")
    var noVerify = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func run() throws {
        var choice = ExportChoice()
        choice.hasPriorities = format == .export
        choice.compresses = gzip
        choice.isReadBack = !noVerify
        try perform { () throws(CommandError) in
            try server.database().export(DatabasePath(path), to: output, choice)
        }
    }
}
