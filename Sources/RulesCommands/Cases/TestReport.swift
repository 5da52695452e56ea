import DataCommands
import Files
import JSONTree
import RulesCases
import SecurityRules

/// What came of all cases, and how it is written.
struct TestReport {
    /// One case that was run.
    struct Entry {
        let file: String
        let name: String
        let summary: String
        let why: String?
        /// `file:line:column`; worked out for failures alone.
        let place: String?
        let problems: [String]
        /// Why it came so, for failures alone.
        let explanation: String?

        var isPassed: Bool { problems.isEmpty }
    }

    /// What the cases of one ruleset covered.
    private struct Covered {
        let path: String
        let ruleset: Ruleset
        var coverage: Coverage
    }

    private(set) var cases: [Entry] = []
    private(set) var failureCount = 0
    /// In the order in which the rules came up.
    private var covered: [Covered] = []

    /// Goes on with another file.
    mutating func begin(_ source: CaseSource) {
        guard let path = source.rulesPath, case .success(let ruleset) = source.rules,
            !covered.contains(where: { $0.path == path })
        else { return }
        covered.append(Covered(path: path, ruleset: ruleset, coverage: Coverage(ruleset)))
    }

    /// Notes an outcome.
    mutating func add(_ outcome: CaseOutcome, from source: CaseSource) {
        if let decision = outcome.decision, !source.file.hasOwnRules(outcome.example),
            let index = covered.firstIndex(where: { $0.path == source.rulesPath })
        {
            covered[index].coverage.add(decision)
        }
        if !outcome.isPassed { failureCount += 1 }
        let example = outcome.example
        cases.append(
            Entry(
                file: source.path,
                name: example.name,
                summary: example.summary,
                why: example.why,
                place: outcome.isPassed ? nil : source.place(of: example),
                problems: outcome.problems,
                explanation: outcome.isPassed ? nil : outcome.explanation,
            )
        )
    }

    /// Writes what was covered as a page.
    func writePage(to path: String) throws(CommandError) {
        guard let first = covered.first else {
            throw .failed("\(path): nothing was covered: all cases bring rules of their own")
        }
        if covered.count > 1 {
            throw .usage(
                "--coverage-html takes the files of one ruleset; these are "
                    + covered.map(\.path).joined(separator: ", ")
            )
        }
        try WholeFile.write(first.coverage.page(title: first.path), to: path)
    }

    /// The whole report.
    func text(_ format: RulesTest.Format, isVerbose: Bool) -> String {
        switch format {
        case .text: lines(isVerbose: isVerbose).joined(separator: "\n")
        case .json: String(decoding: json(), as: UTF8.self)
        case .junit: JUnitReport.text(cases)
        }
    }

    // MARK: Text

    private func lines(isVerbose: Bool) -> [String] {
        var lines: [String] = []
        for entry in cases {
            if entry.isPassed {
                if isVerbose { lines.append("ok      \(entry.file): \(entry.name)") }
            } else {
                lines += failure(entry)
            }
        }
        if cases.isEmpty { return lines }
        lines.append("\(cases.count - failureCount) passed, \(failureCount) failed")
        for one in covered {
            let prefix = covered.count > 1 ? "\(one.path): " : ""
            lines.append(prefix + one.coverage.line)
        }
        return lines
    }

    private func failure(_ entry: Entry) -> [String] {
        var lines = ["FAILED  \(entry.place ?? entry.file): \(entry.name)"]
        lines.append("    \(entry.summary)")
        for problem in entry.problems { lines.append("    \(problem)") }
        if let why = entry.why { lines.append("    the case says: \(why)") }
        if let explanation = entry.explanation {
            lines.append("")
            for line in explanation.split(separator: "\n", omittingEmptySubsequences: false) {
                lines.append(line.isEmpty ? "" : "    \(line)")
            }
        }
        lines.append("")
        return lines
    }

    // MARK: JSON

    /// `{"passed","failed","cases":[{"file","name","passed","place"?,"problems"?,"explanation"?}...],
    /// "coverage":[{"rules","report"}...]}`.
    private func json() -> [UInt8] {
        var out = Array("{\"passed\":\(cases.count - failureCount),\"failed\":\(failureCount)".utf8)
        out += ",\"cases\":[".utf8
        for (index, entry) in cases.enumerated() {
            out += (index > 0 ? ",\n" : "\n").utf8
            out += "{\"file\":".utf8
            appendJSONString(entry.file, to: &out)
            out += ",\"name\":".utf8
            appendJSONString(entry.name, to: &out)
            out += ",\"passed\":\(entry.isPassed)".utf8
            for (name, text) in [("place", entry.place), ("explanation", entry.explanation)] {
                guard let text else { continue }
                out += ",\"\(name)\":".utf8
                appendJSONString(text, to: &out)
            }
            if !entry.isPassed {
                out += ",\"problems\":[".utf8
                for (index, problem) in entry.problems.enumerated() {
                    if index > 0 { out += ",".utf8 }
                    appendJSONString(problem, to: &out)
                }
                out += "]".utf8
            }
            out += "}".utf8
        }
        out += "],\n\"coverage\":[".utf8
        for (index, one) in covered.enumerated() {
            out += (index > 0 ? ",\n" : "\n").utf8
            out += "{\"file\":".utf8
            appendJSONString(one.path, to: &out)
            out += ",\"coverage\":".utf8
            out += one.coverage.json()
            out += "}".utf8
        }
        out += "]}".utf8
        return out
    }
}
