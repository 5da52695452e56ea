import DataCommands
package import Files
import RulesCases
import SecurityRules

/// `hearth rules diff`: which saved cases two rules files judge differently.
package struct RulesDiff {
    package var old: String
    package var new: String
    /// Files of cases.
    package var files: [String]
    /// Whether each difference is followed by why the new rules decide so.
    package var isVerbose = false

    /// Names two rules files and files of cases.
    package init(old: String, new: String, files: [String]) {
        self.old = old
        self.new = new
        self.files = files
    }

    /// Tries all cases under both; exit code 0 when nothing changes, 1 when something does or a file cannot be
    /// read.
    package func run() -> CommandOutcome {
        do throws(CommandError) {
            let before = try RulesFile.load(old).ruleset
            let after = try RulesFile.load(new).ruleset
            var report = DiffReport(isVerbose: isVerbose)
            for path in files {
                report.compare(try CaseSource.read(path), path, before, after)
            }
            return report.outcome
        } catch {
            return CommandOutcome(output: "", errors: "error: \(error)", exitCode: error.exitCode)
        }
    }
}

/// What differs, as it is written.
private struct DiffReport {
    let isVerbose: Bool
    private var lines: [String] = []
    private var caseCount = 0
    private var skippedCount = 0
    private var counts = (allowed: 0, refused: 0, decided: 0)

    init(isVerbose: Bool) {
        self.isVerbose = isVerbose
    }

    mutating func compare(_ file: CaseFile, _ path: String, _ old: Ruleset, _ new: Ruleset) {
        let places = file.places()
        for example in file.cases {
            // Rules of its own judge a case the same before and after.
            if file.hasOwnRules(example) {
                skippedCount += 1
                continue
            }
            caseCount += 1
            guard let difference = example.difference(from: old, to: new) else { continue }
            let (line, column) = places.place(of: example)
            add(difference, "\(path):\(line):\(column)")
        }
    }

    private mutating func add(_ difference: CaseDifference, _ place: String) {
        let example = difference.example
        let name = "\(example.name) (\(example.summary))"
        switch difference.kind {
        case .nowAllowed:
            counts.allowed += 1
            lines.append("now allowed: \(name)")
        case .nowRefused:
            counts.refused += 1
            lines.append("now refused: \(name)")
        case .decidedBy(let new, let old):
            counts.decided += 1
            lines.append("decided by \(new.words), was \(old.words): \(name)")
        }
        if let expected = surprise(difference) {
            lines.append("    but the case expects \(expected)")
        }
        lines.append("    \(place)")
        guard isVerbose, let explanation = difference.new.explanation else { return }
        for line in explanation.split(separator: "\n", omittingEmptySubsequences: false) {
            lines.append(line.isEmpty ? "" : "    \(line)")
        }
        lines.append("")
    }

    /// What a case expects, when the new verdict is not that.
    private func surprise(_ difference: CaseDifference) -> String? {
        guard difference.old.decision?.isAllowed != difference.new.decision?.isAllowed else {
            return nil
        }
        let isAllowed = difference.new.decision?.isAllowed ?? false
        let expected = difference.example.expected
        return expected == (isAllowed ? .allow : .deny) ? nil : expected.rawValue
    }

    var outcome: CommandOutcome {
        let changed = counts.allowed + counts.refused + counts.decided
        var lines = lines
        lines.append(
            "\(caseCount) case\(caseCount == 1 ? "" : "s"): \(counts.allowed) now allowed, \(counts.refused) now refused, "
                + "\(counts.decided) decided by another rule, \(caseCount - changed) the same"
        )
        if skippedCount > 0 {
            lines.append("left out, for they bring rules of their own: \(skippedCount)")
        }
        return CommandOutcome(
            output: lines.joined(separator: "\n"),
            errors: "",
            exitCode: changed == 0 ? 0 : 1,
        )
    }
}
