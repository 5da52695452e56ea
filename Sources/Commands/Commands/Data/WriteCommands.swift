import ArgumentParser
import Files
import Glibc
import HTTPClient

struct SetCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Replace all data at a path.",
        discussion: """
            Asks before it does so; where it cannot ask, it wants --force.

            Examples:
              hearth set /greeting --data '"hello"'
              hearth set /users users.json --force
              echo '{".sv":"timestamp"}' | hearth set /started --force
            """,
    )

    @OptionGroup
    var write: WriteOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        try write.send(.put, loss: "This replaces all data at", done: "set")
    }
}

struct UpdateCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Replace some children of a path, all at once or none.",
        discussion: """
            Children that the JSON object does not name stay as they are; null removes one. Names may be \
            paths: "ada/name". Asks before it does so; where it cannot ask, it wants --force.

            Examples:
              hearth update /users --data '{"ada/name":"Ada","bob":null}' --force
              hearth update / changes.json
            """,
    )

    @OptionGroup
    var write: WriteOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        try write.send(.patch, loss: "This changes data at", done: "updated")
    }
}

/// `hearth push`: prints `{"name":KEY}`.
struct PushCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Add a child with a new key, and print the key.",
        discussion: """
            New keys sort behind those that were made before.

            Examples:
              hearth push /messages --data '{"text":"hello"}'
              hearth push /messages message.json
            """,
    )

    @Argument(help: "The path of the list, like /messages.")
    var path: String

    @OptionGroup
    var source: SourceOptions

    @OptionGroup
    var triggers: TriggerOption

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        let body = try source.body(database.console)
        let path = DatabasePath(path)
        let response = try database.perform(
            database.request(.post, path, triggers.parameters, body: body)
        )
        guard JSONValidator.accepts(response.body) else {
            throw .failed("the answer of \(database.origin) is not JSON: this is not a database")
        }
        try OutputFile.write(response.body + [UInt8(ascii: "\n")], to: nil)
        return .silent
    }
}

struct RemoveCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove all data at a path.",
        discussion: """
            Asks before it does so; where it cannot ask, it wants --force.

            Examples:
              hearth remove /users/ada
              hearth remove / --instance scratch --force
            """,
    )

    @Argument(help: "The path, like /users/ada.")
    var path: String

    @OptionGroup
    var force: ForceOption

    @OptionGroup
    var triggers: TriggerOption

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        let words = (loss: "This removes all data at", done: "removed")
        return try server.database().write(.delete, path, force, triggers, words) { _ in .none }
    }
}

/// The arguments of `set` and `update`.
struct WriteOptions: ParsableArguments {
    @Argument(help: "The path, like /users/ada.")
    var path: String

    @OptionGroup
    var source: SourceOptions

    @OptionGroup
    var force: ForceOption

    @OptionGroup
    var triggers: TriggerOption

    @OptionGroup(title: "Server")
    var server: ServerOptions

    fileprivate func send(
        _ method: HTTPRequest.Method,
        loss: String,
        done: String
    ) throws(CommandError) -> CommandOutcome {
        try server.database().write(method, path, force, triggers, (loss, done), source.body)
    }
}

extension RemoteDatabase {
    /// Asks, writes the body at the path, and mentions it.
    fileprivate func write(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ force: ForceOption,
        _ triggers: TriggerOption,
        _ words: (loss: String, done: String),
        _ body: (Console) throws(CommandError) -> HTTPBody
    ) throws(CommandError) -> CommandOutcome {
        let path = DatabasePath(path)
        let location = address.describe(path)
        try console.confirm("\(words.loss) \(location)", isForced: force.force)
        let parameters = triggers.parameters + [("print", "silent")]
        try perform(request(method, path, parameters, body: body(console)))
        console.mention("\(words.done) \(location)")
        return .silent
    }
}

/// `--disable-triggers`; servers without functions ignore it.
struct TriggerOption: ParsableArguments {
    @Flag(help: "Run no functions for this write, on servers that have functions.")
    var disableTriggers = false

    var parameters: Parameters {
        disableTriggers ? [("disableTriggers", "true")] : []
    }
}

/// `--force` of commands that ask.
struct ForceOption: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask.")
    var force = false
}

/// Where the JSON of a write comes from: `--data`, else a file, else standard input.
struct SourceOptions: ParsableArguments {
    @Argument(help: "File with JSON; '-' or nothing reads standard input.", completion: .file())
    var file: String?

    @Option(name: .shortAndLong, help: "The JSON itself.")
    var data: String?

    func validate() throws {
        if file != nil, data != nil { throw ValidationError("a file and --data: give one of them") }
    }

    /// Opens the source.
    fileprivate func body(_ console: Console) throws(CommandError) -> HTTPBody {
        if let data { return .bytes(Array(data.utf8)) }
        guard let file, file != "-" else {
            let input = Descriptor.standardInput
            if input.isTerminal {
                console.say("reading JSON from standard input; Ctrl-D ends it")
            }
            return .stream(byteCount: nil) { try input.read(into: $0) }
        }
        let input = try Descriptor.reading(file)
        let byteCount = Descriptor.byteCount(try input.status())
        return .stream(byteCount: byteCount) { try input.read(into: $0) }
    }
}
