import ArgumentParser
import FileRulesTools
import Files
import RulesTools
import SecurityRules

struct RulesTestCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run files of cases against rules; exit code 1 when a case fails.",
        discussion: """
            A case is a request with the decision that it must get. X.json beside X.cases.json has the rules,
            unless the file brings 'rules' or --rules names others; of cases for files ("service": "files") it is X, such as
            storage.rules beside storage.rules.cases.json. A failure shows why it was decided so. Exit code 1 also
            for a file that cannot be read or holds no cases, 2 when no rules are found.

            Examples:
              hearth rules test rules/chat.cases.json
              hearth rules test rules/*.cases.json --verbose
              hearth rules test cases.json --rules database.rules.json --filter 'a stranger'
              hearth rules test rules/chat.cases.json --coverage-html coverage.html
              hearth rules test rules/*.cases.json --format junit > results.xml

            A file of cases:
              {"data": {"rooms": {"r1": {"owner": "ann"}}},
               "cases": [
                 {"name": "the owner renames the room", "op": "write", "path": "/rooms/r1/title", "value": "Tea",
                  "auth": {"uid": "ann"}, "expect": "allow"},
                 {"name": "another user does not", "op": "write", "path": "/rooms/r1/title", "value": "Tea",
                  "auth": {"uid": "bob"}, "expect": "deny"}]}
            """,
    )

    @Argument(help: "Files of cases.", completion: .file(extensions: ["json"]))
    var files: [String] = []

    @Option(file: "Rules for all cases that bring none.")
    var rules: String?

    @Option(help: .value("text", "Only cases with this in their name."))
    var filter: String?

    @Flag(name: .shortAndLong, help: "List the cases that pass, too.")
    var verbose = false

    @Option(help: "How the outcome is written: text, json or junit.")
    var format = ReportFormat.text

    @Option(file: "Write a page that shows what was evaluated, how often, and to which values.")
    var coverageHtml: String?

    func validate() throws {
        guard files.isEmpty else { return }
        let found = try Self.casesNearby()
        let example = found.isEmpty ? "" : "; here is '\(found[0])'"
        throw ValidationError("no files of cases are given\(example)")
    }

    /// Files of cases in the folder and in `rules/`.
    private static func casesNearby() throws -> [String] {
        var found: [String] = []
        for (folder, prefix) in [(".", ""), ("rules", "rules/")] where Folder.exists(folder) {
            let names = try Folder.names(folder).filter { $0.hasSuffix(".cases.json") }
            found += names.map { prefix + $0 }
        }
        return found
    }

    func outcome() -> CommandOutcome {
        var report = TestReport()
        var errors: [String] = []
        var exitCode: Int32 = 0
        func note(_ error: CommandError) {
            errors.append("error: \(error)")
            exitCode = max(exitCode, error.exitCode)
        }
        do throws(CommandError) {
            let given: RulesFile? = if let rules { try RulesFile.load(rules) } else { nil }
            for path in files {
                do throws(CommandError) {
                    run(try CaseSource(path, given: given), &report)
                } catch {
                    note(error)
                }
            }
            if let coverageHtml { try report.writePage(to: coverageHtml) }
        } catch {
            note(error)
        }
        if let filter, report.cases.isEmpty, errors.isEmpty {
            errors.append("error: no case has '\(filter)' in its name")
            exitCode = 1
        }
        if report.failureCount > 0 { exitCode = max(exitCode, 1) }
        return CommandOutcome(
            output: report.text(format, isVerbose: verbose),
            errors: errors.joined(separator: "\n"),
            exitCode: exitCode,
        )
    }

    private func run(_ source: CaseSource, _ report: inout TestReport) {
        report.begin(source)
        switch source.cases {
        case .database(let file, let shared):
            for example in file.cases where isWanted(example.name) {
                guard let rules = file.rules(of: example, shared: shared) else {
                    preconditionFailure(Self.unruled)
                }
                report.add(example.run(under: rules), of: file, from: source)
            }
        case .files(let file, let shared):
            for example in file.cases where isWanted(example.name) {
                guard let outcome = example.run(under: shared) else {
                    preconditionFailure(Self.unruled)
                }
                report.add(outcome, of: file, from: source)
            }
        }
    }

    private static let unruled = "cases without rules are refused when the file is read"

    private func isWanted(_ name: String) -> Bool { filter.map { name.contains($0) } ?? true }
}

/// How the outcome of cases is written.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json, junit
}
