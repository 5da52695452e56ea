import SecurityRules

extension Coverage {
    /// The counts as an HTML page: the rules text, every rule in the colour of its result, with the
    /// counts and values of each part beside it.
    ///
    /// The page has no script and loads no other file, and a content security policy says so. A part shows its counts
    /// while the pointer is over it, and while it has the focus, by keyboard or click. Follows the reader's choice of
    /// light or dark.
    ///
    /// - Parameter title: names the database or the file; any text.
    /// - Returns: UTF-8, at most 32 MB (see `RulesLimits.markedExpressionCount`); usually about 20
    ///   times the rules text. Takes long for large rules: never call it on the event loop.
    package func page(title: String) -> [UInt8] {
        var page = CoveragePage(self, title: title)
        page.write()
        return page.out.bytes
    }
}

/// Writes the page of one coverage, from the top down.
struct CoveragePage {
    let coverage: Coverage
    let title: String
    let text: RulesText
    var out = MarkupText()
    var quotedBytesLeft = RulesLimits.quotedByteCount
    /// Scalars of the rules text written so far.
    var offset = 0
    var markedCount = 0

    private let ruleCounts: [CoveredRule.State: Int]

    init(_ coverage: Coverage, title: String) {
        self.coverage = coverage
        self.title = title
        text = RulesText(coverage.plan.ruleset.text)
        ruleCounts = coverage.rules.reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
    }

    mutating func write() {
        out.markup(
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" \
            content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>
            """
        )
        out.text("Rules coverage: \(title)")
        out.markup("</title>\n<style>\n\(CoveragePage.style)</style></head>\n<body>\n")
        writeHeader()
        out.markup("<main>\n")
        writeCode()
        writeLists()
        out.markup("</main>\n")
        out.markup(
            """
            <div class="panel hint" aria-hidden="true"><p>Point at a rule or at any part of one, \
            click it, or walk with <kbd>Tab</kbd>: what it came to shows here.</p></div>
            </body></html>

            """
        )
    }

    // MARK: The header

    private mutating func writeHeader() {
        let summary = coverage.summary
        out.markup("<header><div class=\"name\"><h1>Rules coverage</h1><p>")
        out.text(title)
        out.markup("</p></div>\n<dl class=\"figures\">")
        figure("rules consulted", summary.consulted, of: summary.rules)
        figure("parts evaluated", summary.evaluated, of: summary.subexpressions)
        out.markup("<div><dt>decisions</dt><dd>\(coverage.decisionCount)</dd></div></dl>\n")
        out.markup("<div class=\"states\"><div class=\"bar\" aria-hidden=\"true\">")
        for state in CoveredRule.State.allCases {
            guard let count = ruleCounts[state] else { continue }
            out.markup("<i class=\"\(state.style)\" style=\"flex:\(count)\"></i>")
        }
        out.markup("</div><ul class=\"legend\">")
        for state in CoveredRule.State.allCases {
            out.markup("<li><i class=\"key \(state.style)\" aria-hidden=\"true\">\(state.sign)</i>")
            out.markup(" \(state.words) <b>\(ruleCounts[state] ?? 0)</b></li>")
        }
        out.markup(
            """
            <li><span class="e u">part</span> never needed where its rule ran</li></ul></div>
            </header>

            """
        )
        if coverage.cutCount > 0 {
            out.markup(
                "<p class=\"note\">\(coverage.cutCount) of the decisions were too long to be "
            )
            out.markup("counted whole: their last rules are missing here.</p>\n")
        }
    }

    private mutating func figure(_ name: String, _ count: Int, of total: Int) {
        let percent = total == 0 ? 100 : count * 100 / total
        out.markup("<div><dt>\(name)</dt><dd>\(count)<small> of \(total)</small></dd>")
        out.markup("<dd class=\"share\" aria-hidden=\"true\">")
        out.markup("<i style=\"width:\(percent)%\"></i></dd></div>")
    }

    // MARK: The lists beside the rules

    private mutating func writeLists() {
        out.markup("<aside aria-label=\"Rules to look at\">\n")
        if coverage.rules.isEmpty { out.markup("<p class=\"none\">These rules have no rule.</p>") }
        writeList("Never consulted", .never, isOpen: true) { _ in true }
        writeList("Ended in an error", .errors, isOpen: true) { _ in true }
        // The value of a constant needs no counts.
        writeList("Never false", .onlyTrue, isOpen: false) { !$0.isConstant }
        writeList("Never true", .onlyFalse, isOpen: false) { !$0.isConstant }
        out.markup("</aside>\n")
    }

    private mutating func writeList(
        _ heading: String,
        _ state: CoveredRule.State,
        isOpen: Bool,
        where isListed: (Rule) -> Bool
    ) {
        let rules = coverage.plan.rules
        let listed = rules.indices.filter {
            coverage.rules[$0].state == state && isListed(rules[$0].rule)
        }
        if listed.isEmpty {
            if state == .never, !rules.isEmpty {
                out.markup("<p class=\"none\">Every rule was consulted.</p>\n")
            }
            return
        }
        out.markup("<details\(isOpen ? " open" : "")><summary>")
        out.markup("<i class=\"key \(state.style)\" aria-hidden=\"true\">\(state.sign)</i> ")
        out.markup("\(heading) <b>\(listed.count)</b></summary>\n<ul>\n")
        for index in listed.prefix(RulesLimits.listedRuleCount) {
            let rule = rules[index].rule
            out.markup("<li><a href=\"#R\(index)\" title=\"line \(rule.line)\">")
            out.markup("<small>\(rule.line)</small><span>\(rule.kind.rawValue) <code>")
            out.text(rules[index].shownPath)
            out.markup("</code></span></a></li>\n")
        }
        let hidden = listed.count - RulesLimits.listedRuleCount
        if hidden > 0 { out.markup("<li class=\"none\">and \(hidden) more</li>\n") }
        out.markup("</ul></details>\n")
    }
}

extension CoveredRule.State {
    /// The class of the style sheet, a sign for readers who do not see the colour, and words for people.
    private var look: (style: String, sign: String, words: String) {
        switch self {
        case .both: ("b", "±", "true and false")
        case .onlyTrue: ("t", "+", "only true")
        case .onlyFalse: ("f", "−", "only false")
        case .errors: ("x", "!", "errors")
        case .never: ("n", "○", "never consulted")
        }
    }

    var style: String { look.style }
    var sign: String { look.sign }
    var words: String { look.words }
}

extension Rule {
    /// Whether it is `true` or `false`.
    var isConstant: Bool {
        if case .constant = body { true } else { false }
    }
}
