package import FileRules
package import JSONTree

extension FileDecision {
    /// `{"allowed", "allow", "overBudget"?, "trace", "lookups", "debug"}`.
    ///
    /// `allow` is null or `{"pattern", "words", "line", "column"}`. `trace` has each `allow` that was tried, with
    /// `"condition"`, `"bindings"`, `"result"` (a bool, or `"error"` beside `"error": {"message", "line", "column"}`)
    /// and `"values"`: of each expression `{"text", "line", "column", "depth"}` and `"value"`, a text as rules write
    /// it, or `"error"`.
    package func json(under rules: FileRuleset) -> JSONValue {
        [
            "allowed": .boolean(isAllowed), "allow": allow?.json ?? .null,
            "overBudget": overBudget?.json,
            "trace": .list(candidates.map { $0.json(under: rules) }),
            "lookups": .list(
                lookups.map {
                    [
                        "database": $0.database.map { .string($0) } ?? .null,
                        "path": .string($0.path.description),
                    ]
                }
            ),
            "debug": .list(
                debugged.map {
                    [
                        "line": .number($0.position.line), "column": .number($0.position.column),
                        "text": .string($0.text),
                    ]
                }
            ),
        ]
    }
}

extension FileAllow {
    fileprivate var json: JSONValue {
        [
            "pattern": .string(pattern), "words": .string(words), "line": .number(position.line),
            "column": .number(position.column),
        ]
    }
}

extension FileFailure {
    fileprivate var json: JSONValue {
        [
            "message": .string(message), "line": .number(position.line),
            "column": .number(position.column),
        ]
    }
}

extension FileCandidate {
    fileprivate func json(under rules: FileRuleset) -> JSONValue {
        var outcome: JSONValue = "error"
        var fault: JSONValue?
        switch result {
        case .value(let value): outcome = .boolean(value)
        case .error(let failure): fault = failure.json
        }
        return [
            "pattern": .string(allow.pattern), "words": .string(allow.words),
            "line": .number(allow.position.line), "column": .number(allow.position.column),
            "condition": .string(allow.condition),
            "bindings": .object(bindings.map { JSONValue.Member($0.name, .string($0.value)) }),
            "result": outcome, "error": fault,
            "values": .list(observations.map { $0.json(under: rules) }),
        ]
    }
}

extension FileObservation {
    fileprivate func json(under rules: FileRuleset) -> JSONValue {
        let (text, position) = rules.expression(expression)
        var body = JSONMembers()
        body.add("text", String(text.unicodeScalars.prefix(512)))
        body.add("line", count: position.line)
        body.add("column", count: position.column)
        body.add("depth", count: depth)
        switch outcome {
        case .value(let shown, _): body.add("value", shown)
        case .error(let message): body.add("error", message)
        }
        return body.value
    }
}
