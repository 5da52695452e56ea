import ArgumentParser
import Files
import RulesTools
import SecurityRules

struct RulesDiffCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Say which saved cases two rules files decide differently; exit code 1 when any.",
        discussion: """
            Every case is tried under both, whatever it expects. Cases that bring rules of their own are left out.

            Examples:
              hearth rules diff rules/chat.json new.json rules/chat.cases.json
              hearth rules diff old.json new.json *.cases.json --verbose
            """,
    )

    @Argument(help: "The rules as they are.", completion: .file())
    var old: String

    @Argument(help: "The rules as they would be.", completion: .file())
    var new: String

    @Argument(help: "Files of cases.", completion: .file(extensions: ["json"]))
    var files: [String]

    @Flag(name: .shortAndLong, help: "Say of each difference why the new rules decide so.")
    var verbose = false

    func outcome() throws(CommandError) -> CommandOutcome {
        let before = try RulesFile.load(old).ruleset
        let after = try RulesFile.load(new).ruleset
        var report = DiffReport(isVerbose: verbose)
        for path in files { report.compare(try CaseSource.read(path), path, before, after) }
        return report.outcome
    }
}

/// The differences, as they are written.
private struct DiffReport {
    let isVerbose: Bool
    var lines: [String] = []
    var caseCount = 0
    var skippedCount = 0
    var counts = (allowed: 0, refused: 0, decided: 0)

    mutating func compare(_ file: CaseFile, _ path: String, _ old: Ruleset, _ new: Ruleset) {
        for example in file.cases {
            // A case with its own rules has the same decision before and after.
            if file.hasOwnRules(example) {
                skippedCount += 1
                continue
            }
            caseCount += 1
            guard let difference = example.difference(from: old, to: new) else { continue }
            let (line, column) = file.position(of: example)
            add(difference, "\(path):\(line):\(column)")
        }
    }

    private mutating func add(_ difference: CaseDifference, _ location: String) {
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
        lines.append("    \(location)")
        guard isVerbose, let explanation = difference.new.explanation else { return }
        for line in explanation.split(separator: "\n", omittingEmptySubsequences: false) {
            lines.append(line.isEmpty ? "" : "    \(line)")
        }
        lines.append("")
    }

    /// The expectation of a case, if the new decision differs from it.
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
            "\(Amounts.count(caseCount, "case")): \(counts.allowed) now allowed, \(counts.refused) now refused, "
                + "\(counts.decided) decided by another rule, \(caseCount - changed) the same"
        )
        if skippedCount > 0 {
            lines.append("left out, for they bring rules of their own: \(skippedCount)")
        }
        return CommandOutcome(output: lines.joined(separator: "\n"), exitCode: changed == 0 ? 0 : 1)
    }
}
