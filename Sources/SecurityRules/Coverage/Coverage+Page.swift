extension Coverage {
    /// The counts as an HTML page: the rules text, every rule in the colour of what it came to, with
    /// the counts and values of each part beside it.
    ///
    /// The page stands alone: it has no script and asks for no other file, and says so to the browser
    /// by a content security policy. A part shows its counts while the pointer is over it, and while it
    /// has the focus, by keyboard or click. Follows the reader's choice of light or dark.
    ///
    /// - Parameter title: names the database or the file; any text.
    /// - Returns: UTF-8, at most 32 MB (see `RulesLimits.markedExpressionCount`); some 20 times the
    ///   rules text where it is usual. Long work for large rules: nothing for the loop.
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
        var code = CoverageCode(self)
        code.write()
        self = code.page
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
        // What a constant comes to is no news.
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
    /// The class of the style sheet.
    var style: String {
        switch self {
        case .both: "b"
        case .onlyTrue: "t"
        case .onlyFalse: "f"
        case .errors: "x"
        case .never: "n"
        }
    }

    /// For those who do not see the colour.
    var sign: String {
        switch self {
        case .both: "±"
        case .onlyTrue: "+"
        case .onlyFalse: "−"
        case .errors: "!"
        case .never: "○"
        }
    }

    /// For people.
    var words: String {
        switch self {
        case .both: "true and false"
        case .onlyTrue: "only true"
        case .onlyFalse: "only false"
        case .errors: "errors"
        case .never: "never consulted"
        }
    }
}

extension Rule {
    /// Whether it is `true` or `false`.
    var isConstant: Bool {
        if case .constant = body { true } else { false }
    }
}
