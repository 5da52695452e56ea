import ArgumentParser
import Files
import HTTPClient

/// `hearth import`: writes the JSON of a file of any size, in parts.
///
/// Not atomic: others see the data written so far. A stopped import continues when the command is repeated: a record
/// beside the file holds the progress.
struct ImportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Write a JSON file of any size to a path, in parts.",
        discussion: """
            Reads what 'hearth export' and the Firebase console write, compressed by gzip or not. Data that is there already is replaced when \
            you agree, or by --force; --merge writes into it. Not atomic: others see the parts as they come.

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

    @Option(help: .value("path", "Import only the data at this path of the file."))
    var filter: String?

    @OptionGroup
    var force: ForceOption

    @Flag(help: "Write value by value into what is there; the rest of it stays.")
    var merge = false

    @Option(help: .value("mb", "Megabytes of one request, 1 to 256."))
    var chunkSize = 1

    @Option(help: .value("number", "Requests at a time, 1 to 64."))
    var concurrency = 5

    @Flag(
        inversion: .prefixedEnableDisable,
        help: "Run functions for these writes, on servers that have functions."
    )
    var triggers = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        try checkNumber("--chunk-size", chunkSize, in: 1...256)
        try checkNumber("--concurrency", concurrency, in: 1...64)
    }

    /// The part of the file that is wanted.
    var part: DatabasePath { DatabasePath(filter ?? "/") }

    /// Bytes of one request; a single longer text makes a longer one.
    var partByteLimit: Int { chunkSize * 1024 * 1024 }

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        let path = DatabasePath(path)
        let source = try ImportSource(file)
        var run = try ImportRun(database, source, path, self)
        if try !run.resume() { try prepareTarget(path, of: database, &run) }
        Interruption.end(exitCode: 130) { [console = database.console] in
            console.say("\nstopped; the same command goes on where this one was")
        }
        try run.perform()
        return .silent
    }

    /// Protects present data from unwanted replacement, then records the start of the import and removes the data.
    private func prepareTarget(
        _ path: DatabasePath,
        of database: RemoteDatabase,
        _ run: inout ImportRun
    ) throws(CommandError) {
        guard !merge, try !database.isEmpty(path) else { return run.begin() }
        try database.console.confirm(
            "There is data at \(database.address.describe(path)), which the import replaces"
                + " (--merge writes into it instead)",
            isForced: force.force
        )
        run.begin()
        try database.perform(database.request(.delete, path, [("print", "silent")]))
    }
}

extension RemoteDatabase {
    /// Whether there is no data at `path`.
    func isEmpty(_ path: DatabasePath) throws(CommandError) -> Bool {
        struct Enough: Error {}
        var start: [UInt8] = []
        let request = request(.get, path, [("shallow", "true"), ("limitToFirst", "1")])
        do {
            let response = try client.perform(request) { bytes in
                start += bytes.prefix(16)
                // A server that takes no notice of the limit would send every key.
                if start.count >= 16 { throw Enough() }
            }
            guard response.isSuccess else { throw refusal(request, response) }
        } catch is Enough {
            return false
        } catch {
            throw error as? CommandError ?? .failed("\(error)")
        }
        let text = String(decoding: start, as: UTF8.self).filter { !$0.isWhitespace }
        return ["null", "{}", "[]"].contains(text)
    }
}
