package import DataCommands
package import Files
import Glibc
import HTTPClient
import JSONTree
import RulesCases
import SecurityRules

/// `hearth rules explain`: one request, and why rules allow or refuse it.
package struct RulesExplain {
    /// `read`, `write`, `update` or `query`, or a word that people use for one of these.
    package var operation: String
    package var path: String
    /// JSON text, or a file of it.
    package var value: String?
    package var valueFile: String?
    /// JSON text: an object or null; nil for nobody.
    package var auth: String?
    /// Stands for `{"uid":...}`.
    package var uid: String?
    /// JSON text, as in the simulator.
    package var query: String?
    /// Milliseconds since 1970; nil for the present of the server, offline for the system's clock.
    package var now: Int?
    package var rules: String?
    package var data: String?
    /// Whether the answer is the simulator's JSON.
    package var isJSON = false

    /// Names what is tried, and where.
    package init(operation: String, path: String) {
        self.operation = operation
        self.path = path
    }

    /// Bytes of a file with a value or data.
    private static let byteLimit = 64 << 20

    /// Answers without a server: under the rules given, on the data given or on none.
    ///
    /// - Returns: exit code 0 when it is allowed, 1 when it is refused.
    /// - Throws: `CommandError` for what makes no sense.
    package func runOffline() throws(CommandError) -> CommandOutcome {
        guard let rules else { throw .usage("without a server, --rules FILE is needed") }
        let ruleset = try RulesFile.load(rules).ruleset
        let form = try form(rules: nil)
        var request: SimulationRequest
        do throws(SimulationBodyError) { request = try SimulationRequest(body: form.body) } catch {
            switch error {
            case .malformed(let fault): throw .usage(form.words(fault))
            case .rules(let error, _): throw .failed("\(error)")
            }
        }
        request.isAnsweredInWords = !isJSON
        let answer = request.answer(under: ruleset, on: .absent, at: Self.systemTime)
        return outcome(isAllowed: answer.isAllowed, answer.body)
    }

    /// Asks a server, whose rules and data stand in for those that are not given.
    ///
    /// - Returns: exit code 0 when it is allowed, 1 when it is refused.
    /// - Throws: `CommandError` for what makes no sense, and when the server does not answer.
    package func run(on database: RemoteDatabase) throws(CommandError) -> CommandOutcome {
        // What is wrong with the rules is best said before anybody is asked.
        let file: RulesFile? = if let rules { try RulesFile.load(rules) } else { nil }
        let form = try form(rules: file)
        let type = isJSON ? "application/json" : "text/plain"
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
        return CommandOutcome(output: text, errors: "", exitCode: isAllowed ? 0 : 1)
    }

    /// The first fault of a server's refusal, with its place in the body.
    private static func fault(in body: [UInt8]) -> RulesFault? {
        let entry: Node
        do throws(JSONError) { entry = try Node(json: body)["errors"]["0"] } catch { return nil }
        guard let message = entry["message"].string else { return nil }
        let place = entry["body"].isAbsent ? entry : entry["body"]
        return RulesFault(
            line: Int(place["line"].integer ?? 0),
            column: Int(place["column"].integer ?? 0),
            message: message,
            hint: entry["hint"].string
        )
    }

    private static var systemTime: Timestamp {
        var time = timespec()
        // The arguments are good: it cannot fail.
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    // MARK: The request

    private func form(rules: RulesFile?) throws(CommandError) -> SimulationForm {
        var form = SimulationForm()
        form.add("op", text: try simulated, from: "the operation")
        form.add("path", text: path, from: "the path")
        if let value = try wantedValue {
            form.add("value", json: value.json, from: value.origin)
        }
        if let query { try add("query", query, from: "--query", to: &form) }
        if let auth {
            try add("auth", auth, from: "--auth", to: &form)
        } else if let uid {
            var json = Array("{\"uid\":".utf8)
            appendJSONString(uid, to: &json)
            form.add("auth", json: json + Array("}".utf8), from: "--uid")
        }
        if let now { form.add("now", json: Array("\(now)".utf8), from: "--now") }
        if let rules { form.add("rules", text: rules.text, from: rules.path) }
        if let data {
            let json = try TextFile.bytes(data, byteLimit: Self.byteLimit)
            try check(json, from: data)
            form.add("data", json: json, from: data)
        }
        form.finish()
        return form
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
                    "'\(operation)' is no operation: read, query, write, update or remove\(hint)"
                )
            }
        }
    }

    private var wantedValue: (json: [UInt8], origin: String)? {
        get throws(CommandError) {
            let isRemoval = operation == "remove" || operation == "delete"
            if isRemoval {
                if value != nil || valueFile != nil {
                    throw .usage("'\(operation)' takes no value")
                }
                return (Array("null".utf8), "--value")
            }
            if let value {
                let json = Array(value.utf8)
                try check(json, from: "--value")
                return (json, "--value")
            }
            guard let valueFile else {
                if try ["write", "update"].contains(simulated) {
                    throw .usage(
                        "'\(operation)' takes --value JSON or --value-file FILE; 'remove' takes none"
                    )
                }
                return nil
            }
            let json = try TextFile.bytes(valueFile, byteLimit: Self.byteLimit)
            try check(json, from: valueFile)
            return (json, valueFile)
        }
    }

    private func add(
        _ name: String,
        _ text: String,
        from origin: String,
        to form: inout SimulationForm
    ) throws(CommandError) {
        let json = Array(text.utf8)
        try check(json, from: origin)
        form.add(name, json: json, from: origin)
    }

    private func check(_ json: [UInt8], from origin: String) throws(CommandError) {
        guard let fault = SimulationForm.fault(of: json) else { return }
        var words = "\(origin):\(fault.line):\(fault.column): \(fault.message)"
        // What begins like a word was meant as text.
        if origin.hasPrefix("--"), let text = String(validating: json, as: UTF8.self),
            let first = text.unicodeScalars.first, first.properties.isAlphabetic, text.count <= 40
        {
            words +=
                "\n    hint: in JSON text has quotes: \(origin) '\(CheckedFile.jsonString(text))'"
        }
        throw .usage(words)
    }
}
