import ArgumentParser
import DataCommands
import Files
import RulesCommands

/// `hearth rules explain`.
struct RulesExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract:
            "Say why rules allow or refuse one request; exit code 0 when allowed, 1 when refused.",
        discussion: """
            Nothing is changed. With --rules the request is tried here, on the data of --data or on an empty
            database; without, or with --url or --instance, on a server, whose rules and data stand in for
            those that are not given. A server asks for its admin secret, as for any look behind the rules.

            Operations: read, query, write (or set), update, remove.

            Examples:
              hearth rules explain read /rooms/r1 --uid ann
              hearth rules explain set /rooms/r1/title --value '"Tea"' --uid bob
              hearth rules explain update /rooms/r1 --value-file change.json --auth '{"uid":"ann","token":{"admin":true}}'
              hearth rules explain read /rooms --query '{"orderByKey":true,"limitToLast":10}'
              hearth rules explain read /rooms/r1 --uid ann --rules rules.json --data data.json
            """,
    )

    @Argument(help: "What is tried: read, query, write, update or remove.")
    var operation: String

    @Argument(help: "Where, like /users/ada.")
    var path: String

    @Option(name: .shortAndLong, help: ArgumentHelp("What is written, in JSON.", valueName: "json"))
    var value: String?

    @Option(
        help: ArgumentHelp("File with what is written.", valueName: "file"),
        completion: .file()
    )
    var valueFile: String?

    @Option(
        help: ArgumentHelp(
            "Who asks, as the rules' 'auth' in JSON; null is nobody.",
            valueName: "json"
        )
    )
    var auth: String?

    @Option(help: ArgumentHelp("Who asks: short for --auth '{\"uid\":...}'.", valueName: "uid"))
    var uid: String?

    @Option(
        help: ArgumentHelp("The query of a read, such as {\"orderByKey\":true}.", valueName: "json")
    )
    var query: String?

    @Option(help: ArgumentHelp("The time, in milliseconds since 1970.", valueName: "ms"))
    var now: Int?

    @Option(help: ArgumentHelp("Rules file.", valueName: "file"), completion: .file())
    var rules: String?

    @Option(
        help: ArgumentHelp("File with the data as JSON.", valueName: "file"),
        completion: .file()
    )
    var data: String?

    @Flag(help: "Print the simulator's JSON: the verdict, and every rule with all its values.")
    var json = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if auth != nil, uid != nil { throw ValidationError("--auth and --uid: give one of them") }
        if value != nil, valueFile != nil {
            throw ValidationError("--value and --value-file: give one of them")
        }
    }

    func run() throws {
        var explain = RulesExplain(operation: operation, path: path)
        explain.value = value
        explain.valueFile = valueFile
        explain.auth = auth
        explain.uid = uid
        explain.query = query
        explain.now = now
        explain.rules = rules
        explain.data = data
        explain.isJSON = json
        let asksServer = rules == nil || server.url != nil || server.instance != nil
        try report { () throws(CommandError) in
            try asksServer ? explain.run(on: server.database()) : explain.runOffline()
        }
    }
}
