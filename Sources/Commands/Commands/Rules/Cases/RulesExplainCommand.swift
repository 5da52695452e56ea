import ArgumentParser
import FileRules
import FileRulesTools
import Files
import Glibc
import HTTPClient
import JSONTree
import RulesTools
import SecurityRules

struct RulesExplainCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract:
            "Say why rules allow or refuse one request; exit code 0 when allowed, 1 when refused.",
        discussion: """
            Nothing is changed. With --rules the request is tried here, on the data of --data or on an empty
            database; without, or with --url or --instance, on a server, whose rules and data are used
            where none are given. A server asks for its admin secret, as for any look behind the rules.

            Operations: read, query, write (or set), update, remove. Of files, which --files asks for, or --bucket, or rules for
            files: get, list, create, update, delete. There the path is the object's name, and what is said of no object is
            looked up on the server: the object as it is, and what rules read of databases.

            Examples:
              hearth rules explain read /rooms/r1 --uid ann
              hearth rules explain set /rooms/r1/title --value '"Tea"' --uid bob
              hearth rules explain update /rooms/r1 --value-file change.json --auth '{"uid":"ann","token":{"admin":true}}'
              hearth rules explain read /rooms --query '{"orderByKey":true,"limitToLast":10}'
              hearth rules explain read /rooms/r1 --uid ann --rules rules.json --data data.json
              hearth rules explain get photos/a.png --files --uid ann
              hearth rules explain create photos/a.png --uid ann --rules storage.rules --new-resource '{"size":9}'
            """,
    )

    @Argument(
        help:
            "What is tried: read, query, write, update or remove; of files get, list, create, update or delete."
    )
    var operation: String

    @Argument(help: "Where, like /users/ada; of files the object's name, like photos/a.png.")
    var path: String

    @Option(name: .shortAndLong, help: .value("json", "What is written, in JSON."))
    var value: String?

    @Option(file: "File with what is written.")
    var valueFile: String?

    @Option(
        value: "json",
        help: "Who asks, as the rules' 'auth' in JSON; null is a user who is not signed in."
    )
    var auth: String?

    @Option(help: "Who asks: short for --auth '{\"uid\":...}'.")
    var uid: String?

    @Option(help: .value("json", "The query of a read, such as {\"orderByKey\":true}."))
    var query: String?

    @Option(help: .value("ms", "The time, in milliseconds since 1970."))
    var now: Int?

    @Option(file: "Rules file.")
    var rules: String?

    @Option(file: "File with the data as JSON.")
    var data: String?

    @Flag(help: "The request is for a file, under the rules for files.")
    var files = false

    @Option(help: .value("name", "The bucket of the file; without it the server's only one."))
    var bucket: String?

    @Option(
        value: "json",
        help: "The object as it is, such as {\"size\":9,\"metadata\":{}}; null is none."
    )
    var resource: String?

    @Option(value: "json", help: "The object as it will be, of create and update.")
    var newResource: String?

    @Flag(help: "Print the simulator's JSON: the decision, and every rule with all its values.")
    var json = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if auth != nil, uid != nil { throw ValidationError("--auth and --uid: give one of them") }
        if value != nil, valueFile != nil {
            throw ValidationError("--value and --value-file: give one of them")
        }
    }

    /// Bytes of a file with a value or data.
    private static let byteLimit = 64 << 20

    /// Exit code 0 when the request is allowed, 1 when it is refused.
    func outcome() throws(CommandError) -> CommandOutcome {
        // Report faults in the rules before asking the server.
        let file: RulesFile? = if let rules { try RulesFile.load(rules) } else { nil }
        if let file, server.url == nil, server.instance == nil { return try answer(under: file) }
        return try answer(of: server.database(), file)
    }

    /// Answers without a server: under the rules given, on the data given or on none.
    private func answer(under rules: RulesFile) throws(CommandError) -> CommandOutcome {
        let form = try form(rules, sendsRules: false)
        do throws(SimulationBodyError) {
            let answer: SimulationAnswer
            switch rules.rules {
            case .database(let ruleset):
                var request = try SimulationRequest(body: form.body)
                request.isAnsweredInWords = !json
                answer = request.answer(under: ruleset, on: .absent, at: Self.systemTime)
            case .files(let ruleset):
                let request = try FileSimulation(
                    body: form.body,
                    bucket: "bucket",
                    now: Self.systemTime
                )
                let result = request.decided(under: .loaded(ruleset), stored: nil) { name, _ in
                    name == nil ? .absent : nil
                }
                answer = result.answer(inWords: !json)
            }
            return outcome(isAllowed: answer.isAllowed, answer.body)
        } catch {
            switch error {
            case .malformed(let fault): throw .usage(form.words(fault))
            case .rules(let error, _): throw .failed("\(error)")
            }
        }
    }

    /// Asks a server; its rules and data are used where none are given.
    private func answer(
        of database: RemoteDatabase,
        _ file: RulesFile?
    ) throws(CommandError) -> CommandOutcome {
        let form = try form(file, sendsRules: true)
        let type = json ? "application/json" : "text/plain"
        let response = try database.simulate(form.body, accept: type)
        if response.isSuccess {
            let isAllowed = response.headers["hearth-verdict"] == "allowed"
            return outcome(isAllowed: isAllowed, response.body)
        }
        guard let fault = Self.fault(in: response.body) else {
            throw .failed(String(decoding: response.body.prefix(1_000), as: UTF8.self))
        }
        throw .usage(form.words(fault))
    }

    private func outcome(isAllowed: Bool, _ body: [UInt8]) -> CommandOutcome {
        var text = String(decoding: body, as: UTF8.self)
        while text.last == "\n" { text.removeLast() }
        return CommandOutcome(output: text, exitCode: isAllowed ? 0 : 1)
    }

    /// The first fault of a server's refusal, with its position in the body.
    private static func fault(in body: [UInt8]) -> RulesFault? {
        guard let entry = Node(answer: body)?.member("errors").member("0") else { return nil }
        let position = entry.member("body")
        return RulesFault(entry, at: position.isAbsent ? entry : position)
    }

    private static var systemTime: Timestamp {
        var time = timespec()
        // The arguments are good: it cannot fail.
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    // MARK: The request

    private func form(
        _ rules: RulesFile?,
        sendsRules: Bool
    ) throws(CommandError) -> SimulationForm {
        var form = SimulationForm()
        func add(_ name: String, _ json: [UInt8], from origin: String) throws(CommandError) {
            try check(json, from: origin)
            form.add(name, json: json, from: origin)
        }
        func add(_ name: String, _ json: String?, from origin: String) throws(CommandError) {
            if let json { try add(name, Array(json.utf8), from: origin) }
        }
        if try isForFiles(rules) {
            form.add("service", text: "files", from: "--files")
            form.add("op", text: try simulatedOnFile, from: "the operation")
            if let bucket { form.add("bucket", text: bucket, from: "--bucket") }
            try add("resource", resource, from: "--resource")
            try add("newResource", newResource, from: "--new-resource")
        } else {
            form.add("op", text: try simulated, from: "the operation")
            if let value = try wantedValue { try add("value", value.json, from: value.origin) }
            try add("query", query, from: "--query")
        }
        form.add("path", text: path, from: "the path")
        if let auth {
            try add("auth", auth, from: "--auth")
        } else if let uid {
            let json: JSONValue = ["uid": .string(uid)]
            form.add("auth", json: json.text, from: "--uid")
        }
        if let now { form.add("now", json: Array("\(now)".utf8), from: "--now") }
        if sendsRules, let rules { form.add("rules", text: rules.text, from: rules.path) }
        if let data {
            try add("data", TextFile.bytes(data, byteLimit: Self.byteLimit), from: data)
        }
        form.finish()
        return form
    }

    /// Whether a file is meant: by an option that only files have, or by the rules.
    private func isForFiles(_ rules: RulesFile?) throws(CommandError) -> Bool {
        let isAsked = files || bucket != nil || resource != nil || newResource != nil
        guard let rules else { return isAsked }
        if case .files = rules.rules { return true }
        if isAsked { _ = try rules.fileRuleset }
        return false
    }

    /// The operation on a file, which has neither a value nor a query.
    private var simulatedOnFile: String {
        get throws(CommandError) {
            if value != nil || valueFile != nil || query != nil {
                throw .usage(
                    "a request for a file takes no --value, --value-file or --query; --new-resource says what is stored"
                )
            }
            let known = FileOperation.allCases.map(\.rawValue)
            if known.contains(operation) { return operation }
            let near = Spelling.nearest(to: operation, among: known)
            let hint = near.map { "; did you mean '\($0)'?" } ?? ""
            throw .usage(
                "'\(operation)' is not an operation on files: get, list, create, update or delete\(hint)"
            )
        }
    }

    /// The simulator's word for the operation.
    private var simulated: String {
        get throws(CommandError) {
            switch operation {
            case "read", "get", "listen": return query == nil ? "read" : "query"
            case "query": return "query"
            case "write", "set", "put", "transaction", "remove", "delete": return "write"
            case "update", "patch": return "update"
            default:
                let known = ["read", "get", "query", "write", "set", "update", "remove"]
                let near = Spelling.nearest(to: operation, among: known)
                let hint = near.map { "; did you mean '\($0)'?" } ?? ""
                throw .usage(
                    "'\(operation)' is not an operation: read, query, write, update or remove\(hint)"
                )
            }
        }
    }

    private var wantedValue: (json: [UInt8], origin: String)? {
        get throws(CommandError) {
            if operation == "remove" || operation == "delete" {
                if value != nil || valueFile != nil {
                    throw .usage("'\(operation)' takes no value")
                }
                return (Array("null".utf8), "--value")
            }
            if let value { return (Array(value.utf8), "--value") }
            if let valueFile {
                return (try TextFile.bytes(valueFile, byteLimit: Self.byteLimit), valueFile)
            }
            if try ["write", "update"].contains(simulated) {
                throw .usage(
                    "'\(operation)' takes --value JSON or --value-file FILE; 'remove' takes none"
                )
            }
            return nil
        }
    }

    private func check(_ json: [UInt8], from origin: String) throws(CommandError) {
        guard let fault = SimulationForm.fault(of: json) else { return }
        var words = "\(origin):\(fault.line):\(fault.column): \(fault.message)"
        // A text that begins like a word was probably meant as a JSON string.
        if origin.hasPrefix("--"), let text = String(validating: json, as: UTF8.self),
            let first = text.unicodeScalars.first, first.properties.isAlphabetic, text.count <= 40
        {
            words +=
                "\n    hint: in JSON text has quotes: \(origin) '\(JSONWord.quoted(text))'"
        }
        throw .usage(words)
    }
}

extension RemoteDatabase {
    /// Asks the simulator with a request as JSON, and returns a success, or the refusal of an invalid body (400).
    fileprivate func simulate(_ body: [UInt8], accept type: String) throws(CommandError)
        -> HTTPResponse
    {
        let request = HTTPRequest(
            .post,
            address.url(resource: "/.simulate"),
            headers: address.headers + ["Accept: \(type)", "Content-Type: application/json"],
            body: .bytes(body)
        )
        let response = try answer(to: request)
        if response.isSuccess, response.headers["hearth-verdict"] == nil {
            throw .failed(
                "\(address.origin) has no simulator: is it another kind of server, or an older one?"
            )
        }
        if response.isSuccess || response.status == 400 { return response }
        throw refusal(request, response)
    }
}
