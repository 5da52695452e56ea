package import JSONTree

extension Decision {
    /// The answer of the simulator: `{"allowed", "rule", "trace", "cut"?, "newData"?}`; `"cut": true`
    /// when the trace ran out of room, `"newDataIsLarge": true` instead of `"newData"` when it is
    /// heavier than `RulesLimits.simulatedWeight`.
    ///
    /// - Parameter newData: what would be written, at the path of the request; nil leaves it out,
    ///   an absent node is `null`.
    /// - Returns: UTF-8.
    package func simulatorJSON(newData: Node? = nil) -> [UInt8] {
        var out = Array("{\"allowed\":\(isAllowed),\"rule\":".utf8)
        if let rule { rule.appendJSON(to: &out) } else { out.append(contentsOf: "null".utf8) }
        out.append(contentsOf: ",\"trace\":[".utf8)
        for (index, outcome) in trace.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            outcome.appendJSON(to: &out)
        }
        out.append(UInt8(ascii: "]"))
        if isCut { out.append(contentsOf: ",\"cut\":true".utf8) }
        if let newData,
            newData.weight(upTo: RulesLimits.simulatedWeight + 1) > RulesLimits.simulatedWeight
        {
            out.append(contentsOf: ",\"newDataIsLarge\":true".utf8)
        } else if let newData {
            out.append(contentsOf: ",\"newData\":".utf8)
            newData.appendJSON(to: &out, .value)
        }
        out.append(UInt8(ascii: "}"))
        return out
    }
}

extension RuleOutcome {
    /// Appends the outcome as the simulator and traces show it.
    ///
    /// Where values were recorded there is `"values"`, a list with one entry per sub-expression:
    /// `{"text", "line", "column"}` and one of
    /// - what `ObservedValue.appendJSON` writes, with the member `"value"`,
    /// - `"error"`: the message,
    /// - `"unevaluated": true`.
    package func appendJSON(to out: inout [UInt8]) {
        out.append(contentsOf: "{\"entry\":\(entry),\"kind\":\"\(kind.rawValue)\",\"path\":".utf8)
        appendJSONString(path, to: &out)
        out.append(contentsOf: ",\"bindings\":{".utf8)
        for (index, binding) in bindings.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            appendJSONString(binding.name, to: &out)
            out.append(UInt8(ascii: ":"))
            appendJSONString(binding.key, to: &out)
        }
        out.append(contentsOf: "},\"line\":\(line),\"column\":\(column),\"source\":".utf8)
        appendJSONString(source, to: &out)
        switch result {
        case .value(let value): out.append(contentsOf: ",\"result\":\(value)".utf8)
        case .error(let error):
            out.append(contentsOf: ",\"result\":\"error\",\"error\":{\"message\":".utf8)
            appendJSONString(error.message, to: &out)
            let place = ",\"line\":\(error.line),\"column\":\(error.column)}"
            out.append(contentsOf: place.utf8)
        }
        if observed != nil { appendValues(to: &out) }
        out.append(UInt8(ascii: "}"))
    }

    private func appendValues(to out: inout [UInt8]) {
        out.append(contentsOf: ",\"values\":[".utf8)
        for (index, value) in values.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            value.appendJSON(to: &out)
        }
        out.append(UInt8(ascii: "]"))
    }
}

extension SubexpressionValue {
    /// Appends the entry as `RuleOutcome.appendJSON` describes it.
    package func appendJSON(to out: inout [UInt8]) {
        out.append(contentsOf: "{\"text\":".utf8)
        appendJSONString(text, to: &out)
        out.append(contentsOf: ",\"line\":\(line),\"column\":\(column),".utf8)
        switch outcome {
        case .value(let value): value.appendJSON(to: &out)
        case .error(let message):
            out.append(contentsOf: "\"error\":".utf8)
            appendJSONString(message, to: &out)
        case .unevaluated: out.append(contentsOf: "\"unevaluated\":true".utf8)
        }
        out.append(UInt8(ascii: "}"))
    }
}

extension ObservedValue {
    /// Appends the members that show the value, without brackets around them.
    ///
    /// - `"value"`: the scalar, `null`, or `{}` for an object, whose value is opaque.
    /// - `"cut": true`: the string is longer than what is shown.
    /// - `"number"`: `"NaN"`, `"Infinity"` or `"-Infinity"`, for which JSON has no number; `"value"`
    ///   is then `null`.
    /// - `"path"` and `"tree"`: of a snapshot, where it points, `null` for nowhere, and whether into
    ///   `"data"` or `"newData"`; `"value"` is what stands there.
    package func appendJSON(to out: inout [UInt8]) {
        switch self {
        case .null: out.append(contentsOf: "\"value\":null".utf8)
        case .boolean(let value): out.append(contentsOf: "\"value\":\(value)".utf8)
        case .number(let value):
            let text = numberText(value)
            let isFinite = value.isFinite
            out.append(contentsOf: "\"value\":\(isFinite ? text : "null")".utf8)
            if !isFinite { out.append(contentsOf: ",\"number\":\"\(text)\"".utf8) }
        case .string(let text, let isCut):
            out.append(contentsOf: "\"value\":".utf8)
            appendJSONString(text, to: &out)
            if isCut { out.append(contentsOf: ",\"cut\":true".utf8) }
        case .object: out.append(contentsOf: "\"value\":{}".utf8)
        case .snapshot(let path, let isNew, let value):
            value.appendJSON(to: &out)
            out.append(contentsOf: ",\"path\":".utf8)
            if let path {
                appendJSONString(path.description, to: &out)
            } else {
                out.append(contentsOf: "null".utf8)
            }
            out.append(contentsOf: ",\"tree\":\"\(isNew ? "newData" : "data")\"".utf8)
        }
    }
}

extension RulesError {
    /// The body of a refused rules text: `{"error", "errors": [{"line","column","message","hint"?}]}`.
    ///
    /// - Parameter places: for rules that stood in another text, where each fault is there, as
    ///   `"body":{"line","column"}`; empty for rules that were the whole text.
    /// - Returns: UTF-8.
    package func json(places: [(line: Int, column: Int)] = []) -> [UInt8] {
        var out = Array("{\"error\":".utf8)
        appendJSONString(description, to: &out)
        out.append(contentsOf: ",\"errors\":[".utf8)
        for (index, fault) in faults.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            let place = "{\"line\":\(fault.line),\"column\":\(fault.column),\"message\":"
            out.append(contentsOf: place.utf8)
            appendJSONString(fault.message, to: &out)
            if let hint = fault.hint {
                out.append(contentsOf: ",\"hint\":".utf8)
                appendJSONString(hint, to: &out)
            }
            if places.indices.contains(index) {
                let (line, column) = places[index]
                out.append(contentsOf: ",\"body\":{\"line\":\(line),\"column\":\(column)}".utf8)
            }
            out.append(UInt8(ascii: "}"))
        }
        out.append(contentsOf: "]}".utf8)
        return out
    }
}
