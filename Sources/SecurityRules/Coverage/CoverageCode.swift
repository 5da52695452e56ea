/// Writes the rules text of a page, its rules and their parts marked.
///
/// A part is a `span` around its text that ends with a hidden `span` of its counts. Parts lie in one
/// another as the expressions do, rules apart.
struct CoverageCode {
    private(set) var page: CoveragePage

    /// Scalars written so far.
    private var offset = 0
    private var markedCount = 0

    /// By line from 0, the worst state of the rules that begin there.
    private var lineStates: [Int: CoveredRule.State] = [:]

    init(_ page: CoveragePage) {
        self.page = page
        for (planned, covered) in zip(page.coverage.plan.rules, page.coverage.rules) {
            let line = planned.rule.line - 1
            lineStates[line] = CoverageCode.worse(lineStates[line], covered.state)
        }
    }

    mutating func write() {
        page.out.markup("<section class=\"code\" aria-label=\"Rules\">\n<div class=\"lines\">")
        writeLines()
        page.out.markup("</div>\n<pre><code>")
        let coverage = page.coverage
        for (index, planned) in coverage.plan.rules.enumerated() {
            writeText(upTo: planned.rule.textRange.lowerBound)
            write(planned, coverage.rules[index], index)
        }
        writeText(upTo: page.text.scalars.count)
        page.out.markup("</code></pre></section>\n")
        if markedCount > RulesLimits.markedExpressionCount {
            page.out.markup(
                "<p class=\"note\">Only the first \(RulesLimits.markedExpressionCount) "
            )
            page.out.markup("parts are marked; all are in the JSON.</p>\n")
        }
    }

    private static func worse(
        _ a: CoveredRule.State?,
        _ b: CoveredRule.State
    ) -> CoveredRule.State {
        let order: [CoveredRule.State] = [.both, .onlyTrue, .onlyFalse, .errors, .never]
        return order.last { $0 == a || $0 == b } ?? b
    }

    // MARK: Lines and text

    private mutating func writeLines() {
        let linked = min(page.text.lineCount, RulesLimits.linkedLineCount)
        for line in 0..<linked {
            let state =
                lineStates[line].map { " class=\"\($0.style)\" data-s=\"\($0.sign)\"" } ?? ""
            page.out.markup("<a id=\"L\(line + 1)\" href=\"#L\(line + 1)\"\(state)>\(line + 1)</a>")
        }
        for line in linked..<max(linked, page.text.lineCount) {
            page.out.markup("\(line + 1)\n")
        }
    }

    /// Writes text within a rule: the indent of a line that goes on is set apart.
    private mutating func writeRule(upTo end: Int) {
        let scalars = page.text.scalars
        while offset < end {
            if offset > 0, scalars[offset - 1] == "\n" {
                let rest = scalars[offset..<end]
                let indent = rest.firstIndex { $0 != " " && $0 != "\t" } ?? end
                if indent > offset {
                    page.out.markup("<span class=\"w\">")
                    writeText(upTo: indent)
                    page.out.markup("</span>")
                }
            }
            let rest = scalars[offset..<end]
            writeText(upTo: rest.firstIndex(of: "\n").map { $0 + 1 } ?? end)
        }
    }

    /// Writes text of the rules; every end of line becomes one newline.
    private mutating func writeText(upTo end: Int) {
        let scalars = page.text.scalars
        while offset < end {
            let scalar = scalars[offset]
            offset += 1
            if scalar != "\r" {
                page.out.text(scalar)
            } else if offset == scalars.count || scalars[offset] != "\n" {
                page.out.text("\n" as Unicode.Scalar)
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
        page.out.markup("<span class=\"r \(state.style)\" id=\"R\(index)\" tabindex=\"0\"")
        page.out.markup(" data-n=\"\(covered.count)\">")
        // The outermost expression is the rule itself.
        var open: [Int] = []
        let spans = planned.spans
        for place in spans.indices.dropFirst(planned.beginsWithWhole ? 1 : 0) {
            markedCount += 1
            if markedCount > RulesLimits.markedExpressionCount { break }
            while let last = open.last,
                spans[last].range.upperBound <= spans[place].range.lowerBound
            {
                close(last, planned, spans)
                open.removeLast()
            }
            writeRule(upTo: spans[place].textRange.lowerBound)
            let counts = page.coverage.expressions[planned.firstExpression + place]
            let isUnneeded = covered.count > 0 && counts.evaluatedCount == 0
            page.out.markup("<span class=\"e\(isUnneeded ? " u" : "")\" tabindex=\"0\">")
            open.append(place)
        }
        for last in open.reversed() { close(last, planned, spans) }
        writeRule(upTo: planned.rule.textRange.upperBound)
        writePanel(planned, covered)
        page.out.markup("</span>")
    }

    private mutating func close(
        _ place: Int,
        _ planned: CoveragePlan.PlannedRule,
        _ spans: [SourceSpan]
    ) {
        writeRule(upTo: spans[place].textRange.upperBound)
        writePanel(
            spans[place],
            planned.rule,
            page.coverage.expressions[planned.firstExpression + place]
        )
        page.out.markup("</span>")
    }

    // MARK: Panels

    private mutating func writePanel(
        _ planned: CoveragePlan.PlannedRule,
        _ covered: CoveredRule
    ) {
        let state = covered.state
        page.out.markup("<span class=\"panel\"><span class=\"head\">")
        page.out.markup("<i class=\"key \(state.style)\">\(state.sign)</i> ")
        page.out.markup("<b>\(planned.rule.kind.rawValue)</b> <code>")
        page.out.text(planned.shownPath)
        page.out.markup("</code></span>")
        page.out.markup("<span class=\"sub\">line \(planned.rule.line), ")
        page.out.markup(
            covered.count == 0
                ? "never consulted</span>"
                : "consulted \(CoverageCode.times(covered.count)): \(state.words)</span>"
        )
        let total = covered.count
        if covered.trueCount > 0 { row("true", covered.trueCount, of: total) }
        if covered.falseCount > 0 { row("false", covered.falseCount, of: total) }
        rows(covered.errors, of: total)
        page.out.markup("</span>")
    }

    private mutating func writePanel(
        _ span: SourceSpan,
        _ rule: Rule,
        _ covered: CoveredExpression
    ) {
        page.out.markup("<span class=\"panel\"><span class=\"head\"><code>")
        quote(span, rule)
        page.out.markup("</code></span><span class=\"sub\">line \(span.line), ")
        let evaluated = covered.evaluatedCount
        let unneeded = covered.unevaluatedCount
        if evaluated + unneeded == 0 {
            page.out.markup("its rule was never consulted")
        } else {
            page.out.markup("evaluated \(CoverageCode.times(evaluated))")
            if unneeded > 0 {
                page.out.markup(", not needed \(CoverageCode.times(unneeded))")
            }
        }
        page.out.markup("</span>")
        for (value, count) in covered.values {
            row(CoverageCode.words(value), count, of: evaluated)
        }
        if covered.otherCount > 0 { row("other values", covered.otherCount, of: evaluated, "o") }
        rows(covered.errors, of: evaluated)
        page.out.markup("</span>")
    }

    /// The beginning of an expression as written, while there is room.
    private mutating func quote(_ span: SourceSpan, _ rule: Rule) {
        let scalars = page.text.scalars[span.textRange]
        let shown = scalars.prefix(120)
        page.quotedBytesLeft -= shown.count
        if page.quotedBytesLeft < 0 {
            page.out.markup("part")
            return
        }
        for scalar in shown { page.out.text(scalar == "\n" || scalar == "\r" ? " " : scalar) }
        if scalars.count > shown.count { page.out.markup("…") }
    }

    private mutating func rows(_ errors: CoveredErrors, of total: Int) {
        for (message, count) in errors.messages { row(message, count, of: total, "x") }
    }

    private mutating func row(
        _ text: String,
        _ count: Int,
        of total: Int,
        _ style: String = ""
    ) {
        let percent = count * 100 / max(total, 1)
        page.out.markup("<span class=\"row \(style)\"><bdi>")
        page.out.text(text)
        page.out.markup("</bdi> <i style=\"width:\(percent)%\"></i><b>\(count)</b></span>")
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
        case .snapshot(.null): "a place with nothing"
        case .snapshot(.object): "a place with children"
        case .snapshot(let kind): "a place with \(kind.words)"
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
