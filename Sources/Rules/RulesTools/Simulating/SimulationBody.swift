import JSONTree
package import SecurityRules

/// Why the body of a simulator request makes no sense.
package enum SimulationBodyError: Error {
    /// With the position in the body.
    case malformed(RulesFault)
    /// Its rules do not load. The error has positions in the rules; `positions` are those in the body.
    case rules(RulesError, positions: [(line: Int, column: Int)])

    /// The body of the answer: `{"error", "errors": [{"line","column","message","hint"?,"body"?}]}`.
    ///
    /// Of rules that do not load, line and column count in the rules, `body` says them in the request.
    package func json() -> [UInt8] {
        switch self {
        case .malformed(let fault): RulesError(faults: [fault]).json()
        case .rules(let error, let positions): error.json(positions: positions)
        }
    }
}

extension SimulationRequest {
    /// Reads the body of `POST /.simulate`.
    ///
    ///     {"op":"read|write|update|query","path":"/a","value":...,"query":{...},"auth":{...}|null,
    ///      "now":ms,"rules":text or object,"data":...}
    ///
    /// Unknown members are refused: a misspelt one would silently test something else.
    package init(body: [UInt8]) throws(SimulationBodyError) {
        self = try body.withBytes { bytes throws(SimulationBodyError) in
            var request: SimulationRequest
            let rules: RulesMember?
            do throws(InputFault) {
                let whole = try RawValue(whole: bytes, what: "The body")
                let object = try RawObject(whole, what: "The body")
                try object.check(RawObject.requestNames + ["rules", "data"], in: "the body")
                request = SimulationRequest(
                    operation: try object.operation(),
                    auth: try object.auth(),
                    now: try object.now(),
                    rules: nil,
                    data: try object.data(),
                )
                rules = try object["rules"].map(RulesMember.init)
            } catch {
                throw .malformed(InputText(body).resolved(error))
            }
            guard let rules else { return request }
            request.rules = try rules.load(from: body) { text in
                Result { () throws(RulesError) in try Ruleset.load(text) }
            }
            return request
        }
    }
}
