import JSONTree
package import SecurityRules

/// Why the body of a simulator request makes no sense.
package enum SimulationBodyError: Error {
    /// With the place in the body.
    case malformed(RulesFault)
    /// The rules it brings do not load; the places are those in the rules, and beside each the one in the
    /// body.
    case rules(RulesError, places: [(line: Int, column: Int)])

    /// The body of the answer: `{"error", "errors": [{"line","column","message","hint"?,"body"?}]}`.
    ///
    /// Of rules that do not load, line and column count in the rules, `body` says them in the request.
    package func json() -> [UInt8] {
        switch self {
        case .malformed(let fault): RulesError(faults: [fault]).json()
        case .rules(let error, let places): error.json(places: places)
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
            let members: SimulationMembers
            do throws(InputFault) { members = try SimulationMembers(bytes) } catch {
                throw .malformed(InputText(body).resolved(error))
            }
            return SimulationRequest(
                operation: members.operation,
                auth: members.auth,
                now: members.now,
                rules: try members.ruleset(in: body),
                data: members.data,
            )
        }
    }
}

/// The members of the body, read; the rules not yet loaded.
private struct SimulationMembers {
    let operation: SimulatedOperation
    let auth: AuthVariable?
    let now: Timestamp?
    let data: Node?
    private let rules: RulesMember?

    init(_ bytes: Bytes) throws(InputFault) {
        let body = try RawObject(RawValue(whole: bytes, what: "The body"), what: "The body")
        try body.check(RawObject.requestNames + ["rules", "data"], in: "the body")
        operation = try body.operation()
        auth = try body.auth()
        now = try body.now()
        data = try body.data()
        if let value = body["rules"] { rules = try RulesMember(value) } else { rules = nil }
    }

    func ruleset(in body: [UInt8]) throws(SimulationBodyError) -> Ruleset? {
        guard let rules else { return nil }
        do throws(RulesError) { return try Ruleset.load(rules.text) } catch {
            let text = InputText(body)
            let places = error.faults.map { fault in
                text.position(of: rules.offset(ofLine: fault.line, column: fault.column))
            }
            throw .rules(error, places: places)
        }
    }
}
