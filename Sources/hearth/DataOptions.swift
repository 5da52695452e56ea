import ArgumentParser
import DataCommands
import DatabaseServer
import Files
import Glibc
import HTTPClient

/// Which server, which database, as whom: options of every command that works on data.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server (default: $HEARTH_URL, $FIREBASE_DATABASE_EMULATOR_HOST, else http://127.0.0.1:9000).",
            valueName: "address"
        )
    )
    var url: String?

    @Option(
        name: [.customLong("instance"), .customLong("ns")],
        help: ArgumentHelp(
            "The database (default: the address's '?ns=', else the server's default).",
            valueName: "name"
        )
    )
    var instance: String?

    @Option(
        help: ArgumentHelp(
            "Token to be sent; $HEARTH_TOKEN keeps it out of process lists.",
            valueName: "token"
        )
    )
    var token: String?

    @Option(
        help: ArgumentHelp("File that holds the token.", valueName: "file"),
        completion: .file()
    )
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "File of the server's admin secret (default: $HEARTH_ADMIN_SECRET_FILE).",
            valueName: "file"
        ),
        completion: .file()
    )
    var adminSecretFile: String?

    @Flag(help: "Send no token, not even 'owner' to a server on this machine.")
    var anonymous = false

    @Option(
        help: ArgumentHelp(
            "As administrator, be judged by the rules with this 'auth', in JSON; null for nobody.",
            valueName: "json"
        )
    )
    var authOverride: String?

    @Option(
        help: ArgumentHelp(
            "PEM file of the authorities to trust for https (default: $HEARTH_CA_FILE).",
            valueName: "file"
        ),
        completion: .file()
    )
    var caFile: String?

    @Option(
        help: ArgumentHelp(
            "Give up after so many seconds without a byte; 0 waits for ever (default: 120).",
            valueName: "seconds"
        )
    )
    var timeout: Int?

    func validate() throws {
        if let timeout, !(0...86_400).contains(timeout) {
            throw ValidationError(
                "--timeout: must be a number of seconds from 0 to 86400, not \(timeout)"
            )
        }
    }

    /// The database that is meant.
    func database() throws(CommandError) -> RemoteDatabase {
        var choice = ServerAddress.Choice()
        choice.url = url
        choice.instance = instance
        choice.token = token
        choice.tokenFile = tokenFile
        choice.adminSecretFile = adminSecretFile
        choice.authOverride = authOverride
        choice.isAnonymous = anonymous
        let environment = ProcessEnvironment.variables()
        var options = HTTPOptions()
        options.authorityFile =
            caFile ?? environment["HEARTH_CA_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        options.agent = "hearth/\(Version.text)"
        if let timeout { options.silenceSeconds = timeout }
        return try RemoteDatabase(
            ServerAddress(choice, environment: environment) { (path) throws(CommandError) in
                try CredentialFile.read(path)
            },
            options,
            Console(),
        )
    }
}

/// What may be left out of a write's command line.
struct WriteOptions: ParsableArguments {
    @Flag(help: "Run no functions for this write, where the server has such.")
    var disableTriggers = false

    func choice(force: Bool) -> WriteChoice {
        var choice = WriteChoice()
        choice.isForced = force
        choice.disablesTriggers = disableTriggers
        return choice
    }
}

/// `--force` of commands that ask.
struct ForceOption: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Ask nobody.")
    var force = false
}

/// Where the JSON of a write comes from.
struct SourceOptions: ParsableArguments {
    @Argument(help: "File with JSON; '-' or nothing reads standard input.", completion: .file())
    var file: String?

    @Option(name: .shortAndLong, help: "The JSON itself.")
    var data: String?

    var source: DataSource { DataSource(data: data, file: file) }

    func validate() throws {
        if file != nil, data != nil { throw ValidationError("a file and --data: give one of them") }
    }
}

/// Which part of a value is asked for.
struct QueryOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Order children by a child of theirs.", valueName: "key"))
    var orderBy: String?

    @Flag(help: "Order children by key.")
    var orderByKey = false

    @Flag(help: "Order children by value.")
    var orderByValue = false

    @Flag(help: "Order children by priority.")
    var orderByPriority = false

    @Option(help: ArgumentHelp("The first so many children.", valueName: "number"))
    var limitToFirst: Int?

    @Option(help: ArgumentHelp("The last so many children.", valueName: "number"))
    var limitToLast: Int?

    @Option(help: ArgumentHelp("From here on; JSON, or text that is a string.", valueName: "value"))
    var startAt: String?

    @Option(help: ArgumentHelp("Behind here.", valueName: "value"))
    var startAfter: String?

    @Option(help: ArgumentHelp("Up to here.", valueName: "value"))
    var endAt: String?

    @Option(help: ArgumentHelp("Before here.", valueName: "value"))
    var endBefore: String?

    @Option(help: ArgumentHelp("Just these.", valueName: "value"))
    var equalTo: String?

    func validate() throws {
        let orders = [orderBy != nil, orderByKey, orderByValue, orderByPriority].count { $0 }
        if orders > 1 { throw ValidationError("several orders are given: give one of them") }
    }

    var choice: QueryChoice {
        var choice = QueryChoice()
        choice.order = orderBy.map { .child($0) }
        if orderByKey { choice.order = .key }
        if orderByValue { choice.order = .value }
        if orderByPriority { choice.order = .priority }
        choice.limitToFirst = limitToFirst
        choice.limitToLast = limitToLast
        choice.startAt = startAt
        choice.startAfter = startAfter
        choice.endAt = endAt
        choice.endBefore = endBefore
        choice.equalTo = equalTo
        return choice
    }
}

extension ParsableCommand {
    /// Runs what a command on data does, and turns its failure into words and an exit code.
    func perform(_ body: () throws(CommandError) -> Void) throws {
        signal(SIGPIPE, SIG_IGN)
        do throws(CommandError) {
            try body()
        } catch {
            if !error.description.isEmpty { StandardError.print("error: \(error)") }
            throw ExitCode(error.exitCode)
        }
    }
}
