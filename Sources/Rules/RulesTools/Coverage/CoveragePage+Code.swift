import SecurityRules

/// The rules text of a page, its rules and their parts marked.
///
/// A part is a `span` around its text that ends with a hidden `span` of its counts. Parts lie in one
/// another as the expressions do, rules apart.
extension CoveragePage {
    mutating func writeCode() {
        out.markup("<section class=\"code\" aria-label=\"Rules\">\n<div class=\"lines\">")
        writeLines()
        out.markup("</div>\n<pre><code>")
        for (index, planned) in coverage.plan.rules.enumerated() {
            writeText(upTo: planned.rule.textRange.lowerBound)
            write(planned, coverage.rules[index], index)
        }
        writeText(upTo: text.scalars.count)
        out.markup("</code></pre></section>\n")
        if markedCount > RulesLimits.markedExpressionCount {
            out.markup("<p class=\"note\">Only the first \(RulesLimits.markedExpressionCount) ")
            out.markup("parts are marked; all are in the JSON.</p>\n")
        }
    }

    // MARK: Lines and text

    private mutating func writeLines() {
        // By line from 0, the worst state of the rules that begin there.
        var states: [Int: CoveredRule.State] = [:]
        for (planned, covered) in zip(coverage.plan.rules, coverage.rules) {
            let line = planned.rule.line - 1
            let found = [states[line], covered.state]
            states[line] = CoveredRule.State.allCases.last { found.contains($0) }
        }
        let linked = min(text.lineCount, RulesLimits.linkedLineCount)
        for line in 0..<linked {
            let state = states[line].map { " class=\"\($0.style)\" data-s=\"\($0.sign)\"" } ?? ""
            out.markup("<a id=\"L\(line + 1)\" href=\"#L\(line + 1)\"\(state)>\(line + 1)</a>")
        }
        for line in linked..<max(linked, text.lineCount) {
            out.markup("\(line + 1)\n")
        }
    }

    /// Writes text within a rule: the indent of a continued line is marked up on its own.
    private mutating func writeRule(upTo end: Int) {
        let scalars = text.scalars
        while offset < end {
            if offset > 0, scalars[offset - 1] == "\n" {
                let rest = scalars[offset..<end]
                let indent = rest.firstIndex { $0 != " " && $0 != "\t" } ?? end
                if indent > offset {
                    out.markup("<span class=\"w\">")
                    writeText(upTo: indent)
                    out.markup("</span>")
                }
            }
            let rest = scalars[offset..<end]
            writeText(upTo: rest.firstIndex(of: "\n").map { $0 + 1 } ?? end)
        }
    }

    /// Writes text of the rules; every end of line becomes one newline.
    private mutating func writeText(upTo end: Int) {
        let scalars = text.scalars
        while offset < end {
            let scalar = scalars[offset]
            offset += 1
            if scalar != "\r" {
                out.scalar(scalar)
            } else if offset == scalars.count || scalars[offset] != "\n" {
                out.scalar("\n")
            }
        }
    }

    // MARK: Rules

    private mutating func write(
        _ planned: CoveragePlan.PlannedRule,
        _ covered: CoveredRule,
        _ index: Int
    ) {
        let state = covered.state
        out.markup("<span class=\"r \(state.style)\" id=\"R\(index)\" tabindex=\"0\"")
        out.markup(" data-n=\"\(covered.count)\">")
        // The outermost expression is the rule itself.
        var open: [Int] = []
        let spans = planned.spans
        for spanIndex in spans.indices.dropFirst(planned.beginsWithWhole ? 1 : 0) {
            markedCount += 1
            if markedCount > RulesLimits.markedExpressionCount { break }
            while let last = open.last,
                spans[last].range.upperBound <= spans[spanIndex].range.lowerBound
            {
                close(last, planned, spans)
                open.removeLast()
            }
            writeRule(upTo: spans[spanIndex].textRange.lowerBound)
            let counts = coverage.expressions[planned.firstExpression + spanIndex]
            let isUnneeded = covered.count > 0 && counts.evaluatedCount == 0
            out.markup("<span class=\"e\(isUnneeded ? " u" : "")\" tabindex=\"0\">")
            open.append(spanIndex)
        }
        for last in open.reversed() { close(last, planned, spans) }
        writeRule(upTo: planned.rule.textRange.upperBound)
        writePanel(planned, covered)
        out.markup("</span>")
    }

    private mutating func close(
        _ spanIndex: Int,
        _ planned: CoveragePlan.PlannedRule,
        _ spans: [SourceSpan]
    ) {
        writeRule(upTo: spans[spanIndex].textRange.upperBound)
        let covered = coverage.expressions[planned.firstExpression + spanIndex]
        writePanel(spans[spanIndex], covered)
        out.markup("</span>")
    }

    // MARK: Panels

    private mutating func writePanel(_ planned: CoveragePlan.PlannedRule, _ covered: CoveredRule) {
        let state = covered.state
        out.markup("<span class=\"panel\"><span class=\"head\">")
        out.markup("<i class=\"key \(state.style)\">\(state.sign)</i> ")
        out.markup("<b>\(planned.rule.kind.rawValue)</b> <code>")
        out.text(planned.shownPath)
        out.markup("</code></span>")
        out.markup("<span class=\"sub\">line \(planned.rule.line), ")
        out.markup(
            covered.count == 0
                ? "never consulted</span>"
                : "consulted \(CoveragePage.times(covered.count)): \(state.words)</span>"
        )
        let total = covered.count
        if covered.trueCount > 0 { row("true", covered.trueCount, of: total) }
        if covered.falseCount > 0 { row("false", covered.falseCount, of: total) }
        rows(covered.errors, of: total)
        out.markup("</span>")
    }

    private mutating func writePanel(_ span: SourceSpan, _ covered: CoveredExpression) {
        out.markup("<span class=\"panel\"><span class=\"head\"><code>")
        quote(span)
        out.markup("</code></span><span class=\"sub\">line \(span.line), ")
        let evaluated = covered.evaluatedCount
        let unneeded = covered.unevaluatedCount
        if evaluated + unneeded == 0 {
            out.markup("its rule was never consulted")
        } else {
            out.markup("evaluated \(CoveragePage.times(evaluated))")
            if unneeded > 0 { out.markup(", not needed \(CoveragePage.times(unneeded))") }
        }
        out.markup("</span>")
        for (value, count) in covered.values {
            row(CoveragePage.words(value), count, of: evaluated)
        }
        if covered.otherCount > 0 { row("other values", covered.otherCount, of: evaluated, "o") }
        rows(covered.errors, of: evaluated)
        out.markup("</span>")
    }

    /// The beginning of an expression as written, while there is room.
    private mutating func quote(_ span: SourceSpan) {
        let scalars = text.scalars[span.textRange]
        let shown = scalars.prefix(120)
        quotedBytesLeft -= shown.count
        if quotedBytesLeft < 0 {
            out.markup("part")
            return
        }
        for scalar in shown { out.scalar(scalar == "\n" || scalar == "\r" ? " " : scalar) }
        if scalars.count > shown.count { out.markup("…") }
    }

    private mutating func rows(_ errors: CoveredErrors, of total: Int) {
        for (message, count) in errors.messages { row(message, count, of: total, "x") }
    }

    private mutating func row(_ text: String, _ count: Int, of total: Int, _ style: String = "") {
        let percent = count * 100 / max(total, 1)
        out.markup("<span class=\"row \(style)\"><bdi>")
        out.text(text)
        out.markup("</bdi> <i style=\"width:\(percent)%\"></i><b>\(count)</b></span>")
    }

    private static func times(_ count: Int) -> String {
        switch count {
        case 0: "never"
        case 1: "once"
        case 2: "twice"
        default: "\(count) times"
        }
    }

    private static func words(_ value: CoveredExpression.Value) -> String {
        switch value {
        case .value(let value): value.words
        case .snapshot(.null): "a location with nothing"
        case .snapshot(.object): "a location with children"
        case .snapshot(let kind): "a location with \(kind.words)"
        }
    }
}

extension CoveragePlan.PlannedRule {
    /// Whether the first of `spans` is the whole expression; a literal has none.
    var beginsWithWhole: Bool {
        guard case .program(let program) = rule.body else { return false }
        return program.subexpressions.first == program.entry
    }
}
