package import FileRules
package import JSONTree
package import RulesTools
import SecurityRules

/// A request for a file that is tried and not done: the body of `POST /.simulate` with `"service": "files"`.
package struct FileSimulation: Sendable {
    private let written: WrittenFileRequest
    /// Instead of what databases hold: under "" that of the bucket, the others under their names.
    private let databases: [String: Node]
    /// Instead of the rules in force.
    package private(set) var rules: FileRuleset?

    /// Reads a body.
    ///
    ///     {"service": "files", "op": "get|list|create|update|delete", "path": NAME, "bucket"?, "auth"?, "now"?,
    ///      "resource"?: {...} | null, "newResource"?, "rules"?: TEXT, "data"?: TREE, "databases"?: {NAME: TREE}}
    ///
    /// `bucket` and `now` are for a body that says none. Unknown members are refused, as a misspelt one would silently
    /// try something else.
    ///
    /// - Throws: the first fault, or those of the rules, with their positions in the body.
    package init(
        body: [UInt8],
        bucket: String?,
        now: Timestamp
    ) throws(SimulationBodyError) {
        self = try body.withBytes { bytes throws(SimulationBodyError) in
            var simulation: FileSimulation
            let rules: RulesMember?
            do throws(InputFault) {
                let whole = try RawValue(whole: bytes, what: "The body")
                let object = try RawObject(whole, what: "The body")
                try object.check(Self.names, in: "the body")
                simulation = try FileSimulation(object, bucket, now)
                rules = try object["rules"].map(RulesMember.init)
            } catch {
                throw .malformed(InputText(body).resolved(error))
            }
            simulation.rules = try rules?.load(from: body) { text in
                Result { () throws(RulesError) in try FileRuleset.load(text) }
            }
            return simulation
        }
    }

    private static let names =
        RawObject.fileRequestNames + ["service", "bucket", "rules", "data", "databases"]

    private init(_ object: RawObject, _ bucket: String?, _ now: Timestamp) throws(InputFault) {
        let named = try object["bucket"]?.string("bucket") ?? bucket
        guard let named else {
            throw InputFault(object.offset, "'bucket' is missing; it names the bucket.")
        }
        written = try object.fileRequest(FileRequestContext(bucket: named, now: now))
        databases = try object.fileDatabases()
    }

    /// The bucket, and the object or prefix in it.
    package var bucket: String { written.bucket }
    package var path: String { written.path }

    /// Whether the object as it is counts, since the request says nothing of it.
    package var asksStored: Bool { written.resource == nil && written.operation != .list }

    /// Decides it under its own rules, else under those given; `stored` is the object as it is, `database` reads the
    /// databases of which it says nothing.
    ///
    /// Pure. At most what one request of a client may take, and its values.
    package func decided(
        under rules: FileRulesInForce,
        stored: FileResource?,
        database: FileDatabaseLookup
    ) -> FileSimulationResult {
        let request = written.request(stored: stored)
        guard let ruleset = self.rules ?? rules.ruleset else {
            return FileSimulationResult(
                request: request,
                outcome: .unruled(isAllowed: rules.isOpen)
            )
        }
        let decision = ruleset.decide(request, isRecorded: true) { name, path in
            databases[name ?? ""].map { $0.descendant(at: path) } ?? database(name, path)
        }
        return FileSimulationResult(request: request, outcome: .decided(decision, ruleset))
    }
}

/// The rules of a bucket.
package enum FileRulesInForce: Sendable {
    case loaded(FileRuleset)
    /// There are none, and everything is allowed: in development.
    case open
    /// There are none, and everything is denied.
    case none

    var ruleset: FileRuleset? { if case .loaded(let ruleset) = self { ruleset } else { nil } }
    var isOpen: Bool { if case .open = self { true } else { false } }
}

/// What came of a simulated request.
package struct FileSimulationResult: Sendable {
    enum Outcome: Sendable {
        case decided(FileDecision, FileRuleset)
        /// The bucket has no rules.
        case unruled(isAllowed: Bool)
    }

    let request: FileRulesRequest
    let outcome: Outcome

    /// The answer of the simulator: the explanation in words, or JSON as `FileDecision.json` has it; of a bucket without
    /// rules with `"rules": "open"` or `"none"`.
    ///
    /// Pure: any thread may do it.
    package func answer(inWords: Bool) -> SimulationAnswer {
        switch outcome {
        case .decided(let decision, let rules):
            let isAllowed = decision.isAllowed
            return inWords
                ? SimulationAnswer(
                    isAllowed: isAllowed,
                    words: FileExplanation.text(of: decision, for: request, under: rules)
                )
                : SimulationAnswer(isAllowed: isAllowed, json: decision.json(under: rules).text)
        case .unruled(let isAllowed):
            if inWords {
                let words = FileExplanation.text(of: request, withoutRules: isAllowed)
                return SimulationAnswer(isAllowed: isAllowed, words: words)
            }
            let body: JSONValue = [
                "allowed": .boolean(isAllowed), "allow": .null, "trace": .list([]),
                "lookups": .list([]), "debug": .list([]),
                "rules": .string(isAllowed ? "open" : "none"),
            ]
            return SimulationAnswer(isAllowed: isAllowed, json: body.text)
        }
    }
}
