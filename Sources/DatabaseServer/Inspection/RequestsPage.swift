import DatabaseCore
import JSONTree
import Queries
import SecurityRules

/// `/.inspect/requests` as a page that needs nothing else: no script, no other file.
struct RequestsPage {
    private let list: DecisionList
    /// What of the address goes on with the form, such as the database.
    private let kept: [(name: String, value: String)]
    private var page = MarkupText()

    static func html(
        _ list: DecisionList,
        keeping kept: [(name: String, value: String)]
    ) -> [UInt8] {
        var page = RequestsPage(list, kept)
        page.write()
        return page.page.bytes
    }

    private init(_ list: DecisionList, _ kept: [(name: String, value: String)]) {
        self.list = list
        self.kept = kept
    }

    private mutating func write() {
        page.markup("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
        page.markup("<meta name=\"viewport\" content=\"width=device-width\"><title>Requests to ")
        page.text(list.database.name)
        page.markup("</title>\n<style>")
        page.markup(Self.style)
        page.markup("</style></head><body>\n<h1>Requests to <em>")
        page.text(list.database.name)
        page.markup("</em></h1>\n")
        writeForm()
        if let hint = list.hint {
            page.markup("<p class=\"hint\">")
            page.text(hint)
            page.markup("</p>\n")
        }
        if list.records.isEmpty {
            page.markup("<p class=\"none\">")
            page.text(
                list.keptCount == 0
                    ? "No request is recorded yet."
                    : "None of the \(list.keptCount) recorded requests fits."
            )
            page.markup("</p>\n")
        }
        var left = list.records.count
        for (number, record) in list.records {
            if page.bytes.count > InspectionLimits.answerByteCount { break }
            write(record, number)
            left -= 1
        }
        if left > 0 {
            page.markup("<p class=\"hint\">")
            page.text(InspectionLimits.words(leftOut: left))
            page.markup("</p>\n")
        }
        page.markup("</body></html>\n")
    }

    private mutating func writeForm() {
        let filter = list.filter
        page.markup("<form method=\"get\">")
        for (name, value) in kept {
            page.markup("<input type=\"hidden\" name=\"")
            page.text(name)
            page.markup("\" value=\"")
            page.text(value)
            page.markup("\">")
        }
        page.markup("<label><input type=\"checkbox\" name=\"refused\" value=\"true\"")
        if filter.isRefused { page.markup(" checked") }
        page.markup("> refused only</label> <label>at or below <input name=\"path\" value=\"")
        page.text(filter.path?.description ?? "")
        page.markup("\" placeholder=\"/rooms/1\"></label> <label>uid <input name=\"uid\" value=\"")
        page.text(filter.uid ?? "")
        page.markup("\" size=\"12\"></label> <label>newest <input name=\"limit\" value=\"")
        page.number(filter.limit)
        page.markup("\" size=\"4\" inputmode=\"numeric\"></label> <button>Show</button></form>\n")
    }

    // MARK: - One request

    private mutating func write(_ record: DecisionRecord, _ number: UInt64) {
        let isAllowed = record.decision.isAllowed
        page.markup("<details class=\"request\"")
        page.markup("><summary><span class=\"id\">#")
        page.number(number)
        page.markup("</span> <time>")
        page.text(ISO8601.text(of: record.time.milliseconds))
        page.markup("</time> ")
        badge(isAllowed ? "allowed" : "refused", isGood: isAllowed)
        page.markup(" <b>")
        page.text(record.operation.rawValue)
        page.markup("</b> <code>")
        page.text(record.target.description)
        page.markup("</code> <span class=\"who\">by ")
        page.text(record.who)
        page.markup(", ")
        page.text(record.channel.rawValue)
        page.text("; " + record.rule)
        page.markup("</span>")
        page.markup("</summary>\n<pre class=\"why\">")
        page.text(record.explanation ?? record.explain())
        page.markup("</pre>\n<dl>")
        var auth: [UInt8] = []
        record.appendAuth(to: &auth)
        term("auth", String(decoding: auth, as: UTF8.self))
        if let query = record.query {
            var text: [UInt8] = []
            query.appendJSON(to: &text)
            term("query", String(decoding: text, as: UTF8.self))
        }
        if !record.targets.isEmpty { writeTargets(of: record) }
        page.markup("</dl>\n")
        writeTrace(of: record.decision)
        page.markup("</details>\n")
    }

    private mutating func writeTrace(of decision: Decision) {
        let end = page.bytes.count + InspectionLimits.traceByteCount
        var left = decision.trace.count
        for outcome in decision.trace.prefix(InspectionLimits.ruleCount) {
            if page.bytes.count > end { break }
            write(outcome)
            left -= 1
        }
        // Most often what decided.
        if left > 0, let last = decision.trace.last {
            left -= 1
            if left > 0 {
                page.markup("<p class=\"hint\">")
                page.number(left)
                page.markup(" rules more were consulted before the last one.</p>")
            }
            write(last)
        }
        if decision.isCut {
            page.markup("<p class=\"hint\">The trace ends here: it was too long to be kept.</p>")
        }
    }

    private mutating func writeTargets(of record: DecisionRecord) {
        var text = record.targets.map(\.description).joined(separator: "\n")
        if record.targetCount > record.targets.count {
            text += "\n... \(record.targetCount) in all"
        }
        term("paths", text)
        if let denied = record.deniedTarget { term("refused at", denied.description) }
    }

    private mutating func term(_ name: String, _ text: String) {
        page.markup("<dt>")
        page.text(name)
        page.markup("</dt><dd><code>")
        page.text(text)
        page.markup("</code></dd>")
    }

    /// One rule that was consulted, and under it what its parts came to.
    private mutating func write(_ outcome: RuleOutcome) {
        let values = outcome.values.filter { $0.outcome != .unevaluated }
        page.markup("<details class=\"rule\"><summary>")
        switch outcome.result {
        case .value(let value): badge("\(value)", isGood: value)
        case .error: badge("error", isGood: false)
        }
        page.markup(" <b>.")
        page.text(outcome.kind.rawValue)
        page.markup("</b> <code>")
        page.text(outcome.path)
        page.markup("</code> <span class=\"who\">line ")
        page.number(outcome.line)
        for binding in outcome.bindings {
            page.markup(", ")
            page.text("\(binding.name) = \(binding.key)")
        }
        page.markup("</span> <code class=\"source\">")
        page.text(outcome.source)
        page.markup("</code></summary>\n")
        if case .error(let error) = outcome.result {
            page.markup("<p class=\"bad\">")
            page.text("\(error.line):\(error.column): \(error.message)")
            page.markup("</p>")
        }
        if !values.isEmpty {
            page.markup("<table>")
            for value in values { write(value) }
            page.markup("</table>")
        }
        page.markup("</details>\n")
    }

    private mutating func write(_ value: SubexpressionValue) {
        page.markup("<tr><td><code>")
        page.text(value.text)
        page.markup("</code></td><td><code>")
        switch value.outcome {
        case .value(let value): page.text(value.words)
        case .error(let error): page.text("error: \(error)")
        case .unevaluated: break
        }
        page.markup("</code></td></tr>")
    }

    private mutating func badge(_ text: String, isGood: Bool) {
        if isGood {
            page.markup("<span class=\"good\">")
        } else {
            page.markup("<span class=\"bad\">")
        }
        page.text(text)
        page.markup("</span>")
    }

    private static let style = """
        :root{color-scheme:light dark;--line:#8884;--soft:#8881;--good:#0a7d38;--bad:#c62828}
        @media(prefers-color-scheme:dark){:root{--good:#5fd38d;--bad:#ff7b72}}
        body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:1.5rem auto;padding:0 1rem}
        h1{font-size:1.3rem}h1 em{font-style:normal;font-family:ui-monospace,monospace}
        code,pre,time,.id{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.9em}
        form{display:flex;flex-wrap:wrap;gap:.8rem;align-items:center;padding:.6rem;background:var(--soft)}
        .hint{border-left:3px solid #d99;padding-left:.6rem}
        .request{border-top:1px solid var(--line);padding:.35rem 0}
        .rule{margin:.2rem 0 .2rem 1.2rem}
        summary{cursor:pointer;overflow-wrap:anywhere}
        .good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
        .who,.id,time{opacity:.75}.source{display:block;margin-left:1.2rem;white-space:pre-wrap}
        pre,dd code{white-space:pre-wrap;overflow-wrap:anywhere}
        pre.why{background:var(--soft);padding:.6rem;margin:.4rem 0 .4rem 1.2rem}
        dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem;margin:.3rem 0 .3rem 1.2rem}
        dt{opacity:.75}dd{margin:0}
        table{margin-left:2rem;border-collapse:collapse}td{padding:.05rem .8rem .05rem 0;vertical-align:top;\
        border-bottom:1px solid var(--line);overflow-wrap:anywhere}
        """
}
