package import JSONTree
package import SecurityRules

extension Decision {
    /// The answer of the simulator: `{"allowed", "rule", "trace", "cut"?, "newData"?}`; `"cut": true`
    /// when the trace ran out of room, `"newDataIsLarge": true` instead of `"newData"` when it is
    /// heavier than `RulesLimits.simulatedWeight`.
    ///
    /// - Parameter newData: what would be written, at the path of the request; nil leaves it out,
    ///   an absent node is `null`.
    /// - Returns: UTF-8.
    package func simulatorJSON(newData: Node? = nil) -> [UInt8] {
        let limit = RulesLimits.simulatedWeight
        let isLarge = newData.map { $0.weight(upTo: limit + 1) > limit } ?? false
        let body: JSONValue = [
            "allowed": .boolean(isAllowed), "rule": rule?.json ?? .null,
            "trace": .list(trace.map(\.json)), "cut": isCut ? .boolean(true) : nil,
            "newDataIsLarge": isLarge ? .boolean(true) : nil,
            "newData": isLarge ? nil : newData.map { .raw($0.json(.value)) },
        ]
        return body.text
    }
}

extension RuleOutcome {
    /// The outcome as the simulator and traces show it.
    ///
    /// Where values were recorded there is `"values"`, a list with one entry per sub-expression:
    /// `{"text", "line", "column"}` and one of
    /// - the `members` of its `ObservedValue`,
    /// - `"error"`: the message,
    /// - `"unevaluated": true`.
    package var json: JSONValue {
        var outcome: JSONValue = "error"
        var fault: JSONValue?
        switch result {
        case .value(let value): outcome = .boolean(value)
        case .error(let error):
            fault = [
                "message": .string(error.message), "line": .number(error.line),
                "column": .number(error.column),
            ]
        }
        return [
            "entry": .number(entry), "kind": .string(kind.rawValue), "path": .string(path),
            "bindings": .object(bindings.map { JSONValue.Member($0.name, .string($0.key)) }),
            "line": .number(line), "column": .number(column), "source": .string(source),
            "result": outcome, "error": fault,
            "values": observed == nil ? nil : .list(values.map(\.json)),
        ]
    }
}

extension SubexpressionValue {
    /// The entry as `RuleOutcome.json` describes it.
    fileprivate var json: JSONValue {
        var body = JSONMembers()
        body.add("text", text)
        body.add("line", count: line)
        body.add("column", count: column)
        switch outcome {
        case .value(let value): body.all += value.members.all
        case .error(let message): body.add("error", message)
        case .unevaluated: body.add("unevaluated", .boolean(true))
        }
        return body.value
    }
}

extension ObservedValue {
    /// The members that show the value.
    ///
    /// - `"value"`: the scalar, `null`, or `{}` for an object, whose value is opaque.
    /// - `"cut": true`: the string is longer than what is shown.
    /// - `"number"`: `"NaN"`, `"Infinity"` or `"-Infinity"`, for which JSON has no number; `"value"`
    ///   is then `null`.
    /// - `"path"` and `"tree"`: of a snapshot, where it points, `null` for nowhere, and whether
    ///   into `"data"` or `"newData"`; `"value"` is the value there.
    var members: JSONMembers {
        var body = JSONMembers()
        switch self {
        case .null: body.add("value", .null)
        case .boolean(let value): body.add("value", .boolean(value))
        case .number(let value):
            let text = numberText(value)
            body.add("value", value.isFinite ? .raw(Array(text.utf8)) : .null)
            if !value.isFinite { body.add("number", text) }
        case .string(let text, let isCut):
            body.add("value", text)
            if isCut { body.add("cut", .boolean(true)) }
        case .object: body.add("value", .object([]))
        case .snapshot(let path, let isNew, let value):
            body = value.members
            body.add("path", path.map { .string($0.description) } ?? .null)
            body.add("tree", isNew ? "newData" : "data")
        }
        return body
    }
}
