import FileRulesTools
import Files
import JSONTree
import RulesTools
import SecurityRules

/// The results of all cases, and their output.
struct TestReport {
    struct Entry {
        let file: String
        let name: String
        /// The request in a line.
        let summary: String
        /// Why, as the case says.
        let why: String?
        /// `file:line:column`; worked out for failures alone.
        let location: String?
        let problems: [String]
        /// Why it came so, for failures alone.
        let explanation: String?

        var isPassed: Bool { problems.isEmpty }

        /// `{"file","name","passed","place"?,"explanation"?,"problems"?}`.
        fileprivate var json: JSONValue {
            [
                "file": .string(file), "name": .string(name), "passed": .boolean(isPassed),
                "place": location.map { .string($0) },
                "explanation": explanation.map { .string($0) },
                "problems": isPassed ? nil : .list(problems.map { .string($0) }),
            ]
        }
    }

    /// How much of some rules their cases have reached.
    private enum Reach {
        case database(Coverage)
        case files(FileCoverage)

        var line: String {
            switch self {
            case .database(let coverage): coverage.line
            case .files(let coverage): coverage.line
            }
        }

        var json: [UInt8] {
            switch self {
            case .database(let coverage): coverage.json()
            case .files(let coverage): coverage.json().text
            }
        }
    }

    private(set) var cases: [Entry] = []
    private(set) var failureCount = 0
    /// The coverage of each ruleset by its cases, in the order of first use.
    private var covered: [(path: String, reach: Reach)] = []

    /// Continues with another file.
    mutating func begin(_ source: CaseSource) {
        guard let path = source.rulesPath, !covered.contains(where: { $0.path == path }) else {
            return
        }
        switch source.cases {
        case .database(_, .success(let rules)?): covered.append((path, .database(Coverage(rules))))
        case .files(_, .success(let rules)?): covered.append((path, .files(FileCoverage(rules))))
        case .database, .files: break
        }
    }

    mutating func add(_ outcome: CaseOutcome, of file: CaseFile, from source: CaseSource) {
        let example = outcome.example
        if let decision = outcome.decision, !file.hasOwnRules(example), let index = index(source),
            case .database(var coverage) = covered[index].reach
        {
            coverage.add(decision)
            covered[index].reach = .database(coverage)
        }
        let (position, problems) = (file.position(of: example), outcome.problems)
        add(source, example.name, example.summary, example.why, at: position, problems) {
            outcome.explanation
        }
    }

    mutating func add(_ outcome: FileCaseOutcome, of file: FileCaseFile, from source: CaseSource) {
        let example = outcome.example
        if let decision = outcome.decision, example.ownRules == nil, let index = index(source),
            case .files(var coverage) = covered[index].reach
        {
            coverage.add(decision)
            covered[index].reach = .files(coverage)
        }
        let (position, problems) = (file.position(of: example), outcome.problems)
        add(source, example.name, example.summary, example.why, at: position, problems) {
            outcome.explanation
        }
    }

    /// Adds a case; `explanation` is made for failures alone.
    private mutating func add(
        _ source: CaseSource,
        _ name: String,
        _ summary: String,
        _ why: String?,
        at position: (line: Int, column: Int),
        _ problems: [String],
        explanation: () -> String?
    ) {
        let isPassed = problems.isEmpty
        if !isPassed { failureCount += 1 }
        cases.append(
            Entry(
                file: source.path,
                name: name,
                summary: summary,
                why: why,
                location: isPassed ? nil : "\(source.path):\(position.line):\(position.column)",
                problems: problems,
                explanation: isPassed ? nil : explanation()
            )
        )
    }

    private func index(_ source: CaseSource) -> Int? {
        covered.firstIndex { $0.path == source.rulesPath }
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
        let page = CoveragePage.bytes(title: first.path, first.reach.json)
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
                if isVerbose { lines.append("ok      \(entry.file): \(entry.name)") }
            } else {
                lines += failure(entry)
            }
        }
        if cases.isEmpty { return lines }
        lines.append("\(cases.count - failureCount) passed, \(failureCount) failed")
        for one in covered {
            let prefix = covered.count > 1 ? "\(one.path): " : ""
            lines.append(prefix + one.reach.line)
        }
        return lines
    }

    private func failure(_ entry: Entry) -> [String] {
        var lines = ["FAILED  \(entry.location ?? entry.file): \(entry.name)"]
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
        func line(_ value: JSONValue) -> JSONValue { .raw([UInt8(ascii: "\n")] + value.text) }
        let reports = covered.map { one in
            line(["file": .string(one.path), "coverage": .raw(one.reach.json)])
        }
        let report: JSONValue = [
            "passed": .number(cases.count - failureCount), "failed": .number(failureCount),
            "cases": .list(cases.map { line($0.json) }), "coverage": .list(reports),
        ]
        return report.text
    }
}
