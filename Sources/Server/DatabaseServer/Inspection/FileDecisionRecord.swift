import FileRules
import FileRulesTools
import JSONTree
import RulesTools

/// What the rules for files decided of one request of a client, and of what.
struct FileDecisionRecord: KeptDecision {
    let request: FileRulesRequest
    /// With the values of expressions.
    let decision: FileDecision
    let rules: FileRuleset

    var time: Timestamp { request.time }

    var byteCount: Int {
        var sum = 1024 + request.name.utf8.count + (request.auth?.claims.count ?? 0)
        for candidate in decision.candidates {
            for binding in candidate.bindings { sum += 32 + binding.value.utf8.count }
            for observation in candidate.observations {
                switch observation.outcome {
                case .value(let text, _), .error(let text): sum += 64 + text.utf8.count
                }
            }
        }
        for lookup in decision.lookups { sum += 32 + lookup.path.description.utf8.count }
        return sum
    }

    var rulesByteCount: Int { rules.text.utf8.count }

    var summary: String {
        let outcome = decision.isAllowed ? "allowed" : "refused"
        let name = ExplanationText.line(request.name.unicodeScalars)
        let who = request.auth.map { ExplanationText.quoted($0.uid) } ?? "no user"
        let what = "\(request.operation.rawValue) \(request.bucket)/\(name)"
        return "\(outcome) \(what) by \(who) over files"
    }

    var words: String { FileExplanation.text(of: decision, for: request, under: rules) }

    func isWanted(by filter: RequestFilter) -> Bool {
        if filter.isRefused, decision.isAllowed { return false }
        if let uid = filter.uid, request.auth?.uid != uid { return false }
        if let wanted = filter.fileOperation, request.operation != wanted { return false }
        if let bucket = filter.bucket, request.bucket != bucket { return false }
        return filter.name.map { request.name.hasPrefix($0) } ?? true
    }

    func json(number: UInt64) -> JSONValue {
        [
            "id": .number(number), "time": .integer(time.milliseconds),
            "operation": .string(request.operation.rawValue), "protocol": "files",
            "bucket": .string(request.bucket),
            "path": .string(request.name), "auth": jsonOfAuth,
            "resource": request.resource?.shortJSON ?? .null,
            "newResource": request.newResource?.shortJSON ?? .null,
            "allowed": .boolean(decision.isAllowed), "decision": decision.json(under: rules),
            "explanation": .string(words),
        ]
    }

    private var jsonOfAuth: JSONValue {
        guard let auth = request.auth else { return .null }
        return ["uid": .string(auth.uid), "token": .raw(auth.claims)]
    }
}

extension FileResource {
    /// `{"size", "contentType"?, "metadata"}`: what a request asks of most.
    fileprivate var shortJSON: JSONValue {
        let custom = metadata.sorted { $0.key < $1.key }
        return [
            "size": .integer(size), "contentType": contentType.map { .string($0) },
            "metadata": .object(custom.map { JSONValue.Member($0.key, .string($0.value)) }),
        ]
    }
}
