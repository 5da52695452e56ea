import ArgumentParser
import Files
import JSONTree
import RulesTools
import SecurityRules

struct RulesCheckCommand: Command {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Load rules files and show every error and warning.",
        discussion: """
            Exit code 1 when there is an error, with --strict also when there is a warning. A comment in the file silences a warning: \
            // hearth:allow CODE on the line of a rule or above it, /* hearth:allow-file CODE */ for the whole file. Files of \
            cases, X.cases.json, are skipped.

            Examples:
              hearth rules check rules.json
              hearth rules check --strict rules/*.json
              generate-rules | hearth rules check --format json -
              hearth rules check --list
              hearth rules check --explain null-equality
            """,
    )

    @Flag(help: "Fail on warnings, too.")
    var strict = false

    @Option(help: "The form of the report: text or json.")
    var format = Format.text

    @Flag(help: "Say what the named warnings mean, with examples; without a name, list them.")
    var explain = false

    @Flag(help: "List all warnings.")
    var list = false

    @Argument(help: "Rules files, - for standard input; with --explain, names of warnings.")
    var files: [String] = []

    func validate() throws {
        if files.isEmpty, !explain, !list {
            throw ValidationError("Missing expected argument '<files> ...'")
        }
        if list, !files.isEmpty { throw ValidationError("--list takes no files") }
    }

    func outcome() -> CommandOutcome {
        if list || explain && files.isEmpty { return Self.listing() }
        return explain ? Self.explanation(of: files) : check()
    }

    /// Loads each file, `-` for standard input, and reports every error and warning.
    ///
    /// As text, good files are named on standard output; findings go to standard error, with a summary as the last
    /// line. As JSON, all goes to standard output (see `CheckedFile.json`). Files of cases are left out when their names
    /// say so, so that `*.json` may be given.
    ///
    /// - Returns: exit code 1 when there is an error, or, if strict, a warning; 2 when all are files of cases.
    private func check() -> CommandOutcome {
        let all = self.files.map { CheckedFile($0) }
        let files = all.filter { !$0.isFileOfCases }
        let skipped = all.filter(\.isFileOfCases).map(\.name)
        if files.isEmpty {
            let errors = "error: only files of cases are given; 'hearth rules test' runs them"
            return CommandOutcome(errors: errors, exitCode: 2)
        }
        let errorCount = files.reduce(0) { $0 + $1.errors.count }
        let warningCount = files.reduce(0) { $0 + $1.warnings.count }
        let exitCode: Int32 = errorCount > 0 || strict && warningCount > 0 ? 1 : 0
        switch format {
        case .text:
            var texts = files.flatMap(\.texts)
            if !texts.isEmpty {
                let warnings = Amounts.count(warningCount, "warning")
                texts.append("\(Amounts.count(errorCount, "error")), \(warnings)")
            }
            return CommandOutcome(
                output: all.compactMap(Self.line).joined(separator: "\n"),
                errors: texts.joined(separator: "\n"),
                exitCode: exitCode
            )
        case .json:
            let report: JSONValue = [
                "errors": .number(errorCount), "warnings": .number(warningCount),
                "files": .list(files.map(\.json)),
                "skipped": .list(skipped.map { .string($0) }),
            ]
            let output = String(decoding: report.text, as: UTF8.self)
            return CommandOutcome(output: output, exitCode: exitCode)
        }
    }

    /// The line for a file on standard output; nil for one with errors.
    private static func line(_ file: CheckedFile) -> String? {
        if file.isFileOfCases {
            return "\(file.name): skipped, it holds cases, which 'hearth rules test' runs"
        }
        return file.errors.isEmpty ? "\(file.name): ok" : nil
    }

    /// One line for each lint: its code and its warning.
    private static func listing() -> CommandOutcome {
        let width = Lint.all.map(\.code.rawValue.count).max() ?? 0
        let lines = Lint.all.map { lint in
            let code = lint.code.rawValue
            return code + String(repeating: " ", count: width - code.count + 2) + lint.summary
        }
        return .done(lines.joined(separator: "\n"))
    }

    /// The meaning of warnings with these codes, each with an example of wrong and right.
    ///
    /// - Returns: exit code 2 when a code is unknown.
    private static func explanation(of codes: [String]) -> CommandOutcome {
        var texts: [String] = []
        for code in codes {
            guard let lint = Lint.named(code) else {
                let remedy = "hearth rules check --list names them all"
                let errors = "error: there is no warning '\(code)'; \(remedy)"
                return CommandOutcome(errors: errors, exitCode: 2)
            }
            texts.append(text(of: lint))
        }
        return .done(texts.joined(separator: "\n\n"))
    }

    private static func text(of lint: Lint) -> String {
        """
        \(lint.code.rawValue): \(lint.summary)

        \(wrapped(lint.reason))

        Wrong:

        \(indented(lint.wrong))

        Right:

        \(indented(lint.right))
        """
    }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
    }

    /// A paragraph in lines of at most 100 characters, unless a word is longer.
    private static func wrapped(_ text: String) -> String {
        var lines = [""]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + 1 + word.count <= 100 {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n")
    }
}
