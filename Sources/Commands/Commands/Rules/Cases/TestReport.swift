import Files
import JSONTree
import RulesTools
import SecurityRules

/// The results of all cases, and their output.
struct TestReport {
    struct Entry {
        let file: String
        let example: RuleCase
        /// `file:line:column`; worked out for failures alone.
        let location: String?
        let problems: [String]
        /// Why it came so, for failures alone.
        let explanation: String?

        var isPassed: Bool { problems.isEmpty }

        /// `{"file","name","passed","place"?,"explanation"?,"problems"?}`.
        fileprivate var json: JSONValue {
            [
                "file": .string(file), "name": .string(example.name), "passed": .boolean(isPassed),
                "place": location.map { .string($0) },
                "explanation": explanation.map { .string($0) },
                "problems": isPassed ? nil : .list(problems.map { .string($0) }),
            ]
        }
    }

    private(set) var cases: [Entry] = []
    private(set) var failureCount = 0
    /// The coverage of each ruleset by its cases, in the order of first use.
    private var covered: [(path: String, coverage: Coverage)] = []

    /// Continues with another file.
    mutating func begin(_ source: CaseSource) {
        guard let path = source.rulesPath, case .success(let ruleset) = source.rules,
            !covered.contains(where: { $0.path == path })
        else { return }
        covered.append((path, Coverage(ruleset)))
    }

    mutating func add(_ outcome: CaseOutcome, from source: CaseSource) {
        if let decision = outcome.decision, !source.file.hasOwnRules(outcome.example),
            let index = covered.firstIndex(where: { $0.path == source.rulesPath })
        {
            covered[index].coverage.add(decision)
        }
        if !outcome.isPassed { failureCount += 1 }
        cases.append(
            Entry(
                file: source.path,
                example: outcome.example,
                location: outcome.isPassed ? nil : source.location(of: outcome.example),
                problems: outcome.problems,
                explanation: outcome.isPassed ? nil : outcome.explanation,
            )
        )
    }

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
        let page = CoveragePage.bytes(title: first.path, first.coverage.json())
        try OutputFile.write(page, to: path)
    }

    func text(_ format: ReportFormat, isVerbose: Bool) -> String {
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
                if isVerbose { lines.append("ok      \(entry.file): \(entry.example.name)") }
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
        var lines = ["FAILED  \(entry.location ?? entry.file): \(entry.example.name)"]
        lines.append("    \(entry.example.summary)")
        for problem in entry.problems { lines.append("    \(problem)") }
        if let why = entry.example.why { lines.append("    the case says: \(why)") }
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
        func line(_ value: JSONValue) -> JSONValue { .raw([UInt8(ascii: "\n")] + value.text) }
        let reports = covered.map { one in
            line(["file": .string(one.path), "coverage": .raw(one.coverage.json())])
        }
        let report: JSONValue = [
            "passed": .number(cases.count - failureCount), "failed": .number(failureCount),
            "cases": .list(cases.map { line($0.json) }), "coverage": .list(reports),
        ]
        return report.text
    }
}
