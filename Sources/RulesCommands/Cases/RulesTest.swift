import DataCommands
package import Files
import RulesCases
import SecurityRules

/// `hearth rules test`: runs files of cases.
package struct RulesTest {
    /// How the outcome is written.
    package enum Format: String, Sendable, CaseIterable {
        case text, json, junit
    }

    /// Files of cases.
    package var files: [String]
    /// Rules instead of those beside the files; cases that bring their own keep them.
    package var rules: String?
    /// Only cases whose name contains this.
    package var filter: String?
    /// Whether cases that pass are listed, too.
    package var isVerbose = false
    package var format = Format.text
    /// Where a page of what was covered goes; nil for none.
    package var coveragePage: String?

    /// Gathers what is to be run.
    package init(files: [String]) {
        self.files = files
    }

    /// Runs all cases; exit code 0 when all pass, 1 when one fails or a file cannot be read, 2 when no rules
    /// are given that are needed.
    package func run() -> CommandOutcome {
        var report = TestReport()
        var errors: [String] = []
        var exitCode: Int32 = 0
        do throws(CommandError) {
            let given: RulesFile? = if let rules { try RulesFile.load(rules) } else { nil }
            for path in files {
                do throws(CommandError) {
                    run(try CaseSource(path, given: given), &report)
                } catch {
                    errors.append("error: \(error)")
                    exitCode = max(exitCode, error.exitCode)
                }
            }
            if let coveragePage { try report.writePage(to: coveragePage) }
        } catch {
            errors.append("error: \(error)")
            exitCode = max(exitCode, error.exitCode)
        }
        if let filter, report.cases.isEmpty, errors.isEmpty {
            errors.append("error: no case has '\(filter)' in its name")
            exitCode = 1
        }
        if report.failureCount > 0 { exitCode = max(exitCode, 1) }
        return CommandOutcome(
            output: report.text(format, isVerbose: isVerbose),
            errors: errors.joined(separator: "\n"),
            exitCode: exitCode,
        )
    }

    private func run(_ source: CaseSource, _ report: inout TestReport) {
        report.begin(source)
        for example in source.file.cases {
            if let filter, !example.name.contains(filter) { continue }
            let outcome = example.run(under: source.rules(of: example))
            report.add(outcome, from: source)
        }
    }
}
