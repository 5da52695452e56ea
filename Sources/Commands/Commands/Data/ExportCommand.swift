import ArgumentParser
import Files
import Glibc

/// `hearth export`: writes a value of any size to a file, in constant memory.
///
/// A value that fits in one answer is exported as of one moment. A larger one is read in pages, and the console
/// says so.
struct ExportCommand: Command {
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

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        let path = DatabasePath(path)
        let file = try OutputFile(output, compresses: gzip)
        if let draft = file.draftPath {
            Interruption.end(exitCode: 130) { [console = database.console] in
                unlink(draft)
                console.say("\nstopped; nothing is left of the export")
            }
        }
        var run = ExportRun(database, file, hasPriorities: format == .export)
        try run.perform(path)
        try file.finish(isReadBack: !noVerify)
        guard let output, output != "-" else { return .silent }
        database.console.say(
            "exported \(Amounts.bytes(file.byteCount)) from \(database.address.describe(path)) to "
                + "\(output) in \(Amounts.time(run.elapsed)), "
                + Amounts.rate(file.byteCount, run.elapsed)
        )
        return .silent
    }
}
