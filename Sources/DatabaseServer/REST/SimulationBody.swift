import DatabaseCore
import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// Why the body of a simulator request makes no sense.
enum SimulationBodyError: Error {
    case malformed(String)
    /// The rules it brings do not load.
    case rules(RulesError)
}

extension SimulationRequest {
    /// Reads the body of `POST /.simulate`.
    ///
    ///     {"op":"read|write|update|query","path":"/a","value":...,"query":{...},"auth":{...}|null,
    ///      "now":ms,"rules":text or object,"data":...}
    ///
    /// Unknown members are refused: a misspelt one would silently test something else.
    init(body: [UInt8]) throws(SimulationBodyError) {
        var members = SimulationMembers()
        do throws(JSONError) {
            try body.withBytes { bytes throws(JSONError) in try members.read(bytes) }
        } catch {
            let (line, column) = body.withBytes { error.lineAndColumn(in: $0) }
            throw .malformed(
                "The body is not as expected: \(FaultText.of(error.reason)) at \(line):\(column)."
            )
        }
        if let fault = members.fault { throw .malformed(fault) }
        if let unknown = members.unknown {
            throw .malformed("Unknown member '\(unknown)' in the body.")
        }
        self.init(
            operation: try members.operation(),
            auth: members.auth.map(AuthVariable.init),
            now: members.now.map(Timestamp.init(milliseconds:)),
            rules: try members.ruleset(),
            data: members.data?.node,
        )
    }
}

/// The members of the body as they stand there.
private struct SimulationMembers {
    var op: String?
    var path: String?
    var value: [UInt8]?
    var query: [UInt8]?
    var auth: Node?
    var now: Int64?
    var rules: String?
    var data: Draft?
    var unknown: String?
    /// What is wrong with the first member of a wrong kind.
    var fault: String?

    mutating func read(_ bytes: Bytes) throws(JSONError) {
        var scanner = JSONScanner(bytes)
        try scanner.enterObject()
        while let name = try scanner.nextMember() {
            switch name {
            case "op": op = try scanner.readString()
            case "path": path = try scanner.readString()
            case "value": value = try Self.text(&scanner, bytes)
            case "query": query = try Self.text(&scanner, bytes)
            case "auth": try readAuth(&scanner)
            case "now": try readNow(&scanner)
            case "rules": try readRules(&scanner, bytes)
            case "data": try readData(&scanner)
            default:
                unknown = unknown ?? name
                _ = try scanner.skipValue()
            }
        }
        try scanner.expectEnd()
    }

    private static func text(
        _ scanner: inout JSONScanner,
        _ bytes: Bytes
    ) throws(JSONError) -> [UInt8] {
        let range = try scanner.skipValue()
        return Array(bytes[range])
    }

    private mutating func readAuth(_ scanner: inout JSONScanner) throws(JSONError) {
        switch try scanner.peek() {
        case UInt8(ascii: "n"): try scanner.readNull()
        case UInt8(ascii: "{"): auth = try scanner.readNode(anyKeys: true)
        default: try refuse(&scanner, "'auth' must be an object or null.")
        }
    }

    private mutating func readNow(_ scanner: inout JSONScanner) throws(JSONError) {
        switch try scanner.peek() {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            now = try scanner.readInteger()
            if now != nil { return }
        default: _ = try scanner.skipValue()
        }
        fault = fault ?? "'now' must be a whole number of milliseconds."
    }

    private mutating func readData(_ scanner: inout JSONScanner) throws(JSONError) {
        data = try scanner.readDraft()
        if data?.serverValues.isEmpty != false { return }
        fault = fault ?? "'data' must be data as it is stored, without server values."
    }

    private mutating func refuse(
        _ scanner: inout JSONScanner,
        _ text: String
    ) throws(JSONError) {
        _ = try scanner.skipValue()
        fault = fault ?? text
    }

    /// A text is the rules file itself; an object is taken as it is written, so that places in
    /// error messages count from its brace.
    private mutating func readRules(
        _ scanner: inout JSONScanner,
        _ bytes: Bytes
    ) throws(JSONError) {
        if try scanner.peek() == UInt8(ascii: "\"") {
            rules = try scanner.readString()
        } else {
            rules = String(decoding: try Self.text(&scanner, bytes), as: UTF8.self)
        }
    }

    func ruleset() throws(SimulationBodyError) -> Ruleset? {
        guard let rules else { return nil }
        do throws(RulesError) { return try Ruleset.load(rules) } catch { throw .rules(error) }
    }

    func operation() throws(SimulationBodyError) -> SimulatedOperation {
        let base = try basePath()
        switch op {
        case "read", "query":
            return .read(base, query: try querySpec())
        case "write":
            let target = WriteTarget(path: base, isPriority: false)
            let draft = try draft()
            if base.keyCount + draft.depth > Limits.depth {
                throw .malformed("The data would be deeper than \(Limits.depth) keys.")
            }
            return .write(target, draft)
        case "update":
            return .update(base: base, try entries(base))
        case let other?:
            throw .malformed("'op' is '\(other)'; it must be read, write, update or query.")
        case nil:
            throw .malformed("'op' is missing; it must be read, write, update or query.")
        }
    }

    private func entries(
        _ base: Path
    ) throws(SimulationBodyError) -> [(target: WriteTarget, draft: Draft)] {
        guard let value else { throw .malformed("'value' is missing.") }
        do throws(MergeError) {
            return try MergeEntry.parse(value, base: base).map { ($0.target, $0.draft) }
        } catch {
            switch error {
            case .notAnObject:
                throw .malformed("'value' of an update must be an object of paths and values.")
            case .value(let fault):
                throw .malformed("'value' of an update: \(FaultText.of(fault.reason)).")
            case .place(let fault): throw .malformed("'value' of an update: \(fault).")
            }
        }
    }

    private func basePath() throws(SimulationBodyError) -> Path {
        guard let path else { throw .malformed("'path' is missing.") }
        do throws(PathError) { return try Path(path) } catch {
            throw .malformed("'path' is not a path: \(FaultText.of(error)).")
        }
    }

    private func draft() throws(SimulationBodyError) -> Draft {
        guard let value else { throw .malformed("'value' is missing; null deletes.") }
        do throws(JSONError) { return try Draft(json: value) } catch {
            throw .malformed("'value' cannot be stored: \(FaultText.of(error.reason)).")
        }
    }

    private func querySpec() throws(SimulationBodyError) -> QuerySpec? {
        guard let query else { return nil }
        do throws(EventQueryError) { return try QuerySpec(eventQuery: query) } catch {
            throw .malformed("'query': \(error).")
        }
    }
}
