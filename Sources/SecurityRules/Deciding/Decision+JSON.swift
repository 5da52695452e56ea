package import JSONTree

extension Decision {
    /// The answer of the simulator: `{"allowed", "rule", "trace", "newData"?}`.
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
        if let newData {
            out.append(contentsOf: ",\"newData\":".utf8)
            newData.appendJSON(to: &out, .value)
        }
        out.append(UInt8(ascii: "}"))
        return out
    }
}

extension RuleOutcome {
    /// Appends the outcome as the simulator and traces show it.
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
        case .value(let value): out.append(contentsOf: ",\"result\":\(value)}".utf8)
        case .error(let error):
            out.append(contentsOf: ",\"result\":\"error\",\"error\":{\"message\":".utf8)
            appendJSONString(error.message, to: &out)
            let place = ",\"line\":\(error.line),\"column\":\(error.column)}}"
            out.append(contentsOf: place.utf8)
        }
    }
}

extension RulesError {
    /// The body of a refused rules text: `{"error", "errors": [{"line","column","message","hint"?}]}`.
    package func json() -> [UInt8] {
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
            out.append(UInt8(ascii: "}"))
        }
        out.append(contentsOf: "]}".utf8)
        return out
    }
}
