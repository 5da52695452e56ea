import JSONTree
import Transport
import WireProtocol

/// The query parameters that the REST routes share; unknown ones are ignored.
struct RESTParameters {
    /// How the answer's text is laid out.
    enum Print: Equatable { case compact, pretty, silent }

    var print = Print.compact
    var isShallow = false
    /// Whether priorities are part of the answer.
    var isExport = false
    var isDryRun = false
    /// How values are written.
    var form: Node.JSONForm { isExport ? .export : .value }
    /// On whose behalf an admin acts.
    var override: AuthOverride?
    /// The token in the address or in the `Authorization` header; the header wins.
    var token: String?

    /// - Throws: the text of a 400 answer.
    init(_ head: RequestHead) throws(BadRequest) {
        if let bearer = RESTParameters.bearer(head) { token = bearer }
        for (name, value) in head.query {
            switch name {
            case "access_token", "auth":
                if token == nil, !value.isEmpty { token = value }
            case "print":
                switch value {
                case "pretty": print = .pretty
                case "silent": print = .silent
                default: throw BadRequest("'print' must be 'pretty' or 'silent'")
                }
            case "shallow": isShallow = try RESTParameters.flag(name, value)
            case "dryRun": isDryRun = try RESTParameters.flag(name, value)
            case "format":
                switch value {
                case "export": isExport = true
                case "strict": isExport = false
                default: throw BadRequest("'format' must be 'export' or 'strict'")
                }
            case "auth_variable_override": override = try RESTParameters.override(value)
            default: break
            }
        }
    }

    /// The token of an `Authorization: Bearer` header; the scheme's case does not matter.
    private static func bearer(_ head: RequestHead) -> String? {
        guard let value = head.header("authorization") else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    private static func flag(_ name: String, _ value: String) throws(BadRequest) -> Bool {
        switch value {
        case "true": true
        case "false": false
        default: throw BadRequest("'\(name)' must be 'true' or 'false'")
        }
    }

    private static func override(_ text: String) throws(BadRequest) -> AuthOverride {
        do throws(JSONError) {
            if let override = try readOverride(Array(text.utf8)) { return override }
        } catch {
            // Every fault has the same remedy, which the sentence below says.
        }
        throw BadRequest("'auth_variable_override' must be a JSON object or null")
    }

    /// nil for a value of another kind.
    private static func readOverride(_ text: [UInt8]) throws(JSONError) -> AuthOverride? {
        try text.withBytes { bytes throws(JSONError) in
            var scanner = JSONScanner(bytes)
            switch try scanner.peek() {
            case UInt8(ascii: "n"):
                try scanner.readNull()
                try scanner.expectEnd()
                return .nobody
            case UInt8(ascii: "{"):
                let node = try scanner.readNode(anyKeys: true)
                try scanner.expectEnd()
                return .value(node)
            default: return nil
            }
        }
    }
}

/// A request that makes no sense; the text goes into the answer.
struct BadRequest: Error, Equatable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
