package import Files
import SecurityRules

/// The command on rules files that no server runs on: `hearth rules check`.
package enum RulesCheck {
    /// How findings are told.
    package enum Format: String, Sendable, CaseIterable {
        case text, json
    }

    /// Loads each file, `-` for standard input, and tells every error and warning.
    ///
    /// As text, good files are named on standard output, everything else goes to standard error with a summary as its last line, if there is anything. As
    /// JSON, all goes to standard output (see `CheckedFile.json`). Files of cases are left out when they are named like such,
    /// so that `*.json` may be given.
    ///
    /// - Parameters:
    ///   - paths: the files, in the order in which they are told of.
    ///   - isStrict: whether a warning fails, too.
    ///   - format: how findings are told.
    /// - Returns: exit code 1 when there is an error, or, if strict, a warning; 2 when all are files of cases.
    package static func run(
        _ paths: [String],
        isStrict: Bool = false,
        format: Format = .text
    ) -> CommandOutcome {
        let all = paths.map { CheckedFile($0) }
        let files = all.filter { !$0.isFileOfCases }
        let skipped = all.filter(\.isFileOfCases).map(\.name)
        if files.isEmpty {
            let errors = "error: only files of cases are given; 'hearth rules test' runs them"
            return CommandOutcome(output: "", errors: errors, exitCode: 2)
        }
        let errorCount = files.reduce(0) { $0 + $1.errors.count }
        let warningCount = files.reduce(0) { $0 + $1.warnings.count }
        let exitCode: Int32 = errorCount > 0 || isStrict && warningCount > 0 ? 1 : 0
        switch format {
        case .text:
            var texts = files.flatMap(\.texts)
            if !texts.isEmpty {
                texts.append("\(count(errorCount, "error")), \(count(warningCount, "warning"))")
            }
            return CommandOutcome(
                output: all.compactMap(line).joined(separator: "\n"),
                errors: texts.joined(separator: "\n"),
                exitCode: exitCode
            )
        case .json:
            let list = files.map(\.json).joined(separator: ",")
            let names = skipped.map(CheckedFile.jsonString).joined(separator: ",")
            return CommandOutcome(
                output: "{\"errors\":\(errorCount),\"warnings\":\(warningCount),"
                    + "\"files\":[\(list)],\"skipped\":[\(names)]}",
                errors: "",
                exitCode: exitCode
            )
        }
    }

    /// What is said of a file on standard output; nothing of bad ones.
    private static func line(_ file: CheckedFile) -> String? {
        if file.isFileOfCases {
            return "\(file.name): skipped, it holds cases, which 'hearth rules test' runs"
        }
        return file.errors.isEmpty ? "\(file.name): ok" : nil
    }

    private static func count(_ number: Int, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }

    /// Every lint in a line: its code and what it warns of.
    package static func list() -> CommandOutcome {
        let width = Lint.all.map(\.code.rawValue.count).max() ?? 0
        let lines = Lint.all.map { lint in
            let code = lint.code.rawValue
            return code + String(repeating: " ", count: width - code.count + 2) + lint.summary
        }
        return .done(lines.joined(separator: "\n"))
    }

    /// What warnings of these codes mean, each with an example of wrong and right.
    ///
    /// - Returns: exit code 2 when one is no code.
    package static func explain(_ codes: [String]) -> CommandOutcome {
        var texts: [String] = []
        for code in codes {
            guard let lint = Lint.named(code) else {
                return CommandOutcome(
                    output: "",
                    errors:
                        "error: there is no warning '\(code)'; hearth rules check --list names them all",
                    exitCode: 2
                )
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
