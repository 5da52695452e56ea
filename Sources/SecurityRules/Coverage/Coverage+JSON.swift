import JSONTree

extension Coverage {
    /// The counts as JSON, in the shape of the rules test API's report.
    ///
    ///     {"rules": <the text, without a byte order mark>, "decisions": 5, "cut": 0, "report": [
    ///        {"path": "/a/$b", "kind": "read", "position": P, "values": [V...], "children": [
    ///           {"position": P, "values": [V...], "unevaluated": 2, "children": [...]}...]}...]}
    ///
    /// `report` has every rule in the order of the text, one that was never consulted with no values.
    /// Children are sub-expressions, each within the one it is a child of. P is
    /// `{"line", "column", "offset", "endOffset"}`, lines and columns from 1, offsets from 0, all but
    /// lines in Unicode scalars of the text. V is one of
    /// - `{"value": <scalar, null or {} for an object>, "cut"?: true, "count"}`,
    /// - `{"snapshot": "null|boolean|number|string|object", "count"}`,
    /// - `{"error": <message>, "count"}`,
    /// - `{"others": true, "count"}`: values after the first `RulesLimits.coveredValueCount`.
    ///
    /// `unevaluated` counts how often the rule did not need it; `cut` the decisions that were too long
    /// to be counted whole. A path that is very long begins with `…`.
    ///
    /// - Returns: UTF-8. O(rules and their sub-expressions): some 150 bytes each.
    package func json() -> [UInt8] {
        var out = Array("{\"rules\":".utf8)
        let text = RulesText(plan.ruleset.text)
        appendJSONString(text.string, to: &out)
        out.append(contentsOf: ",\"decisions\":\(decisionCount),\"cut\":\(cutCount)".utf8)
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
        Coverage.append(planned.rule.textRange, text, to: &out)
        out.append(contentsOf: ",\"values\":[".utf8)
        var values = CoverageValueList()
        if covered.trueCount > 0 {
            values.append("\"value\":true", covered.trueCount, to: &out)
        }
        if covered.falseCount > 0 {
            values.append("\"value\":false", covered.falseCount, to: &out)
        }
        values.append(covered.errors, to: &out)
        out.append(contentsOf: "],\"children\":[".utf8)
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
        for (place, span) in planned.spans.enumerated() {
            while let end = openEnds.last, end <= span.range.lowerBound {
                out.append(contentsOf: "]}".utf8)
                openEnds.removeLast()
                isFirst = false
            }
            if !isFirst { out.append(UInt8(ascii: ",")) }
            isFirst = true
            openEnds.append(span.range.upperBound)
            let covered = expressions[planned.firstExpression + place]
            out.append(UInt8(ascii: "{"))
            Coverage.append(span.textRange, text, to: &out)
            out.append(contentsOf: ",\"values\":[".utf8)
            var values = CoverageValueList()
            for (value, count) in covered.values { values.append(value, count, to: &out) }
            if covered.otherCount > 0 {
                values.append("\"others\":true", covered.otherCount, to: &out)
            }
            values.append(covered.errors, to: &out)
            let unevaluated = "],\"unevaluated\":\(covered.unevaluatedCount),\"children\":["
            out.append(contentsOf: unevaluated.utf8)
        }
        for _ in openEnds { out.append(contentsOf: "]}".utf8) }
    }

    private static func append(_ range: Range<Int>, _ text: RulesText, to out: inout [UInt8]) {
        let (line, column) = text.position(of: range.lowerBound)
        let place =
            "\"position\":{\"line\":\(line),\"column\":\(column),"
            + "\"offset\":\(range.lowerBound),\"endOffset\":\(range.upperBound)}"
        out.append(contentsOf: place.utf8)
    }
}

/// Writes the entries of one `values` list.
private struct CoverageValueList {
    private var isFirst = true

    mutating func append(_ member: String, _ count: Int, to out: inout [UInt8]) {
        begin(&out)
        out.append(contentsOf: member.utf8)
        end(count, &out)
    }

    mutating func append(
        _ value: CoveredExpression.Value,
        _ count: Int,
        to out: inout [UInt8]
    ) {
        begin(&out)
        switch value {
        case .value(let value): value.appendJSON(to: &out)
        case .snapshot(let kind): out.append(contentsOf: "\"snapshot\":\"\(kind.name)\"".utf8)
        }
        end(count, &out)
    }

    mutating func append(_ errors: CoveredErrors, to out: inout [UInt8]) {
        for (message, count) in errors.messages {
            begin(&out)
            out.append(contentsOf: "\"error\":".utf8)
            appendJSONString(message, to: &out)
            end(count, &out)
        }
    }

    private mutating func begin(_ out: inout [UInt8]) {
        if !isFirst { out.append(UInt8(ascii: ",")) }
        isFirst = false
        out.append(UInt8(ascii: "{"))
    }

    private func end(_ count: Int, _ out: inout [UInt8]) {
        out.append(contentsOf: ",\"count\":\(count)}".utf8)
    }
}

extension ValueKind {
    /// One word.
    var name: String { self == .object ? "object" : rawValue }
}
