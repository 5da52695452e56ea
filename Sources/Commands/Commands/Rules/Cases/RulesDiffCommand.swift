import ArgumentParser
import FileRules
import FileRulesTools
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
              hearth rules diff rules/social.storage new.storage rules/social.storage.cases.json
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
        let (before, after) = (try RulesFile.load(old), try RulesFile.load(new))
        var report = DiffReport(isVerbose: verbose)
        if case .files(let old) = before.rules {
            let new = try after.fileRuleset
            for path in files {
                report.compare(try CaseSource.readForFiles(path), path, old, new)
            }
        } else {
            let (old, new) = (try before.ruleset, try after.ruleset)
            for path in files { report.compare(try CaseSource.read(path), path, old, new) }
        }
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

    mutating func compare(
        _ file: FileCaseFile,
        _ path: String,
        _ old: FileRuleset,
        _ new: FileRuleset
    ) {
        for example in file.cases {
            guard example.ownRules == nil, let before = example.run(under: .success(old)),
                let after = example.run(under: .success(new)), let first = before.decision,
                let second = after.decision
            else {
                skippedCount += 1
                continue
            }
            caseCount += 1
            let deciders = [first, second].map { $0.allow?.name ?? "no allow" }
            let isChanged = first.isAllowed != second.isAllowed
            if !isChanged, deciders[0] == deciders[1] { continue }
            let (line, column) = file.position(of: example)
            let expected = example.expected
            add(
                Change(
                    name: "\(example.name) (\(example.summary))",
                    isNowAllowed: isChanged ? second.isAllowed : nil,
                    deciders: (deciders[1], deciders[0]),
                    surprise: isChanged && expected != (second.isAllowed ? .allow : .deny)
                        ? expected.rawValue : nil,
                    location: "\(path):\(line):\(column)",
                    explanation: after.explanation
                )
            )
        }
    }

    /// A case that is decided otherwise.
    private struct Change {
        /// With the request.
        let name: String
        /// The new decision, where it is another.
        let isNowAllowed: Bool?
        /// The rules that decide, in words.
        let deciders: (new: String, old: String)
        /// What the case expects, where that is another decision than the new one.
        let surprise: String?
        let location: String
        let explanation: String?
    }

    private mutating func add(_ difference: CaseDifference, _ location: String) {
        let example = difference.example
        var isNowAllowed: Bool?
        var deciders = (new: "", old: "")
        switch difference.kind {
        case .nowAllowed: isNowAllowed = true
        case .nowRefused: isNowAllowed = false
        case .decidedBy(let new, let old): deciders = (new.words, old.words)
        }
        add(
            Change(
                name: "\(example.name) (\(example.summary))",
                isNowAllowed: isNowAllowed,
                deciders: deciders,
                surprise: surprise(difference),
                location: location,
                explanation: difference.new.explanation
            )
        )
    }

    private mutating func add(_ change: Change) {
        switch change.isNowAllowed {
        case true?:
            counts.allowed += 1
            lines.append("now allowed: \(change.name)")
        case false?:
            counts.refused += 1
            lines.append("now refused: \(change.name)")
        case nil:
            counts.decided += 1
            let (new, old) = change.deciders
            lines.append("decided by \(new), was \(old): \(change.name)")
        }
        if let expected = change.surprise { lines.append("    but the case expects \(expected)") }
        lines.append("    \(change.location)")
        guard isVerbose, let explanation = change.explanation else { return }
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
