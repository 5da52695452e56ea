import JSONTree
import SecurityRules

extension Coverage {
    /// The counts as JSON, in the shape of the rules test API's report.
    ///
    ///     {"rules": <the text, without a byte order mark>, "decisions": 5, "cut": 0, "hint"?: <text>, "report": [
    ///        {"path": "/a/$b", "kind": "read", "position": P, "values": [V...], "children": [
    ///           {"position": P, "values": [V...], "unevaluated": 2, "children": [...]}...]}...]}
    ///
    /// `report` has every rule in the order of the text, one that was never consulted with no values. Children are
    /// sub-expressions, each within the one it is a child of. P is `{"line", "column", "offset", "endOffset"}`, lines
    /// and columns from 1, offsets from 0, all but lines in Unicode scalars of the text. V is one of
    /// - `{"value": <scalar, null or {} for an object>, "cut"?: true, "count"}`,
    /// - `{"snapshot": "null|boolean|number|string|object", "count"}`,
    /// - `{"error": <message>, "count"}`,
    /// - `{"others": true, "count"}`: values after the first `RulesLimits.coveredValueCount`.
    ///
    /// `unevaluated` counts how often the rule did not need it; `cut` the decisions that were too long
    /// to be counted whole. A path that is very long begins with `…`.
    ///
    /// - Parameter hint: what readers of the counts must know.
    /// - Returns: UTF-8. O(rules and their sub-expressions): some 150 bytes each.
    package func json(hint: String? = nil) -> [UInt8] {
        var out = Array("{\"rules\":".utf8)
        let text = RulesText(plan.ruleset.text)
        appendJSONString(text.string, to: &out)
        out.append(contentsOf: ",\"decisions\":\(decisionCount),\"cut\":\(cutCount)".utf8)
        if let hint {
            out.append(contentsOf: ",\"hint\":".utf8)
            appendJSONString(hint, to: &out)
        }
        out.append(contentsOf: ",\"report\":[".utf8)
        for (index, planned) in plan.rules.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            append(planned, rules[index], text, to: &out)
        }
        out.append(contentsOf: "]}".utf8)
        return out
    }

    private func append(
        _ planned: CoveragePlan.PlannedRule,
        _ covered: CoveredRule,
        _ text: RulesText,
        to out: inout [UInt8]
    ) {
        out.append(contentsOf: "{\"path\":".utf8)
        appendJSONString(planned.shownPath, to: &out)
        out.append(contentsOf: ",\"kind\":\"\(planned.rule.kind.rawValue)\",".utf8)
        Coverage.appendPosition(planned.rule.textRange, text, to: &out)
        out.append(contentsOf: ",\"values\":".utf8)
        JSONValue.list(covered.entries).append(to: &out)
        out.append(contentsOf: ",\"children\":[".utf8)
        appendExpressions(of: planned, text, to: &out)
        out.append(contentsOf: "]}".utf8)
    }

    /// Outer expressions come before those in them, so that a list of the ends of those that are open
    /// is all there is to remember.
    private func appendExpressions(
        of planned: CoveragePlan.PlannedRule,
        _ text: RulesText,
        to out: inout [UInt8]
    ) {
        var openEnds: [Int] = []
        var isFirst = true
        for (position, span) in planned.spans.enumerated() {
            while let end = openEnds.last, end <= span.range.lowerBound {
                out.append(contentsOf: "]}".utf8)
                openEnds.removeLast()
                isFirst = false
            }
            if !isFirst { out.append(UInt8(ascii: ",")) }
            isFirst = true
            openEnds.append(span.range.upperBound)
            let covered = expressions[planned.firstExpression + position]
            out.append(UInt8(ascii: "{"))
            Coverage.appendPosition(span.textRange, text, to: &out)
            out.append(contentsOf: ",\"values\":".utf8)
            JSONValue.list(covered.entries).append(to: &out)
            let unevaluated = ",\"unevaluated\":\(covered.unevaluatedCount),\"children\":["
            out.append(contentsOf: unevaluated.utf8)
        }
        for _ in openEnds { out.append(contentsOf: "]}".utf8) }
    }

    private static func appendPosition(
        _ range: Range<Int>,
        _ text: RulesText,
        to out: inout [UInt8]
    ) {
        let (line, column) = text.position(of: range.lowerBound)
        let json =
            "\"position\":{\"line\":\(line),\"column\":\(column),"
            + "\"offset\":\(range.lowerBound),\"endOffset\":\(range.upperBound)}"
        out.append(contentsOf: json.utf8)
    }
}

extension CoveredRule {
    /// The entries of `values`.
    fileprivate var entries: [JSONValue] {
        var list: [JSONValue] = []
        for (value, count) in [(true, trueCount), (false, falseCount)] where count > 0 {
            list.append(["value": .boolean(value), "count": .number(count)])
        }
        return list + errors.entries
    }
}

extension CoveredExpression {
    /// The entries of `values`.
    fileprivate var entries: [JSONValue] {
        var list: [JSONValue] = []
        for (value, count) in values {
            switch value {
            case .value(let value):
                let counted = JSONValue.Member("count", .integer(Int64(count)))
                list.append(.object(value.members.all + [counted]))
            case .snapshot(let kind):
                list.append(["snapshot": .string(kind.name), "count": .number(count)])
            }
        }
        if otherCount > 0 { list.append(["others": .boolean(true), "count": .number(otherCount)]) }
        return list + errors.entries
    }
}

extension CoveredErrors {
    fileprivate var entries: [JSONValue] {
        messages.map { ["error": .string($0.text), "count": .number($0.count)] }
    }
}

extension ValueKind {
    /// One word.
    var name: String { self == .object ? "object" : rawValue }
}
